"""Figures for the rules pages as SVG: annotated boards, hands, and compared results.

They contain no words, so that they are the same in every language.
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
"""Maximum number of pixels per unit, for small boards."""

MARGIN = 14.0
LABEL = 10.0
"""Space around the centre of a label."""

LEGEND = 46.0
COLUMN, ROW = 66.0, 56.0
"""Width of one colour of a result, and height of one result."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """A symbol that scores, and the highlighted outline around it."""

    symbol: Symbol
    outline: Outline


@dataclass(frozen=True, slots=True)
class Count:
    """A line of symbols that score together: its start, and the symbols on it."""

    start: Point
    highlights: tuple[Highlight, ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """Annotations of a board: lines that score, points gained, and outlines of illegal placements.

    `named` are symbols that a player names, `covered` the centres of stars below the new tile.
    """

    counts: tuple[Count, ...] = ()
    gain: Mapping[str, int] = field(default_factory=dict)
    refused: tuple[Outline, ...] = ()
    named: tuple[Symbol, ...] = ()
    covered: tuple[Point, ...] = ()


def board(scene: Scene, notes: Notes, *, dark: bool = False) -> str:
    """Return an annotated board, or a cropped part of it."""
    canvas = Canvas(_theme(dark))
    scale = min(UNIT, BOARD / max(scene.size))
    width, height = scene.size[0] * scale, scene.size[1] * scale
    left, top, right, bottom = _margins(scene, scale)
    size = left + width + right, top + height + bottom + (LEGEND if notes.gain else 0.0)
    _page(canvas, size)
    # The nested SVG element clips what is outside the cropped part.
    inside = " ".join(
        f'{name}="{number(value)}"'
        for name, value in zip(("x", "y", "width", "height"), (left, top, width, height), strict=True)
    )
    canvas.add(f"<svg {inside}>")
    _AnnotatedPicture(canvas, replace(scene, labels=()), (0.0, 0.0), scale).annotate(notes)
    canvas.add("</svg>")
    labels = Scene("", scene.corner, scene.size, scene.grid, labels=scene.labels)
    Picture(canvas, labels, (left, top), scale).render()
    if notes.gain:
        _render_legend(canvas, notes, (size[0] / 2, size[1] - 26.0))
    return canvas.document(scene.title, size)


def hand(scene: Scene, *, dark: bool = False) -> str:
    """Return the cards of the seats of a scene, without its board."""
    canvas = Canvas(_theme(dark))
    layout = cards.lay_out(scene, room=0.0, beside=False)
    size = layout.size[0] + 2 * MARGIN, layout.size[1] + 2 * MARGIN
    _page(canvas, size)
    cards.render(canvas, layout, (MARGIN, MARGIN), _render_hand)
    return canvas.document(scene.title, size)


def results(title: str, rows: Sequence[Mapping[str, int]], *, dark: bool = False) -> str:
    """Return results, best first: scores in ascending order, with a frame around the deciding ones."""
    canvas = Canvas(_theme(dark))
    theme, columns = canvas.theme, len(rows[0])
    ordered = [sorted(row.items(), key=lambda item: item[1]) for row in rows]
    deciding = next((at for at in range(columns) if len({row[at][1] for row in ordered}) > 1), columns)
    head = 44.0
    size = 2 * MARGIN + head + COLUMN * columns, 2 * MARGIN + ROW * len(rows)
    _page(canvas, size)
    if deciding < columns:
        canvas.add(
            f'<rect x="{number(MARGIN + head + COLUMN * deciding + 3)}" y="{number(MARGIN - 3)}"'
            f' width="{number(COLUMN - 6)}" height="{number(ROW * len(rows) + 6)}" rx="12"'
            f' fill="{theme.card}" stroke="{theme.accent}" stroke-width="2.5"/>'
        )
    for rank, row in enumerate(ordered, 1):
        middle = MARGIN + ROW * (rank - 0.5)
        fill, ink = (theme.accent, theme.card) if rank == 1 else (theme.hole, theme.ink)
        canvas.add(f'<circle cx="{number(MARGIN + 18)}" cy="{number(middle)}" r="14" fill="{fill}"/>')
        canvas.lettered(str(rank), (MARGIN + 18.0, middle), 12.0, colour=ink, pen=1.0)
        for at, (letter, points) in enumerate(row):
            # Scores after the deciding ones have no effect.
            canvas.add(f'<g opacity="{".4" if at > deciding else "1"}">')
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


def _render_hand(canvas: Canvas, scene: Scene, corner: Point, scale: float, *, back: bool = False) -> None:
    Picture(canvas, scene, corner, scale).tiles(back=back)


def _margins(scene: Scene, scale: float) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom margins, which include labels outside the scene."""
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


