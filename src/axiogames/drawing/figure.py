"""Pictures that explain a rule, as SVG: a board with what scores on it, a hand, results one below the other.

They have no words in them, so that they are the same in every language.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from . import cards, symbols
from .canvas import Canvas, number, path
from .scene import Outline, Point, Scene, Symbol
from .svg import Picture
from .symbols import SPARK, SYMBOLS
from .theme import DARK, LIGHT, Theme

BOARD = 460.0
"""The longer side of a board, in pixels of the picture."""

UNIT = 52.0
"""A unit is never drawn larger, however small the board."""

MARGIN = 14.0
LABEL = 10.0
"""Room around the middle of a label."""

LEGEND = 46.0
COLUMN, ROW = 66.0, 56.0
"""Room for one colour of a result, and for one result."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A symbol that scores, and the shape around it that is lit."""

    symbol: Symbol
    outline: Outline


@dataclass(frozen=True, slots=True)
class Count:
    """Symbols that score together: where they are looked at from, and each of them on the way."""

    start: Point
    lit: tuple[Highlight, ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """What is pointed out on a board: what scores, what it brings, tiles that may not lie there.

    `named` are symbols that a player only says, `covered` the middles of stars below the new tile.
    """

    counts: tuple[Count, ...] = ()
    gain: Mapping[str, int] = field(default_factory=dict)
    refused: tuple[Outline, ...] = ()
    named: tuple[Symbol, ...] = ()
    covered: tuple[Point, ...] = ()


def board(scene: Scene, notes: Notes, *, dark: bool = False) -> str:
    """A board, or the part of it that `crop` has left, and what is pointed out on it."""
    canvas = Canvas(_theme(dark))
    scale = min(UNIT, BOARD / max(scene.size))
    width, height = scene.size[0] * scale, scene.size[1] * scale
    left, top, right, bottom = _around(scene, scale)
    size = left + width + right, top + height + bottom + (LEGEND if notes.gain else 0.0)
    _page(canvas, size)
    # A picture inside the picture: it cuts off what does not belong to the part.
    inside = " ".join(
        f'{name}="{number(value)}"'
        for name, value in zip(("x", "y", "width", "height"), (left, top, width, height), strict=True)
    )
    canvas.add(f"<svg {inside}>")
    _Explained(canvas, replace(scene, labels=()), (0.0, 0.0), scale).explain(notes)
    canvas.add("</svg>")
    labels = Scene("", scene.corner, scene.size, scene.grid, labels=scene.labels)
    Picture(canvas, labels, (left, top), scale).draw()
    if notes.gain:
        _legend(canvas, notes, (size[0] / 2, size[1] - 26.0))
    return canvas.document(scene.title, size)


def hand(scene: Scene, *, dark: bool = False) -> str:
    """The cards of the seats of a scene, without its board."""
    canvas = Canvas(_theme(dark))
    deck = cards.deck(scene, room=0.0, beside=False)
    size = deck.size[0] + 2 * MARGIN, deck.size[1] + 2 * MARGIN
    _page(canvas, size)
    cards.draw(canvas, deck, (MARGIN, MARGIN), _tile)
    return canvas.document(scene.title, size)


def results(title: str, rows: Sequence[Mapping[str, int]], *, dark: bool = False) -> str:
    """Results, the best first: points from the lowest up, and around those that decide a frame."""
    canvas = Canvas(_theme(dark))
    theme, columns = canvas.theme, len(rows[0])
    ordered = [sorted(row.items(), key=lambda item: item[1]) for row in rows]
    decides = next((at for at in range(columns) if len({row[at][1] for row in ordered}) > 1), columns)
    head = 44.0
    size = 2 * MARGIN + head + COLUMN * columns, 2 * MARGIN + ROW * len(rows)
    _page(canvas, size)
    if decides < columns:
        canvas.add(
            f'<rect x="{number(MARGIN + head + COLUMN * decides + 3)}" y="{number(MARGIN - 3)}"'
            f' width="{number(COLUMN - 6)}" height="{number(ROW * len(rows) + 6)}" rx="12"'
            f' fill="{theme.card}" stroke="{theme.accent}" stroke-width="2.5"/>'
        )
    for place, row in enumerate(ordered, 1):
        middle = MARGIN + ROW * (place - 0.5)
        fill, ink = (theme.accent, theme.card) if place == 1 else (theme.hole, theme.ink)
        canvas.add(f'<circle cx="{number(MARGIN + 18)}" cy="{number(middle)}" r="14" fill="{fill}"/>')
        canvas.lettered(str(place), (MARGIN + 18.0, middle), 12.0, colour=ink, pen=1.0)
        for at, (letter, points) in enumerate(row):
            # What comes after the points that decide does not matter any more.
            canvas.add(f'<g opacity="{".4" if at > decides else "1"}">')
            x = MARGIN + head + COLUMN * at
            canvas.add(canvas.symbol(letter, (x + 20.0, middle), 24.0))
            canvas.lettered(str(points), (x + 37.0, middle), 14.0, colour=theme.ink, anchor=0.0, pen=1.0)
            canvas.add("</g>")
    return canvas.document(title, size)


def _theme(dark: bool) -> Theme:
    return DARK if dark else LIGHT


def _page(canvas: Canvas, size: Point) -> None:
    width, height = number(size[0]), number(size[1])
    canvas.add(f'<rect width="{width}" height="{height}" rx="14" fill="{canvas.theme.page}"/>')


def _tile(canvas: Canvas, scene: Scene, corner: Point, scale: float, *, back: bool = False) -> None:
    Picture(canvas, scene, corner, scale).tiles(back=back)


def _around(scene: Scene, scale: float) -> tuple[float, float, float, float]:
    """The margins on the left, above, on the right and below: wider where labels stand outside."""
    (left, top), (width, height) = scene.corner, scene.size
    points = [label.at for label in scene.labels]
    beyond = (
        [left - x for x, _ in points],
        [top - y for _, y in points],
        [x - left - width for x, _ in points],
        [y - top - height for _, y in points],
    )
    wide, high, right, low = (
        max([MARGIN, *(by * scale + LABEL for by in side if by > 0)]) for side in beyond
    )
    return wide, high, right, low


def _legend(canvas: Canvas, notes: Notes, middle: Point) -> None:
    """What was scored: symbols with their points; where points have no colour, how they come about."""
    tall, symbol, gap = 15.0, 33.0, 26.0
    counted = sum(len(count.lit) for count in notes.counts)
    parts = []
    for track, points in notes.gain.items():
        doubled = track not in SYMBOLS and points > counted
        text = f"{counted}\N{MULTIPLICATION SIGN}{points // counted} = {points}" if doubled else f"+{points}"
        before = symbol if track in SYMBOLS else 0.0
        parts.append((track, text, before, symbols.width(text) * tall / symbols.CAPITAL))
    x = middle[0] - sum(before + wide + gap for _, _, before, wide in parts) / 2 + gap / 2
    for track, text, before, wide in parts:
        canvas.add(canvas.symbol(track, (x + 13.0, middle[1]), 26.0))
        canvas.lettered(text, (x + before, middle[1]), tall, colour=canvas.theme.ink, anchor=0.0, pen=1.1)
        x += before + wide + gap


class _Explained(Picture):
    """A scene on which something is pointed out."""

    def explain(self, notes: Notes) -> None:
        """The scene, and the notes above it."""
        self.draw()
        for symbol in notes.named:
            self.canvas.add('<g opacity=".5">', *self._symbols((symbol,)), "</g>")
        for count in notes.counts:
            self._count(count)
        for centre in notes.covered:
            self._star(centre)
        for outline in notes.refused:
            self._refused(outline)

    def _count(self, count: Count) -> None:
        """The symbols lit in their colour, and a line that runs through them from where it starts."""
        paint = self.theme.paints[count.lit[0].symbol.letter]
        end = count.lit[-1].symbol.at
        self.canvas.add(self._line(_beyond(count.start, end, 0.4), end, paint.rim))
        for lit in count.lit:
            around = path(self._all(lit.outline), 0.17 * self.scale)
            pen = number(0.06 * self.scale)
            self.canvas.add(
                f'<path d="{around}" fill="{paint.tint}" stroke="{paint.rim}" stroke-width="{pen}"/>',
                *self._symbols((lit.symbol,)),
            )

    def _line(self, start: Point, end: Point, colour: str) -> str:
        line = f"M{self._text(start)}L{self._text(end)}"
        return (
            f'<path d="{line}" stroke="{self.theme.glow}" stroke-width="{number(0.2 * self.scale)}"/>'
            f'<path d="{line}" stroke="{colour}" stroke-width="{number(0.11 * self.scale)}"/>'
        )

    def _star(self, centre: Point) -> None:
        """A star that a tile hides, as a small seal on its corner."""
        x, y = self._at((centre[0] + 0.34, centre[1] - 0.34))
        spark = f' d="{SPARK}" transform="scale({number(0.0044 * self.scale, 3)})" fill="{self.theme.spark}"'
        name = self.canvas.define("path", spark, "")
        self.canvas.add(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(0.25 * self.scale)}"'
            f' fill="{self.theme.star}" stroke="{self.theme.accent}" stroke-width="1.5"/>'
            f'<use href="#{name}" x="{number(x)}" y="{number(y)}"/>'
        )

    def _refused(self, outline: Outline) -> None:
        """A tile that pales under a cross."""
        pale = path(self._all(outline), 0.17 * self.scale)
        self.canvas.add(f'<path d="{pale}" fill="{self.theme.page}" opacity=".55"/>')
        xs, ys = zip(*outline, strict=True)
        x, y = self._at(((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2))
        arm = 0.34 * self.scale
        cross = f"M{number(x - arm)} {number(y - arm)}l{number(2 * arm)} {number(2 * arm)}"
        cross += f"m0 {number(-2 * arm)}l{number(-2 * arm)} {number(2 * arm)}"
        for colour, width in ((self.theme.glow, 0.26), (self.theme.accent, 0.13)):
            pen = number(width * self.scale)
            self.canvas.add(f'<path d="{cross}" fill="none" stroke="{colour}" stroke-width="{pen}"/>')


def _beyond(start: Point, end: Point, by: float) -> Point:
    """The point so far from the start on the way to the end."""
    share = by / math.dist(start, end)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
