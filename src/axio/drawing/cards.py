"""The panels of the seats in an SVG picture: name, points on their tracks, and the hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from axio.drawing.canvas import Canvas, number
from axio.drawing.scene import Point, Scene, Seat, Track
from axio.drawing.theme import Paint

WIDTH = 300.0
GAP = 12.0
PAD = 16.0
HEAD = 40.0
FOOT = 12.0
ROWS = 18.0, 28.0
"""Least and most height of a track."""

HAND = 44.0, 24.0
"""Most height of a hand, and most pixels to a unit of its tiles."""

BACK = 15.0
"""Height of the tiles that others hold."""

CAPTION = 17.0
STOCK = 30.0


class DrawTile(Protocol):
    """Draws the tiles of a small scene, or their backs, with its corner at a point."""

    def __call__(
        self, canvas: Canvas, scene: Scene, corner: Point, scale: float, *, back: bool = False
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Deck:
    """The cards and where they lie."""

    scene: Scene
    corners: tuple[Point, ...]
    sizes: tuple[Point, ...]
    row: float
    size: Point


def deck(scene: Scene, *, room: float, beside: bool) -> Deck:
    """Lay the cards out: in one column of height `room`, or in rows of width `room`."""
    seats = scene.seats
    stock = STOCK if scene.unseen else 0.0
    if beside:
        bare = sum(_height(seat, 0.0) + GAP for seat in seats) - GAP + stock
        row = min(ROWS[1], max(ROWS[0], (room - bare) / sum(len(seat.tracks) or 1 for seat in seats)))
        sizes = tuple((WIDTH, _height(seat, row)) for seat in seats)
        corners, top = [], 0.0
        for _, height in sizes:
            corners.append((0.0, top))
            top += height + GAP
        return Deck(scene, tuple(corners), sizes, row, (WIDTH, top - GAP + stock))
    row = sum(ROWS) / 2
    across = max(1, min(len(seats), int((room + GAP) / (WIDTH + GAP))))
    width = max(WIDTH, min(1.5 * WIDTH, (room + GAP) / across - GAP))
    height = max(_height(seat, row) for seat in seats)
    places = [divmod(index, across) for index in range(len(seats))]
    return Deck(
        scene,
        tuple(((width + GAP) * column, (height + GAP) * line) for line, column in places),
        ((width, height),) * len(seats),
        row,
        (across * (width + GAP) - GAP, (places[-1][0] + 1) * (height + GAP) - GAP + stock),
    )


def _height(seat: Seat, row: float) -> float:
    hand = _hand_unit(seat, WIDTH - 2 * PAD) * _tallest(seat) + CAPTION if seat.hand else 0.0
    return HEAD + row * len(seat.tracks) + hand + FOOT


def _tallest(seat: Seat) -> float:
    return max(scene.size[1] for scene in seat.hand)


def _hand_unit(seat: Seat, room: float) -> float:
    """Pixels to a unit, so that the hand fits into a row."""
    wide = sum(scene.size[0] for scene in seat.hand)
    return min(HAND[1], HAND[0] / _tallest(seat), (room - 6.0 * (len(seat.hand) - 1)) / wide)


def draw(canvas: Canvas, deck: Deck, corner: Point, draw_tile: DrawTile) -> None:
    """Draw all cards, and below them how many tiles nobody has seen."""
    best = max((track.points for seat in deck.scene.seats for track in seat.tracks), default=0)
    for seat, at, size in zip(deck.scene.seats, deck.corners, deck.sizes, strict=True):
        _card(canvas, seat, (corner[0] + at[0], corner[1] + at[1]), size, deck.row, best, draw_tile)
    back = next((seat.back for seat in deck.scene.seats if seat.back), None)
    if deck.scene.unseen and back:
        end, middle = corner[0] + deck.size[0] - PAD, corner[1] + deck.size[1] - 10.0
        _backs(canvas, back, 3, deck.scene.unseen, (end, middle), draw_tile)


def _card(
    canvas: Canvas, seat: Seat, corner: Point, size: Point, row: float, best: int, draw_tile: DrawTile
) -> None:
    theme = canvas.theme
    (x, y), (width, height) = corner, size
    edge, pen = (theme.accent, 2) if seat.to_move else (theme.card_edge, 1)
    canvas.add(
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" rx="12"'
        f' fill="{theme.card}" stroke="{edge}" stroke-width="{pen}"/>'
    )
    start, end, line = x + PAD, x + width - PAD, y + 22.0
    if seat.to_move:
        turn = f"M{number(start)} {number(line - 6)}l9 6l-9 6Z"
        canvas.add(f'<path d="{turn}" fill="{theme.accent}" stroke="{theme.accent}"/>')
        start += 18.0
    if seat.place is not None:
        fill, ink = (theme.accent, theme.card) if seat.place == 1 else (theme.hole, theme.ink)
        canvas.add(f'<circle cx="{number(end - 10)}" cy="{number(line)}" r="11" fill="{fill}"/>')
        canvas.lettered(str(seat.place), (end - 10.0, line), 10.0, colour=ink, pen=1.0)
        end -= 30.0
    if seat.hidden and seat.back:
        end = _backs(canvas, seat.back, min(seat.hidden, 12), seat.hidden, (end, line), draw_tile)
    canvas.text(seat.name, (start, line + 5.0), 15.0, colour=theme.ink, room=end - start, bold=seat.to_move)
    top, lowest = y + HEAD, seat.lowest()
    for track in seat.tracks:
        cap = track.cap or max(best, 1)
        _track(canvas, track, cap, (x, top), (width, row), low=track.points == lowest)
        top += row
    if seat.hand:
        _hand(canvas, seat, (x + PAD, top + 6.0), width - 2 * PAD, draw_tile)


def _track(canvas: Canvas, track: Track, cap: int, corner: Point, size: Point, *, low: bool) -> None:
    """A rail with a hole for every point; the symbol stands where the points are."""
    theme = canvas.theme
    paint = theme.paints.get(track.colour, Paint(theme.muted, theme.muted, theme.hole))
    (x, y), (width, row) = corner, size
    middle, end = y + row / 2, x + width - PAD
    if low:
        canvas.add(
            f'<rect x="{number(x + 7)}" y="{number(y + 0.5)}" width="{number(width - 14)}"'
            f' height="{number(row - 1)}" rx="{number(row / 2 - 0.5)}" fill="{paint.tint}"/>'
        )
    start, stop = x + PAD + 8.0, end - 40.0
    step = (stop - start) / cap
    at = start + step * min(track.points, cap)
    rail = f"M{number(start)} {number(middle)}H"
    # Dashes of no length with round ends: a row of dots. Where points have no cap there is no last hole.
    holes = f' stroke-dasharray="0 {number(step, 3)}"' if track.cap else ' stroke-opacity=".5"'
    canvas.add(
        f'<path d="{rail}{number(stop + 0.5)}" stroke="{theme.pale if low else theme.hole}"'
        f' stroke-width="2.6"{holes}/><path d="{rail}{number(at)}" stroke="{paint.fill}" stroke-width="3.4"/>'
    )
    symbol = min(row - 2.0, 18.0)
    drawn = canvas.symbol(track.colour, (at, middle), symbol)
    if drawn:
        # A halo keeps the rail away from the symbol, and out of its hole where it has one.
        halo = paint.tint if low else theme.card
        canvas.add(
            f'<circle cx="{number(at)}" cy="{number(middle)}" r="{number(symbol / 2)}" fill="{halo}"/>'
        )
        canvas.add(drawn)
    strong = low or not drawn
    canvas.lettered(
        str(track.points),
        (end, middle),
        (12.0 if strong else 11.0) if drawn else 15.0,
        anchor=1.0,
        colour=theme.ink if strong else theme.muted,
        pen=1.15 if strong else 0.85,
    )


def _hand(canvas: Canvas, seat: Seat, corner: Point, room: float, draw_tile: DrawTile) -> None:
    """The tiles, each with the letters a person would type."""
    unit, tall = _hand_unit(seat, room), _tallest(seat)
    x, y = corner
    for scene in seat.hand:
        wide = scene.size[0] * unit
        draw_tile(canvas, scene, (x, y), unit)
        below = x + wide / 2, y + tall * unit + 9.0
        canvas.lettered(scene.title, below, 7.5, colour=canvas.theme.muted, pen=0.95)
        x += wide + 6.0


def _backs(canvas: Canvas, back: Scene, shown: int, count: int, end: Point, draw_tile: DrawTile) -> float:
    """Tiles face down and their number, up to a point; returns where they begin."""
    text = str(count)
    canvas.lettered(text, end, 10.0, anchor=1.0, colour=canvas.theme.muted)
    unit = min(BACK / back.size[1], 2 * BACK / back.size[0])
    wide, tall = back.size[0] * unit, back.size[1] * unit
    step = min(7.0, 40.0 / max(shown, 1))
    start = end[0] - 9.0 * len(text) - 6.0 - wide - step * (shown - 1)
    for index in range(shown):
        draw_tile(canvas, back, (start + step * index, end[1] - tall / 2), unit, back=True)
    return start - 8.0