def _render_legend(canvas: Canvas, notes: Notes, middle: Point) -> None:
    """Render the points gained: by symbol, or for points without colours as a product."""
    tall, symbol, gap = 15.0, 33.0, 26.0
    counted = sum(len(count.highlights) for count in notes.counts)
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


class _AnnotatedPicture(Picture):
    """Renders a scene with annotations."""

    def annotate(self, notes: Notes) -> None:
        """Render the scene and the annotations above it."""
        self.render()
        for symbol in notes.named:
            self.canvas.add('<g opacity=".5">', *self._symbols((symbol,)), "</g>")
        for count in notes.counts:
            self._count(count)
        for centre in notes.covered:
            self._star_badge(centre)
        for outline in notes.refused:
            self._refused(outline)

    def _count(self, count: Count) -> None:
        """Highlight symbols in their colour, with a line through them from its start."""
        paint = self.theme.paints[count.highlights[0].symbol.letter]
        end = count.highlights[-1].symbol.at
        self.canvas.add(self._count_line(_beyond(count.start, end, 0.4), end, paint.rim))
        for highlight in count.highlights:
            around = path(self._outline_pixels(highlight.outline), 0.17 * self.scale)
            pen = number(0.06 * self.scale)
            self.canvas.add(
                f'<path d="{around}" fill="{paint.tint}" stroke="{paint.rim}" stroke-width="{pen}"/>',
                *self._symbols((highlight.symbol,)),
            )

    def _count_line(self, start: Point, end: Point, colour: str) -> str:
        line = f"M{self._coordinates(start)}L{self._coordinates(end)}"
        return (
            f'<path d="{line}" stroke="{self.theme.glow}" stroke-width="{number(0.2 * self.scale)}"/>'
            f'<path d="{line}" stroke="{colour}" stroke-width="{number(0.11 * self.scale)}"/>'
        )

    def _star_badge(self, centre: Point) -> None:
        """Render a badge on the corner of a tile that covers a star."""
        x, y = self._to_pixels((centre[0] + 0.34, centre[1] - 0.34))
        spark = f' d="{SPARK}" transform="scale({number(0.0044 * self.scale, 3)})" fill="{self.theme.spark}"'
        name = self.canvas.define("path", spark, "")
        self.canvas.add(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(0.25 * self.scale)}"'
            f' fill="{self.theme.star}" stroke="{self.theme.accent}" stroke-width="1.5"/>'
            f'<use href="#{name}" x="{number(x)}" y="{number(y)}"/>'
        )

    def _refused(self, outline: Outline) -> None:
        """Render a faded tile under a cross."""
        pale = path(self._outline_pixels(outline), 0.17 * self.scale)
        self.canvas.add(f'<path d="{pale}" fill="{self.theme.page}" opacity=".55"/>')
        xs, ys = zip(*outline, strict=True)
        x, y = self._to_pixels(((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2))
        arm = 0.34 * self.scale
        cross = f"M{number(x - arm)} {number(y - arm)}l{number(2 * arm)} {number(2 * arm)}"
        cross += f"m0 {number(-2 * arm)}l{number(-2 * arm)} {number(2 * arm)}"
        for colour, width in ((self.theme.glow, 0.26), (self.theme.accent, 0.13)):
            pen = number(width * self.scale)
            self.canvas.add(f'<path d="{cross}" fill="none" stroke="{colour}" stroke-width="{pen}"/>')


def _beyond(start: Point, end: Point, by: float) -> Point:
    """Return the point at distance `by` from `start` towards `end`."""
    share = by / math.dist(start, end)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
