"""The board of a scene in characters.

Every colour has its own glyph. Tiles are blocks of colour, or joined by lines where there is none;
brackets hold the last move, round ones what is printed on the board. Where a grid leaves no line between
two symbols of a tile, a corner beside each of them joins them, in colour as well: blocks touch there.
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

# Tiles are drawn this much smaller, so that a blank column and a blank line set them apart.
_APART = 0.11

# Which quarters of a character (upper left, upper right, lower left, lower right) a block fills.
_BLOCKS = dict(zip(product((False, True), repeat=4), " ▗▖▄▝▐▞▟▘▚▌▙▀▜▛█", strict=True))


def draw(scene: Scene, grid: Grid, signs: Charset, *, colour: bool, clip: Box | None = None) -> TextCanvas:
    """Draw the board on a new sheet, or the part of it inside `clip`; labels follow."""
    drawing = _Drawing(scene, grid, signs, colour=colour)
    drawing.sheet.clip = clip
    drawing.ground()
    drawing.tiles()
    drawing.marks()
    drawing.sheet.clip = None
    return drawing.sheet


def write_label(sheet: TextCanvas, label: Label, spot: Spot) -> None:
    """Names of rows end at their place, names of columns are centred on it."""
    long = len(label.text)
    start = spot[0] - long + 1 if label.row else spot[0] - (long - 1) // 2
    sheet.put(start, spot[1], label.text, LABEL)


class _Drawing:
    """A scene and a sheet."""

    def __init__(self, scene: Scene, grid: Grid, signs: Charset, *, colour: bool) -> None:
        self.sheet = TextCanvas()
        self.scene = scene
        self.grid = grid
        self.signs = signs
        self.colour = colour
        self._fine = 2 if signs.unicode else 1
        self._stars = {grid.at(cell.centre) for cell in scene.cells if cell.ground == "star"}
        self._tight = grid != scene.grid

    def ground(self) -> None:
        """Cells, and the symbols printed on them."""
        signs = self.signs
        for cell in self.scene.cells:
            column, line = self.grid.at(cell.centre)
            if cell.ground == "blocked":
                self.sheet.put(column - 1, line, signs.blocked * 3, FAINT)
            else:
                self.sheet.put(column, line, signs.star if cell.ground == "star" else signs.empty, FAINT)
        for symbol in self.scene.printed:
            column, line = self.grid.at(symbol.at)
            self.sheet.put(column - 1, line, "( )", FAINT)
            self.sheet.put(column, line, signs.glyph(symbol.letter), letter_ink(symbol.letter, tile=False))

    def tiles(self) -> None:
        """Blocks of colour or lines, then the symbols."""
        if self.colour:
            self._blocks()
        for tile in self.scene.tiles:
            if not self.colour:
                for start, end in tile.links:
                    self._link(start, end)
            for symbol in tile.symbols:
                column, line = self.grid.at(symbol.at)
                self.sheet.put(
                    column, line, self.signs.glyph(symbol.letter), letter_ink(symbol.letter, tile=True)
                )
            for (column, line), sign in self._joints(tile).items():
                self._beside(column, line, sign)

    def _link(self, start: Point, end: Point) -> None:
        """A line between two symbols, as far as there is room for one."""
        (left, top), (right, bottom) = sorted((self.grid.at(start), self.grid.at(end)))
        if top == bottom:
            self.sheet.put(left + 1, top, self.signs.across * (right - left - 1))
            return
        steps = abs(bottom - top)
        down = 1 if bottom > top else -1
        sign = self.signs.down if left == right else self.signs.falling if down > 0 else self.signs.rising
        for step in range(1, steps):
            self.sheet.put(left + math.floor((right - left) * step / steps + 0.5), top + down * step, sign)

    def _joints(self, tile: Tile) -> dict[Spot, str]:
        """The signs that join symbols of a tile on two lines with nothing in between."""
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
                joints[over + 1, top] = self.signs.falling
            else:
                joints[over - 1, top] = self.signs.rising
        for spot, way in ways.items():
            joints[spot] = self.signs.joint(up="up" in way, down="down" in way, right=spot in across)
        return joints

    def _beside(self, column: int, line: int, sign: str) -> None:
        """Write what joins symbols: on a block in a colour that shows, but not where two blocks meet."""
        ground = self.sheet.ink(column, line)
        if ground.back is None or ground.front is not None:
            self.sheet.put(column, line, sign, Ink(bold=True))
        else:
            near = self.sheet.ink(column - 1, line).front or self.sheet.ink(column + 1, line).front
            self.sheet.put(column, line, sign, Ink(near, ground.back, bold=True))

    def _blocks(self) -> None:
        """Fill the characters under tiles; in Unicode down to quarters of a character."""
        filled: dict[Spot, dict[Spot, str]] = {}
        for tile in self.scene.tiles:
            for spot, parts in self._covered(tile):
                filled.setdefault(spot, {}).update(parts)
        for spot, parts in filled.items():
            self._block(spot, parts)

    def _covered(self, tile: Tile) -> Iterator[tuple[Spot, dict[Spot, str]]]:
        """Characters under a tile: which parts of each it covers, and the letter next to each part."""
        outline = inset(tile.outline, _APART)
        shares = [(index, (2 * index + 1) / (2 * self._fine) - 0.5) for index in range(self._fine)]
        for column, line in self._characters(tile):
            parts = {}
            for down, low in shares:
                for across, right in shares:
                    point = self.grid.middle(column + right, line + low)
                    if contains(outline, point):
                        parts[across, down] = _nearest(tile.symbols, point)
            # Tips that reach into the upper or the lower half of a line only would look like links.
            if len({down for _, down in parts}) == self._fine:
                yield (column, line), parts

    def _characters(self, tile: Tile) -> Iterator[Spot]:
        """All characters that could touch a tile."""
        box = Box.around(self.grid.at(point) for point in tile.outline)
        for line in range(box.top, box.bottom):
            for column in range(box.left, box.right):
                yield column, line

    def _block(self, spot: Spot, parts: dict[Spot, str]) -> None:
        letters = [letter for letter, _ in Counter(parts.values()).most_common(2)]
        backs = [letter_ink(letter, tile=True).back for letter in letters]
        whole = len(parts) == self._fine**2
        if whole and len(letters) == 1:
            self.sheet.put(*spot, " ", Ink(back=backs[0]))
        elif self._fine > 1:
            quarters = tuple(parts.get((across, down)) == letters[0] for down in (0, 1) for across in (0, 1))
            # A second colour fills the rest of the character, unless a part of it must stay blank.
            rest = backs[1] if whole else None
            self.sheet.put(*spot, _BLOCKS[quarters], Ink(front=backs[0], back=rest))

    def marks(self) -> None:
        """Pyramids, places and the last move."""
        for mark in self.scene.marks:
            spots = [self.grid.at(centre) for centre in mark.centres]
            if mark.kind == "last":
                self._brackets(mark.outline)
            for column, line in spots:
                if mark.kind == "pyramid":
                    self.sheet.put(column, line, self.signs.pyramid, Ink(bold=True))
                elif mark.kind == "spent":
                    self.sheet.put(column, line, self.signs.spent, FAINT)
                elif mark.kind == "place":
                    star = (column, line) in self._stars
                    sign, ink = (self.signs.star_place, ACCENT) if star else (self.signs.place, PLACE)
                    self.sheet.put(column, line, sign, ink)

    def _brackets(self, outline: Outline) -> None:
        """Brackets around every line of the symbols inside an outline, and of what joins them."""
        rows: dict[int, list[int]] = {}
        for tile in self.scene.tiles:
            inside = [self.grid.at(symbol.at) for symbol in tile.symbols if contains(outline, symbol.at)]
            for column, line in (*inside, *(self._joints(tile) if inside else ())):
                rows.setdefault(line, []).append(column)
        for line, columns in rows.items():
            self._bracket(min(columns), line, -1, "[")
            self._bracket(max(columns), line, 1, "]")

    def _bracket(self, column: int, line: int, step: int, sign: str) -> None:
        # On a block the bracket takes the colour of the symbol beside it, which is sure to show.
        back = self.sheet.ink(column + step, line).back
        front = None if back is None else self.sheet.ink(column, line).front
        self.sheet.put(column + step, line, sign, Ink(front, back, bold=True))


def _nearest(symbols: tuple[Symbol, ...], point: Point) -> str:
    return min(symbols, key=lambda symbol: math.dist(symbol.at, point)).letter


# This much of a cell decides which characters it needs; the rest may be cut off.
_CORE = 0.35

_SIDES = ("left", "right", "above", "below")


@dataclass(frozen=True, slots=True)
class Window:
    """The characters that are shown, where the labels of what is shown go, and what lies outside."""

    box: Box
    labels: tuple[tuple[Label, Spot], ...]
    outside: str = ""


class Opening:
    """A scene on a grid, to be seen through windows of any size."""

    def __init__(self, scene: Scene, grid: Grid) -> None:
        self._scene = scene
        self._grid = grid
        outlines = [cell.outline for cell in scene.cells]
        outlines += [tile.outline for tile in scene.tiles if len(tile.cells) < 2]
        self._cells = [self._core(outline) for outline in outlines]
        corners = [(box.left, box.top) for box in self._cells]
        corners += [(box.right - 1, box.bottom - 1) for box in self._cells]
        self._all = Box.around(corners)
        self._labels = [(label, grid.at(label.at)) for label in scene.labels]
        ends = Box.around([*corners, *(spot for _, spot in self._labels)])
        self._around = (
            self._all.left - ends.left,
            self._all.top - ends.top,
            ends.right - self._all.right,
            ends.bottom - self._all.bottom,
        )

    def whole(self) -> Window:
        """All of the board."""
        return Window(self._all, tuple(self._labels))

    def part(self, columns: int | None, lines: int | None) -> Window:
        """As much of the board as fits, with its labels, around the last move."""
        left, top, right, bottom = self._around
        left += 1  # a cell that is cut may begin at the very edge
        long = max((len(label.text) for label, _ in self._labels if label.row), default=1) - 1
        column, line = self._focus()
        first, after = _stretch(column, columns, left + right + long, self._all.left, self._all.right)
        upper, lower = _stretch(line, lines, top + bottom, self._all.top, self._all.bottom)
        if Box(first, upper, after, lower) == self._all:
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
        moved = ((label, self._moved(label, edge)) for label, _ in self._labels)
        return Window(
            box, tuple((label, spot) for label, spot in moved if spot is not None), self._outside(box)
        )

    def _core(self, outline: Outline) -> Box:
        """The characters in the middle of a cell, with a column on either side for brackets."""
        x = sum(x for x, _ in outline) / len(outline)
        y = sum(y for _, y in outline) / len(outline)
        box = Box.around(self._grid.at((x + _CORE * (a - x), y + _CORE * (b - y))) for a, b in outline)
        return Box(box.left - 1, box.top, box.right + 1, box.bottom)

    def _focus(self) -> Spot:
        """The last move, or else the middle of everything."""
        marks = [mark for mark in self._scene.marks if mark.kind == "last"]
        spots = [self._grid.at(centre) for mark in marks for centre in mark.centres]
        box = Box.around(spots) if spots else self._all
        return (box.left + box.right) // 2, (box.top + box.bottom) // 2

    def _moved(self, label: Label, edge: Box) -> Spot | None:
        """Where a label stands at the edge of what is shown; None where its row or column is not shown."""
        (x, y), (over, down) = label.at, label.along
        step = self._grid.dx / abs(over) if label.row else self._grid.dy / abs(down)
        for number in range(self._all.width + self._all.height):
            spot = self._grid.at((x + over * step * number, y + down * step * number))
            if spot in edge:
                return spot
        return None

    def _outside(self, box: Box) -> str:
        """How many tiles are not wholly shown, and where they lie."""
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


def _stretch(middle: int, room: int | None, used: int, first: int, after: int) -> Spot:
    """The first of the columns (or lines) that fit, and the one after the last of them."""
    if room is None or after - first <= room - used:
        return first, after
    start = min(max(middle - (room - used) // 2, first), after - (room - used))
    return start, start + room - used
