"""The board of a scene as text, and viewports that show a part of it.

Each colour has its own glyph. Tiles are blocks of colour, or without colour are linked by lines. Brackets
enclose the last move, parentheses printed symbols. Where a grid has no line between two symbols of a tile, a
corner beside each of them links them, also in colour, where the blocks touch.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from ..geometry import contains, inset
from ..scene import Grid, Label, Outline, Point, Scene, Symbol, Tile
from .canvas import ACCENT, FAINT, LABEL, PLACE, Box, Charset, Ink, Spot, TextCanvas, letter_ink

# Tiles are inset by this much, so that a blank column or line separates them.
_TILE_GAP = 0.11

# Share of a cell that must be visible; the rest may be cut off.
_CORE_SHARE = 0.35

_SIDES = ("left", "right", "above", "below")

# Block characters by the filled quarters: upper left, upper right, lower left, lower right.
_BLOCKS = dict(zip(product((False, True), repeat=4), " ▗▖▄▝▐▞▟▘▚▌▙▀▜▛█", strict=True))


def render_board(
    scene: Scene, grid: Grid, charset: Charset, *, colour: bool, clip: Box | None = None
) -> TextCanvas:
    """Return the board without labels on a new canvas, or the part of it inside `clip`."""
    renderer = _BoardRenderer(scene, grid, charset, colour=colour)
    renderer.canvas.clip = clip
    renderer.render_cells()
    renderer.render_tiles()
    renderer.render_marks()
    renderer.canvas.clip = None
    return renderer.canvas


def render_label(canvas: TextCanvas, label: Label, spot: Spot) -> None:
    """Write a label: row labels end at `spot`, column labels are centred on it."""
    long = len(label.text)
    start = spot[0] - long + 1 if label.row else spot[0] - (long - 1) // 2
    canvas.put(start, spot[1], label.text, LABEL)


class _BoardRenderer:
    """Renders the layers of a board on a canvas."""

    def __init__(self, scene: Scene, grid: Grid, charset: Charset, *, colour: bool) -> None:
        self.canvas = TextCanvas()
        self.scene = scene
        self.grid = grid
        self.charset = charset
        self.colour = colour
        self._fine = 2 if charset.unicode else 1
        self._stars = {grid.at(cell.centre) for cell in scene.cells if cell.ground == "star"}
        self._tight = grid != scene.grid

    def render_cells(self) -> None:
        """Render the cells and the symbols printed on them."""
        charset = self.charset
        for cell in self.scene.cells:
            column, line = self.grid.at(cell.centre)
            if cell.ground == "blocked":
                self.canvas.put(column - 1, line, charset.blocked * 3, FAINT)
            else:
                self.canvas.put(column, line, charset.star if cell.ground == "star" else charset.empty, FAINT)
        for symbol in self.scene.printed:
            column, line = self.grid.at(symbol.at)
            self.canvas.put(column - 1, line, "( )", FAINT)
            self.canvas.put(column, line, charset.glyph(symbol.letter), letter_ink(symbol.letter, tile=False))

    def render_tiles(self) -> None:
        """Render the tiles: blocks of colour or lines, then symbols and joints."""
        if self.colour:
            self._render_blocks()
        for tile in self.scene.tiles:
            if not self.colour:
                for start, end in tile.links:
                    self._render_link(start, end)
            for symbol in tile.symbols:
                column, line = self.grid.at(symbol.at)
                self.canvas.put(
                    column, line, self.charset.glyph(symbol.letter), letter_ink(symbol.letter, tile=True)
                )
            for (column, line), character in self._joints(tile).items():
                self._render_joint(column, line, character)

    def _render_link(self, start: Point, end: Point) -> None:
        """Render a line between two symbols, if there is space between them."""
        (left, top), (right, bottom) = sorted((self.grid.at(start), self.grid.at(end)))
        if top == bottom:
            self.canvas.put(left + 1, top, self.charset.across * (right - left - 1))
            return
        steps = abs(bottom - top)
        down = 1 if bottom > top else -1
        character = (
            self.charset.down if left == right else self.charset.falling if down > 0 else self.charset.rising
        )
        for step in range(1, steps):
            self.canvas.put(
                left + math.floor((right - left) * step / steps + 0.5), top + down * step, character
            )

    def _joints(self, tile: Tile) -> dict[Spot, str]:
        """Return the characters that link the symbols of a tile on adjacent lines, by position."""
        if not self._tight:
            return {}
        spots = {self.grid.at(symbol.at) for symbol in tile.symbols}
        links = [
            sorted((self.grid.at(start), self.grid.at(end)), key=lambda spot: spot[::-1])
            for start, end in tile.links
        ]
        across = {(column, low[1]) for low, high in links for column in range(low[0] + 1, high[0])}
        ways: dict[Spot, set[str]] = {}
        joints: dict[Spot, str] = {}
        for (over, top), (under, bottom) in links:
            if bottom - top != 1:
                continue
            if over == under:
                aside = 1 if (over, top) in spots else 0
                ways.setdefault((over + aside, top), set()).add("down")
                ways.setdefault((over + aside, bottom), set()).add("up")
            elif over < under:
                joints[over + 1, top] = self.charset.falling
            else:
                joints[over - 1, top] = self.charset.rising
        for spot, way in ways.items():
            joints[spot] = self.charset.joint(up="up" in way, down="down" in way, right=spot in across)
        return joints

    def _render_joint(self, column: int, line: int, character: str) -> None:
        """Write a joint. On a block it has a contrasting colour, except where two blocks meet."""
        ground = self.canvas.ink(column, line)
        if ground.back is None or ground.front is not None:
            self.canvas.put(column, line, character, Ink(bold=True))
        else:
            near = self.canvas.ink(column - 1, line).front or self.canvas.ink(column + 1, line).front
            self.canvas.put(column, line, character, Ink(near, ground.back, bold=True))

    def _render_blocks(self) -> None:
        """Render the tiles as blocks; in Unicode in quarters of characters."""
        filled: dict[Spot, dict[Spot, str]] = {}
        for tile in self.scene.tiles:
            for spot, parts in self._covered_parts(tile):
                filled.setdefault(spot, {}).update(parts)
        for spot, parts in filled.items():
            self._render_block(spot, parts)

    def _covered_parts(self, tile: Tile) -> Iterator[tuple[Spot, dict[Spot, str]]]:
        """Yield the characters under a tile, with the letter nearest to each covered part of them."""
        outline = inset(tile.outline, _TILE_GAP)
        shares = [(index, (2 * index + 1) / (2 * self._fine) - 0.5) for index in range(self._fine)]
        for column, line in self._touched_spots(tile):
            parts = {}
            for down, low in shares:
                for across, right in shares:
                    point = self.grid.middle(column + right, line + low)
                    if contains(outline, point):
                        parts[across, down] = _nearest(tile.symbols, point)
            # A tip that covers only the upper or lower half of a line would look like a link.
            if len({down for _, down in parts}) == self._fine:
                yield (column, line), parts

    def _touched_spots(self, tile: Tile) -> Iterator[Spot]:
        """Yield all characters in the bounding box of a tile."""
        box = Box.around(self.grid.at(point) for point in tile.outline)
        for line in range(box.top, box.bottom):
            for column in range(box.left, box.right):
                yield column, line

    def _render_block(self, spot: Spot, parts: dict[Spot, str]) -> None:
        letters = [letter for letter, _ in Counter(parts.values()).most_common(2)]
        backs = [letter_ink(letter, tile=True).back for letter in letters]
        whole = len(parts) == self._fine**2
        if whole and len(letters) == 1:
            self.canvas.put(*spot, " ", Ink(back=backs[0]))
        elif self._fine > 1:
            quarters = tuple(parts.get((across, down)) == letters[0] for down in (0, 1) for across in (0, 1))
            # A second colour fills the rest of the character, unless a part of it is blank.
            rest = backs[1] if whole else None
            self.canvas.put(*spot, _BLOCKS[quarters], Ink(front=backs[0], back=rest))

    def render_marks(self) -> None:
        """Render pyramids, legal placements and the last move."""
        for mark in self.scene.marks:
            spots = [self.grid.at(centre) for centre in mark.centres]
            if mark.kind == "last":
                self._render_brackets(mark.outline)
            for column, line in spots:
                if mark.kind == "pyramid":
                    self.canvas.put(column, line, self.charset.pyramid, Ink(bold=True))
                elif mark.kind == "spent":
                    self.canvas.put(column, line, self.charset.spent, FAINT)
                elif mark.kind == "place":
                    star = (column, line) in self._stars
                    character, ink = (
                        (self.charset.star_place, ACCENT) if star else (self.charset.place, PLACE)
                    )
                    self.canvas.put(column, line, character, ink)

    def _render_brackets(self, outline: Outline) -> None:
        """Render brackets around each line of the symbols and joints inside an outline."""
        rows: dict[int, list[int]] = {}
        for tile in self.scene.tiles:
            inside = [self.grid.at(symbol.at) for symbol in tile.symbols if contains(outline, symbol.at)]
            for column, line in (*inside, *(self._joints(tile) if inside else ())):
                rows.setdefault(line, []).append(column)
        for line, columns in rows.items():
            self._render_bracket(min(columns), line, -1, "[")
            self._render_bracket(max(columns), line, 1, "]")

    def _render_bracket(self, column: int, line: int, step: int, character: str) -> None:
        # On a block the bracket has the colour of the symbol beside it, which is readable there.
        back = self.canvas.ink(column + step, line).back
        front = None if back is None else self.canvas.ink(column, line).front
        self.canvas.put(column + step, line, character, Ink(front, back, bold=True))


def _nearest(symbols: tuple[Symbol, ...], point: Point) -> str:
    return min(symbols, key=lambda symbol: math.dist(symbol.at, point)).letter


@dataclass(frozen=True, slots=True)
class Window:
    """The visible characters, their labels with positions, and a description of hidden tiles."""

    box: Box
    labels: tuple[tuple[Label, Spot], ...]
    outside: str = ""


class Viewport:
    """Computes windows of any size on a scene with a grid."""

    def __init__(self, scene: Scene, grid: Grid) -> None:
        self._scene = scene
        self._grid = grid
        outlines = [cell.outline for cell in scene.cells]
        outlines += [tile.outline for tile in scene.tiles if len(tile.cells) < 2]
        self._cells = [self._core_box(outline) for outline in outlines]
        corners = [(box.left, box.top) for box in self._cells]
        corners += [(box.right - 1, box.bottom - 1) for box in self._cells]
        self._board_box = Box.around(corners)
        self._labels = [(label, grid.at(label.at)) for label in scene.labels]
        ends = Box.around([*corners, *(spot for _, spot in self._labels)])
        self._label_margins = (
            self._board_box.left - ends.left,
            self._board_box.top - ends.top,
            ends.right - self._board_box.right,
            ends.bottom - self._board_box.bottom,
        )

    def whole(self) -> Window:
        """Return a window on the whole board."""
        return Window(self._board_box, tuple(self._labels))

    def part(self, columns: int | None, lines: int | None) -> Window:
        """Return the largest window that fits with its labels, around the last move."""
        left, top, right, bottom = self._label_margins
        left += 1  # a cut cell may start at the edge
        long = max((len(label.text) for label, _ in self._labels if label.row), default=1) - 1
        column, line = self._focus_spot()
        first, after = _visible_range(
            column, columns, left + right + long, self._board_box.left, self._board_box.right
        )
        upper, lower = _visible_range(line, lines, top + bottom, self._board_box.top, self._board_box.bottom)
        if Box(first, upper, after, lower) == self._board_box:
            return self.whole()
        shown = [
            (box.left, box.top, box.right, box.bottom)
            for box in self._cells
            if first <= box.left and box.right <= after and upper <= box.top and box.bottom <= lower
        ]
        if not shown:
            return self.whole()
        lefts, tops, rights, bottoms = zip(*shown, strict=True)
        box = Box(min(lefts), min(tops), max(rights), max(bottoms))
        edge = Box(box.left - left, box.top - top, box.right + right, box.bottom + bottom)
        moved = ((label, self._label_spot(label, edge)) for label, _ in self._labels)
        return Window(
            box,
            tuple((label, spot) for label, spot in moved if spot is not None),
            self._describe_outside(box),
        )

    def _core_box(self, outline: Outline) -> Box:
        """Return the characters in the middle of a cell, with a column on either side for brackets."""
        x = sum(x for x, _ in outline) / len(outline)
        y = sum(y for _, y in outline) / len(outline)
        box = Box.around(
            self._grid.at((x + _CORE_SHARE * (a - x), y + _CORE_SHARE * (b - y))) for a, b in outline
        )
        return Box(box.left - 1, box.top, box.right + 1, box.bottom)

    def _focus_spot(self) -> Spot:
        """Return the position of the last move, or the middle of the board."""
        marks = [mark for mark in self._scene.marks if mark.kind == "last"]
        spots = [self._grid.at(centre) for mark in marks for centre in mark.centres]
        box = Box.around(spots) if spots else self._board_box
        return (box.left + box.right) // 2, (box.top + box.bottom) // 2

    def _label_spot(self, label: Label, edge: Box) -> Spot | None:
        """Return the position of a label at the edge of the window; None if its row or column is hidden."""
        (x, y), (over, down) = label.at, label.along
        step = self._grid.dx / abs(over) if label.row else self._grid.dy / abs(down)
        for number in range(self._board_box.width + self._board_box.height):
            spot = self._grid.at((x + over * step * number, y + down * step * number))
            if spot in edge:
                return spot
        return None

    def _describe_outside(self, box: Box) -> str:
        """Return the number and directions of tiles that are not fully visible, as text."""
        sides: Counter[str] = Counter()
        for tile in self._scene.tiles:
            spots = [self._grid.at(symbol.at) for symbol in tile.symbols]
            sides.update(_side(box, spot) for spot in [spot for spot in spots if spot not in box][:1])
        if not sides:
            return "no tiles outside the picture"
        count = sides.total()
        where = ", ".join(f"{sides[side]} {side}" for side in _SIDES if sides[side])
        return f"{count} {'tile' if count == 1 else 'tiles'} outside the picture: {where}"


def _side(box: Box, spot: Spot) -> str:
    column, line = spot
    if column < box.left:
        return "left"
    if column >= box.right:
        return "right"
    return "above" if line < box.top else "below"


def _visible_range(middle: int, room: int | None, used: int, first: int, after: int) -> Spot:
    """Return the range of columns or lines that fit around `middle`; the end is exclusive."""
    if room is None or after - first <= room - used:
        return first, after
    start = min(max(middle - (room - used) // 2, first), after - (room - used))
    return start, start + room - used
