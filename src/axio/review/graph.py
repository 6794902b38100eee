"""What a game was worth to each seat over its moves, as a picture whose colours are the page's own.

Seats differ by dashes and by the shape of their points as well as by colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from ..drawing.canvas import number
from .game import Review, Summary
from .markup import Markup
from .wording import Wording

WIDTH, HEIGHT = 960.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 16.0, 16.0, 36.0
DASHES = ("", "7 4", "2 4", "10 3 2 3")
COLOURS = ("B", "O", "G", "P")
SHAPES = ("M-4 0A4 4 0 0 1 4 0A4 4 0 0 1-4 0Z", "M-4-4H4V4H-4Z", "M0-5L5 4H-5Z", "M0-5L5 0L0 5L-5 0Z")
ROUGHLY = 6  # lines across


@dataclass(frozen=True, slots=True)
class Plane:
    """Where moves and values lie in the picture; the best is on top."""

    moves: int
    low: float
    high: float

    def x(self, move: float) -> float:
        """How far to the right a number of moves is."""
        return LEFT + (WIDTH - LEFT - RIGHT) * move / max(self.moves, 1)

    def y(self, value: float) -> float:
        """How far down a value is."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - value) / (self.high - self.low)


def plane(review: Review) -> Plane:
    """Room for everything: all values where they are chances or places, else those that occur."""
    if review.terms.kind in ("win", "place"):
        return Plane(len(review.moves), 0.0, 1.0)
    values = [value for seat in review.seats for _, value in seat.line]
    margin = max(0.02, 0.1 * (max(values) - min(values)))
    return Plane(len(review.moves), max(0.0, min(values) - margin), max(values) + margin)


def graph(review: Review, wording: Wording) -> Markup:
    """The picture as SVG."""
    on = plane(review)
    label = wording.say("graph_label", terms=wording.say(f"terms.{review.terms.kind}"))
    parts = [
        f'<svg id="graph" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" aria-label="{escape(label)}">',
        *_grid(on, wording),
        '<rect id="cursor" class="cursor" width="3" height="0" hidden=""/>',
        *(part for number, seat in enumerate(review.seats) for part in _line(on, number, seat)),
        *_turning(on, review),
        *_strips(on),
        "</svg>",
    ]
    return Markup("".join(parts))


def key(seat: int) -> Markup:
    """A seat's line and shape in small, for a legend."""
    return Markup(
        f'<svg class="key" viewBox="0 0 44 14" aria-hidden="true"><path d="M2 7H42" {_pen(seat)}/>'
        f'<path d="{SHAPES[seat]}" transform="translate(22 7)" {_ink(seat)}/></svg>'
    )


def _pen(seat: int) -> str:
    dashes = f' stroke-dasharray="{DASHES[seat]}"' if DASHES[seat] else ""
    return f'class="line" fill="none" stroke="var(--{COLOURS[seat]}-rim)"{dashes}'


def _ink(seat: int) -> str:
    return f'fill="var(--{COLOURS[seat]}-rim)"'


def _grid(on: Plane, wording: Wording) -> Iterator[str]:
    for value in _levels(on, wording):
        y, text = number(on.y(value)), escape(wording.bare(value).removesuffix(".00").removesuffix(",00"))
        yield f'<path class="grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield f'<text class="axis" x="{LEFT - 8}" y="{y}" dy=".35em" text-anchor="end">{text}</text>'
    step = next((step for step in (1, 2, 5, 10, 20) if on.moves / step <= 12), 50)
    for move in range(0, on.moves + 1, step):
        x = number(on.x(move))
        yield f'<text class="axis" x="{x}" y="{HEIGHT - 12}" text-anchor="middle">{move}</text>'


def _levels(on: Plane, wording: Wording) -> list[float]:
    if wording.terms.kind == "win":
        return [0.0, 0.25, 0.5, 0.75, 1.0]
    if wording.terms.kind == "place":
        return [place / wording.terms.full for place in range(round(wording.terms.full) + 1)]
    low, high = wording.terms.told(on.low), wording.terms.told(on.high)
    step = next(step for step in (1, 2, 5, 10, 20, 50) if (high - low) / step <= ROUGHLY)
    return [n / wording.terms.full for n in range(0, int(high) + 1, step) if n >= low]


def _line(on: Plane, number_of_seat: int, seat: Summary) -> Iterator[str]:
    points = [(on.x(move), on.y(value)) for move, value in seat.line]
    path = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    yield f'<path d="M{path}" {_pen(number_of_seat)}><title>{escape(seat.name)}</title></path>'
    for x, y in points[2::2]:
        yield (
            f'<path d="{SHAPES[number_of_seat]}" transform="translate({number(x)} {number(y)}) scale(.8)"'
            f" {_ink(number_of_seat)}/>"
        )


def _turning(on: Plane, review: Review) -> Iterator[str]:
    for turn in review.turning:
        x = number(on.x(min(turn.ply, on.moves)))
        yield f'<path class="turning" d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>'


def _strips(on: Plane) -> Iterator[str]:
    """What a pointer meets: a strip for every move."""
    wide = (WIDTH - LEFT - RIGHT) / max(on.moves, 1)
    size = f'width="{number(wide)}" height="{HEIGHT - TOP - BOTTOM:.0f}"'
    for ply in range(1, on.moves + 1):
        x = number(on.x(ply) - wide / 2)
        yield f'<rect class="strip" data-ply="{ply}" x="{x}" y="{TOP:.0f}" {size}/>'
