"""HTML generation by nested calls. Text is escaped; markup is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

VOID = {"img", "input", "meta", "source"}


class Markup(str):
    """An HTML string that must not be escaped again."""

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
    """Return a complete, self-contained page.

    Args:
        title: title of the page.
        style: CSS.
        content: content of the `main` element.
        language: language code of the page.
        script: JavaScript that runs when the page has loaded.
    """
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", style),
    ]
    body = tag("body", tag("main", content), tag("script", script) if script else None)
    return f"<!doctype html>\n{tag('html', tag('head', head), body, lang=language)}\n"


def colour_schemes(
    light: Mapping[str, str], dark: Mapping[str, str], *, dark_media: str = "(prefers-color-scheme:dark)"
) -> str:
    """Return CSS that defines custom properties for a light and a dark colour scheme.

    Args:
        light: values by name, for the light scheme.
        dark: values by name, for the dark scheme.
        dark_media: media query of the dark scheme.
    """
    light_css, dark_css = (
        "".join(f"--{name}:{value};" for name, value in scheme.items()) for scheme in (light, dark)
    )
    return f":root{{color-scheme:light dark;{light_css}}}\n@media {dark_media}{{:root{{{dark_css}}}}}"
