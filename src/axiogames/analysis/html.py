"""HTML from nested calls. Text is escaped, markup is not."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

VOID = {"img", "input", "meta", "source"}


class Markup(str):
    """A string of HTML, which is not escaped again."""

    __slots__ = ()


Content = str | Iterable[str] | None


def tag(name: str, /, *content: Content, **attributes: str | int | None) -> Markup:
    """Return an element as HTML.

    Args:
        name: tag name.
        content: text, markup, iterables of these, or `None` for nothing.
        attributes: `class_` is written as class, `data_ply` as data-ply; `None` omits an attribute.

    >>> tag("p", "a < b", class_="remark")
    '<p class="remark">a &lt; b</p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{''.join(map(_render, content))}</{name}>")


def _render(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return escape(content)
    return "".join(map(_render, content))


def document(
    title: str, style: Markup, content: Content, *, language: str = "en", script: Markup | None = None
) -> str:
    """Return a complete page that needs no other file.

    Args:
        title: title of the page.
        style: CSS.
        content: content of the `main` element.
        language: language code of the page.
        script: JavaScript, run when the page is loaded.
    """
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", style),
    ]
    body = tag("body", tag("main", content), tag("script", script) if script else None)
    return f"<!doctype html>\n{tag('html', tag('head', head), body, lang=language)}\n"
