"""HTML from nested calls: text is escaped, markup is kept as it is."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

VOID = {"input", "meta"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Content = str | Iterable[str] | None


def tag(name: str, /, *content: Content, **attributes: str | int | None) -> Markup:
    """An element. Attributes are written `class_` for class, `data_ply` for data-ply; `None` leaves one out.

    >>> tag("p", "a < b", class_="said")
    '<p class="said">a &lt; b</p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{''.join(map(_inside, content))}</{name}>")


def _inside(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return escape(content, quote=False)
    return "".join(map(_inside, content))
