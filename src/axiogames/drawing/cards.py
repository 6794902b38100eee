"""The cards of the seats in an SVG picture: name, points on tracks, and hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from . import symbols
from .canvas import Canvas, number
from .scene import Point, Scene, Seat, Track
from .symbols import SYMBOLS
from .theme import Paint

WIDTH = 300.0
GAP = 12.0
PADDING = 16.0
HEADER_HEIGHT = 40.0
FOOTER_HEIGHT = 12.0
ROW_HEIGHTS = 18.0, 24.0, 32.0
"""Minimum, comfortable and maximum height of a track."""

PLAIN_FACTOR = 1.5
"""Height factor of a track without a symbol, which shows its number larger."""

HAND_LIMITS = 44.0, 27.0
"""Maximum height of a hand in one row, and maximum pixels per unit of its tiles."""

HAND_SCALES = 40.0, 36.0, 32.0, 28.0
"""Pixels per unit of a hand in several rows, in the order in which they are tried."""

TILE_GAP = 6.0

BACK_HEIGHT = 15.0
"""Height of hidden tiles."""

TWO_COLUMN_RATIO = 1.15
"""Height of the cards, in board heights, above which they have two columns."""

CAPTION_HEIGHT = 17.0
STOCK_HEIGHT = 30.0


class RenderTile(Protocol):
    """Renders the tiles of a scene, or their backs, with the corner of the scene at a point."""

    def __call__(
        self, canvas: Canvas, scene: Scene, corner: Point, scale: float, *, back: bool = False
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class CardLayout:
    """The layout of the cards. `unit` is the scale of hands in several rows, or 0 for hands in one row."""

    scene: Scene
    corners: tuple[Point, ...]
    sizes: tuple[Point, ...]
    row: float
    unit: float
    size: Point


def lay_out(scene: Scene, *, room: float, beside: bool) -> CardLayout:
    """Lay out the cards in columns of height `room`, or in rows of width `room`."""
    stock = STOCK_HEIGHT if scene.to_draw else 0.0
    return _beside(scene, room, stock) if beside else _below(scene, room, stock)


def _beside(scene: Scene, room: float, stock: float) -> CardLayout:
    seats = scene.seats
    across = 1 if _lines(seats, 1, ROW_HEIGHTS[0], 0.0) + stock <= TWO_COLUMN_RATIO * room else 2
    rows = sum(max(_rows(seat) for seat in line) for line in _split(seats, across))
    bare = {unit: _lines(seats, across, 0.0, unit) + stock for unit in (*HAND_SCALES, 0.0)}
    unit = next((unit for unit in HAND_SCALES if bare[unit] + ROW_HEIGHTS[1] * rows <= room), 0.0)
    row = min(ROW_HEIGHTS[2], max(ROW_HEIGHTS[0], (room - bare[unit]) / rows))
    corners, sizes, top = [], [], 0.0
    for line in _split(seats, across):
        height = max(_height(seat, row, unit) for seat in line)
        corners += [((WIDTH + GAP) * column, top) for column in range(len(line))]
        sizes += [(WIDTH, height)] * len(line)
        top += height + GAP
    size = across * (WIDTH + GAP) - GAP, top - GAP + stock
    return CardLayout(scene, tuple(corners), tuple(sizes), row, unit, size)


def _below(scene: Scene, room: float, stock: float) -> CardLayout:
    seats, row = scene.seats, ROW_HEIGHTS[1]
    across = max(1, min(len(seats), int((room + GAP) / (WIDTH + GAP))))
    width = max(WIDTH, min(1.5 * WIDTH, (room + GAP) / across - GAP))
    height = max(_height(seat, row, 0.0) for seat in seats)
    places = [divmod(index, across) for index in range(len(seats))]
    return CardLayout(
        scene,
        tuple(((width + GAP) * column, (height + GAP) * line) for line, column in places),
        ((width, height),) * len(seats),
        row,
        0.0,
        (across * (width + GAP) - GAP, (places[-1][0] + 1) * (height + GAP) - GAP + stock),
    )


def _split(seats: tuple[Seat, ...], across: int) -> list[tuple[Seat, ...]]:
    return [seats[start : start + across] for start in range(0, len(seats), across)]


def _lines(seats: tuple[Seat, ...], across: int, row: float, unit: float) -> float:
    """Return the height of all rows of cards."""
    lines = (max(_height(seat, row, unit) for seat in line) + GAP for line in _split(seats, across))
    return sum(lines) - GAP


def _rows(seat: Seat) -> float:
    """Return the height of all tracks of a seat, in track heights."""
    return sum(1.0 if track.colour in SYMBOLS else PLAIN_FACTOR for track in seat.tracks) or 1.0


def _height(seat: Seat, row: float, unit: float) -> float:
    tracks = row * _rows(seat) if seat.tracks else 0.0
    return HEADER_HEIGHT + tracks + _hand_height(seat, unit) + FOOTER_HEIGHT


def _hand_height(seat: Seat, unit: float) -> float:
    if not seat.hand:
        return 0.0
    lines = _hand_lines(seat, WIDTH - 2 * PADDING, unit)
    return len(lines) * (_tallest(seat) * _hand_unit(seat, WIDTH - 2 * PADDING, unit) + CAPTION_HEIGHT)


def _tallest(seat: Seat) -> float:
    return max(scene.size[1] for scene in seat.hand)


def _hand_unit(seat: Seat, room: float, unit: float) -> float:
    """Return the pixels per unit: `unit`, or if that is 0 the scale at which the hand fits a row."""
    if unit:
        return unit
    wide = sum(scene.size[0] for scene in seat.hand)
    return min(
        HAND_LIMITS[1], HAND_LIMITS[0] / _tallest(seat), (room - TILE_GAP * (len(seat.hand) - 1)) / wide
    )


def _hand_lines(seat: Seat, room: float, unit: float) -> list[list[Scene]]:
    """Split the tiles of a hand into rows of nearly equal length."""
    if not unit:
        return [list(seat.hand)]
    widest = max(scene.size[0] for scene in seat.hand) * unit
    across = max(1, int((room + TILE_GAP) / (widest + TILE_GAP)))
    lines = -(-len(seat.hand) // across)
    across = -(-len(seat.hand) // lines)
    return [list(seat.hand[start : start + across]) for start in range(0, len(seat.hand), across)]


def render(canvas: Canvas, layout: CardLayout, corner: Point, render_tile: RenderTile) -> None:
    """Render all cards, and the number of tiles left to draw below them."""
    seats = layout.scene.seats
    best = max((track.points for seat in seats for track in seat.tracks), default=0) if len(seats) > 1 else 0
    for seat, at, size in zip(seats, layout.corners, layout.sizes, strict=True):
        card = _CardRenderer(canvas, seat, (corner[0] + at[0], corner[1] + at[1]), size, render_tile)
        card.render(layout, best)
    back = next((seat.back for seat in seats if seat.back), None)
    if layout.scene.to_draw and back:
        end, middle = corner[0] + layout.size[0] - PADDING, corner[1] + layout.size[1] - 10.0
        _backs(canvas, back, 3, f"{layout.scene.to_draw} to draw", (end, middle), render_tile)


@dataclass(frozen=True, slots=True)
class _CardRenderer:
    """A card and its position on the canvas."""

    canvas: Canvas
    seat: Seat
    corner: Point
    size: Point
    render_tile: RenderTile

    def render(self, layout: CardLayout, best: int) -> None:
        """Render the card. A track without a cap ends at `best`, the highest score; 0 omits its rail."""
        theme = self.canvas.theme
        (x, y), (width, height) = self.corner, self.size
        edge, pen = (theme.accent, 2) if self.seat.to_move else (theme.card_edge, 1)
        self.canvas.add(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" rx="12"'
            f' fill="{theme.card}" stroke="{edge}" stroke-width="{pen}"/>'
        )
        self._head()
        top, lowest = y + HEADER_HEIGHT, self.seat.lowest()
        for track in self.seat.tracks:
            row = layout.row * (1.0 if track.colour in SYMBOLS else PLAIN_FACTOR)
            self._track(track, track.cap or best, (x, top), row, low=track.points == lowest)
            top += row
        if self.seat.hand:
            self._hand(layout.unit, (x + PADDING, top + 6.0))

    def _head(self) -> None:
        """Render name, rank after the game, and number of hidden tiles."""
        canvas, seat, theme = self.canvas, self.seat, self.canvas.theme
        start, line = self.corner[0] + PADDING, self.corner[1] + 22.0
        end = self.corner[0] + self.size[0] - PADDING
        if seat.to_move:
            turn = f"M{number(start)} {number(line - 6)}l9 6l-9 6Z"
            canvas.add(f'<path d="{turn}" fill="{theme.accent}" stroke="{theme.accent}"/>')
            start += 18.0
        if seat.rank is not None:
            fill, ink = (theme.accent, theme.card) if seat.rank == 1 else (theme.hole, theme.ink)
            canvas.add(f'<circle cx="{number(end - 10)}" cy="{number(line)}" r="11" fill="{fill}"/>')
            canvas.lettered(str(seat.rank), (end - 10.0, line), 10.0, colour=ink, pen=1.0)
            end -= 30.0
        if seat.hidden and seat.back:
            shown = min(seat.hidden, 12)
            end = _backs(canvas, seat.back, shown, str(seat.hidden), (end, line), self.render_tile)
        canvas.text(
            seat.name, (start, line + 5.0), 15.0, colour=theme.ink, room=end - start, bold=seat.to_move
        )

    def _track(self, track: Track, cap: int, corner: Point, row: float, *, low: bool) -> None:
        """Render a track: a rail with a hole for each point, and the symbol at the current points."""
        canvas, theme = self.canvas, self.canvas.theme
        paint = theme.paints.get(track.colour, Paint(theme.muted, theme.muted, theme.hole))
        (x, y), width = corner, self.size[0]
        middle, end = y + row / 2, x + width - PADDING
        if low:
            canvas.add(
                f'<rect x="{number(x + 7)}" y="{number(y + 0.5)}" width="{number(width - 14)}"'
                f' height="{number(row - 1)}" rx="{number(row / 2 - 0.5)}" fill="{paint.tint}"/>'
            )
        symbol = min(row - 2.0, 20.0)
        at = x + PADDING + 8.0, middle
        known = track.colour in SYMBOLS
        strong = low or not known
        text, tall = str(track.points), min(12.5, 0.58 * row) if known else 20.0
        if cap:
            stop = end - max(40.0, symbols.width(text) * tall / symbols.CAPITAL + 14.0)
            at = self._rail(track, cap, at, stop, pale=low)
        if known:
            # A halo separates the rail from the symbol, also inside the ring.
            halo = paint.tint if low else theme.card
            canvas.add(
                f'<circle cx="{number(at[0])}" cy="{number(middle)}" r="{number(symbol / 2)}"'
                f' fill="{halo}"/>',
                canvas.symbol(track.colour, at, symbol),
            )
        canvas.lettered(
            text,
            (end, middle),
            tall,
            anchor=1.0,
            colour=theme.ink if strong else theme.muted,
            pen=1.15 if low else 0.85,
        )

    def _rail(self, track: Track, cap: int, start: Point, stop: float, *, pale: bool) -> Point:
        """Render a rail and return the position of the points on it."""
        theme = self.canvas.theme
        step = (stop - start[0]) / cap
        at = start[0] + step * min(track.points, cap)
        rail = f"M{number(start[0])} {number(start[1])}H"
        # Dashes of length 0 with round caps are dots. Without a cap there is no last hole, so draw a line.
        holes = f' stroke-dasharray="0 {number(step, 3)}"' if track.cap else ' stroke-opacity=".5"'
        colour = theme.paints[track.colour].fill if track.colour in theme.paints else theme.muted
        self.canvas.add(
            f'<path d="{rail}{number(stop + 0.5)}" stroke="{theme.pale if pale else theme.hole}"'
            f' stroke-width="2.6"{holes}/><path d="{rail}{number(at)}" stroke="{colour}" stroke-width="3.4"/>'
        )
        return at, start[1]

    def _hand(self, unit: float, corner: Point) -> None:
        """Render the tiles of the hand, each with the letters to type."""
        room, tall = self.size[0] - 2 * PADDING, _tallest(self.seat)
        scale = _hand_unit(self.seat, room, unit)
        x, y = corner
        for line in _hand_lines(self.seat, room, unit):
            x = corner[0]
            for scene in line:
                wide = scene.size[0] * scale
                self.render_tile(self.canvas, scene, (x, y), scale)
                below = x + wide / 2, y + tall * scale + 9.0
                self.canvas.lettered(scene.title, below, 7.5, colour=self.canvas.theme.muted, pen=0.95)
                x += wide + TILE_GAP
            y += tall * scale + CAPTION_HEIGHT


def _backs(canvas: Canvas, back: Scene, shown: int, text: str, end: Point, render_tile: RenderTile) -> float:
    """Render hidden tiles and their number, ending at a point, and return the x coordinate of their start."""
    canvas.lettered(text, end, 10.0, anchor=1.0, colour=canvas.theme.muted)
    unit = min(BACK_HEIGHT / back.size[1], 2 * BACK_HEIGHT / back.size[0])
    wide, tall = back.size[0] * unit, back.size[1] * unit
    step = min(7.0, 40.0 / max(shown, 1))
    start = end[0] - symbols.width(text) * 10.0 / symbols.CAPITAL - 9.0 - wide - step * (shown - 1)
    for index in range(shown):
        render_tile(canvas, back, (start + step * index, end[1] - tall / 2), unit, back=True)
    return start - 8.0
