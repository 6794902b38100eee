"""The board of a scene in characters.

Every colour has its own glyph. Tiles are blocks of colour, or joined by lines where there is none;
brackets hold the last move, round ones what is printed on the board. Where a grid leaves no line between
two symbols of a tile, a corner beside each of them joins them, in colour as well: blocks touch there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import product

from axio.drawing.geometry import contains, inset
from axio.drawing.scene import Grid, Label, Outline, Point, Scene, Symbol, Tile
from axio.drawing.sheet import Box, Ink, Sheet, Spot
from axio.drawing.signs import ACCENT, FAINT, LABEL, PLACE, Signs, letter_ink

# Tiles are drawn this much smaller, so that a blank column and a blank line set them apart.
_APART = 0.11

# Which quarters of a character (upper left, upper right, lower left, lower right) a block fills.
_BLOCKS = dict(zip(product((False, True), repeat=4), " ▗▖▄▝▐▞▟▘▚▌▙▀▜▛█", strict=True))


def draw(scene: Scene, grid: Grid, signs: Signs, *, colour: bool, clip: Box | None = None) -> Sheet:
    """Draw the board on a new sheet, or the part of it inside `clip`; labels follow."""
    drawing = _Drawing(scene, grid, signs, colour=colour)
    drawing.sheet.clip = clip
    drawing.ground()
    drawing.tiles()
    drawing.marks()
    drawing.sheet.clip = None
    return drawing.sheet


def write_label(sheet: Sheet, label: Label, spot: Spot) -> None:
    """Names of rows end at their place, names of columns are centred on it."""
    long = len(label.text)
    start = spot[0] - long + 1 if label.row else spot[0] - (long - 1) // 2
    sheet.put(start, spot[1], label.text, LABEL)


class _Drawing:
    """A scene and a sheet."""

    def __init__(self, scene: Scene, grid: Grid, signs: Signs, *, colour: bool) -> None:
        self.sheet = Sheet()
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
