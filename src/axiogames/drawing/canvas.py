"""The SVG document builder: numbers, paths, shared definitions, symbols and text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from html import escape
from zlib import crc32

from . import symbols
from .scene import Outline, Point
from .symbols import SYMBOLS
from .theme import Theme

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif"

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def number(value: float, decimals: int = 1) -> str:
    """Format a number with at most `decimals` decimals, identically on all machines.

    The epsilon added before rounding breaks ties, which would otherwise depend on the last bit of the float.
    """
    unit = 10**decimals
    parts = math.floor(value * unit + 0.5 + 1e-6)
    whole, rest = divmod(abs(parts), unit)
    text = f"{whole}.{rest:0{decimals}d}".rstrip("0") if rest else str(whole)
    return f"-{text}" if parts < 0 else text


def plain(text: str) -> str:
    """Escape text for XML and drop the characters that XML forbids."""
    return escape(_NOT_XML.sub("", text), quote=False)


def path(outline: Outline, rounding: float = 0.0, corners: int | None = None) -> str:
    """Return the path data of a closed polygon, whose first `corners` corners (default: all) are rounded."""
    rounded = (len(outline) if corners is None else corners) if rounding else 0
    parts = []
    for index, corner in enumerate(outline):
        if index >= rounded:
            parts.append(f"{number(corner[0])} {number(corner[1])}")
            continue
        before, after = outline[index - 1], outline[(index + 1) % len(outline)]
        (ax, ay), (bx, by) = _towards(corner, before, rounding), _towards(corner, after, rounding)
        bend = " ".join(number(value) for value in (*corner, bx, by))
        parts.append(f"{number(ax)} {number(ay)}Q{bend}")
    return "M" + "L".join(parts) + "Z"


def _towards(start: Point, end: Point, distance: float) -> Point:
    length = math.dist(start, end)
    share = min(distance / length, 0.5) if length else 0.0
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


class Canvas:
    """An SVG document under construction. Repeated elements are defined once.

    Definitions are named by a hash of their content, so that several pictures on one page cannot conflict:
    equal names mean equal content.
    """

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._defined: dict[str, str] = {}
        self._body: list[str] = []

    def add(self, *elements: str) -> None:
        """Append elements."""
        self._body.extend(elements)

    def define(self, kind: str, attributes: str, content: str) -> str:
        """Define an element, unless it is defined already, and return its id."""
        name = f"{kind[0]}{crc32(f'{kind} {attributes} {content}'.encode()):08x}"
        end = f">{content}</{kind}>" if content else "/>"
        self._defined[name] = f'<{kind} id="{name}"{attributes}{end}'
        return name

    def symbol(self, letter: str, at: Point, size: float) -> str:
        """Return a symbol centred at a point, or "" for a letter without one."""
        art = SYMBOLS.get(letter)
        if art is None:
            return ""
        paint = self.theme.paints[letter]
        look = f' fill="{paint.fill}" stroke="{paint.rim}" stroke-width="4"'
        name = self.define("path", f' d="{art.path}" transform="scale({number(size / 100, 3)})"{look}', "")
        return f'<use data-symbol="{letter}" href="#{name}" x="{number(at[0])}" y="{number(at[1])}"/>'

    def lettered(
        self, text: str, at: Point, height: float, *, colour: str, anchor: float = 0.5, pen: float = 0.85
    ) -> None:
        """Add text in our own stroked glyphs, vertically centred at `at`.

        `anchor` 0, 0.5 or 1 aligns the start, middle or end with `at`. `pen` is the stroke width in sixths of
        `height`.
        """
        scale = height / symbols.CAPITAL
        start = at[0] - anchor * symbols.width(text) * scale, at[1] + height / 2
        along, uses = 0.0, []
        for character in text:
            if character in symbols.GLYPHS:
                advance, line = symbols.GLYPHS[character]
                if line:
                    name = self.define("path", f' d="{line}"', "")
                    shift = f' x="{number(along)}"' if along else ""
                    uses.append(f'<use href="#{name}"{shift}/>')
                along += advance + symbols.GAP
        moved = f"translate({number(start[0])} {number(start[1])})scale({number(scale, 3)})"
        self.add(
            joined(uses, f'transform="{moved}" fill="none" stroke="{colour}" stroke-width="{number(pen, 2)}"')
        )

    def text(
        self, text: str, at: Point, height: float, *, colour: str, room: float, bold: bool = False
    ) -> None:
        """Add text in a system font with its baseline starting at `at`, truncated or squeezed to `room`."""
        # The font is unknown: assume an average character width of 0.56 times the height.
        limit = int(room / height / 0.5)
        shown = text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
        attributes = f'x="{number(at[0])}" y="{number(at[1])}" font-size="{number(height)}" fill="{colour}"'
        if bold:
            attributes += ' font-weight="600"'
        if len(shown) * height * 0.56 > room:
            attributes += f' textLength="{number(room)}" lengthAdjust="spacingAndGlyphs"'
        self.add(f"<text {attributes}>{plain(shown)}</text>")

    def document(self, title: str, size: Point) -> str:
        """Return the SVG document."""
        width, height = number(size[0]), number(size[1])
        defined = "".join(self._defined.values())
        return "".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
                f' width="{width}" height="{height}" role="img" font-family="{FONT}"',
                ' stroke-linecap="round" stroke-linejoin="round">',
                f"<title>{plain(title)}</title>",
                f"<defs>{defined}</defs>" if defined else "",
                *self._body,
                "</svg>\n",
            )
        )


def joined(elements: Iterable[str], attributes: str) -> str:
    """Return a group of elements, or "" if there are none."""
    content = "".join(elements)
    return f"<g {attributes}>{content}</g>" if content else ""
