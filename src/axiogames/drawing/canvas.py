"""The SVG document being written: numbers, paths, shared definitions, symbols and text."""

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
    """A number with a few decimals at most, written the same on every machine.

    The hair added before rounding settles ties, which the last bit of a float would decide otherwise.
    """
    unit = 10**decimals
    parts = math.floor(value * unit + 0.5 + 1e-6)
    whole, rest = divmod(abs(parts), unit)
    text = f"{whole}.{rest:0{decimals}d}".rstrip("0") if rest else str(whole)
    return f"-{text}" if parts < 0 else text


def plain(text: str) -> str:
    """Text fit for XML: markup escaped, characters that XML forbids left out."""
    return escape(_NOT_XML.sub("", text), quote=False)


def path(outline: Outline, rounding: float = 0.0, corners: int | None = None) -> str:
    """The path of a closed polygon; its corners, or only the first ones, are cut by `rounding` and bent."""
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
    """Collects elements; what is drawn often is defined once.

    Names of definitions come from their content, so that several pictures on one page can never take
    each other's: equal names mean equal content.
    """

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._defined: dict[str, str] = {}
        self._body: list[str] = []

    def add(self, *elements: str) -> None:
        """Append elements as they are."""
        self._body.extend(elements)

    def define(self, kind: str, attributes: str, content: str) -> str:
        """Define an element once and return its name."""
        name = f"{kind[0]}{crc32(f'{kind} {attributes} {content}'.encode()):08x}"
        end = f">{content}</{kind}>" if content else "/>"
        self._defined[name] = f'<{kind} id="{name}"{attributes}{end}'
        return name

    def symbol(self, letter: str, at: Point, size: float) -> str:
        """A symbol around a point; nothing for a letter that has none."""
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
        """Our own letters, their middle line through `at`; `anchor` 0, 0.5 or 1: from, around or up to it.

        `pen` is the width of the strokes, in sixths of the height.
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
        """Text on a baseline from `at` on, in whatever font the reader has, cut or squeezed into `room`."""
        # No font is measured here: an average character is taken to be 0.56 of the height wide.
        most = int(room / height / 0.5)
        shown = text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
        attributes = f'x="{number(at[0])}" y="{number(at[1])}" font-size="{number(height)}" fill="{colour}"'
        if bold:
            attributes += ' font-weight="600"'
        if len(shown) * height * 0.56 > room:
            attributes += f' textLength="{number(room)}" lengthAdjust="spacingAndGlyphs"'
        self.add(f"<text {attributes}>{plain(shown)}</text>")

    def document(self, title: str, size: Point) -> str:
        """The whole picture."""
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
    """A group, or nothing when there is nothing in it."""
    content = "".join(elements)
    return f"<g {attributes}>{content}</g>" if content else ""
