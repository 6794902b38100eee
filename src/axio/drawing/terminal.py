"""A scene as text for a terminal, at least 80 columns wide.

Every colour has its own glyph. Tiles are blocks of colour, or joined by lines where there is none;
brackets hold the last move, round ones what is printed on the board.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import product

from axio.drawing import ledger
from axio.drawing.geometry import contains, inset
from axio.drawing.scene import Outline, Point, Scene, Symbol, Tile
from axio.drawing.sheet import Ink, Sheet
from axio.drawing.signs import ACCENT, FAINT, LABEL, Signs, letter_ink, signs

# Tiles are drawn this much smaller, so that a blank column and a blank line set them apart.
_APART = 0.11

# Which quarters of a character (upper left, upper right, lower left, lower right) a block fills.
_BLOCKS = dict(zip(product((False, True), repeat=4), " ▗▖▄▝▐▞▟▘▚▌▙▀▜▛█", strict=True))

Spot = tuple[int, int]
"""Column and line of a character, or of a part of one."""


def render(scene: Scene, *, colour: bool = True, unicode: bool = True, width: int = 80) -> str:
    """Draw a scene in characters.

    `colour` uses escape codes for 256 colours; without `unicode` the text is pure ASCII. Panels stand
    beside the board where `width` has room for them, otherwise below.
    """
    sheet = Sheet()
    drawing = _Drawing(scene, sheet, signs(unicode=unicode), colour=colour)
    drawing.ground()
    drawing.tiles()
    drawing.marks()
    drawing.labels()
    ledger.write(scene, sheet, drawing.signs, colour=colour, width=width)
    return sheet.text(colour=colour)


class _Drawing:
    """The board of a scene on a sheet."""

    def __init__(self, scene: Scene, sheet: Sheet, signs: Signs, *, colour: bool) -> None:
        self.scene = scene
        self.sheet = sheet
        self.signs = signs
        self.colour = colour
        self._fine = 2 if signs.unicode else 1
        self._stars = {scene.grid.at(cell.centre) for cell in scene.cells if cell.ground == "star"}

    def ground(self) -> None:
        """Cells, and the symbols printed on them."""
        signs = self.signs
        for cell in self.scene.cells:
            column, line = self.scene.grid.at(cell.centre)
            if cell.ground == "blocked":
                self.sheet.put(column - 1, line, signs.blocked * 3, FAINT)
            else:
                self.sheet.put(column, line, signs.star if cell.ground == "star" else signs.empty, FAINT)
        for symbol in self.scene.printed:
            column, line = self.scene.grid.at(symbol.at)
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
                column, line = self.scene.grid.at(symbol.at)
                self.sheet.put(
                    column, line, self.signs.glyph(symbol.letter), letter_ink(symbol.letter, tile=True)
                )

    def _link(self, start: Point, end: Point) -> None:
        (left, top), (right, bottom) = sorted((self.scene.grid.at(start), self.scene.grid.at(end)))
        if top == bottom:
            self.sheet.put(left + 1, top, self.signs.across * (right - left - 1))
            return
        steps = abs(bottom - top)
        down = 1 if bottom > top else -1
        sign = self.signs.down if left == right else self.signs.falling if down > 0 else self.signs.rising
        for step in range(1, steps):
            self.sheet.put(left + math.floor((right - left) * step / steps + 0.5), top + down * step, sign)

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
                    point = self.scene.grid.middle(column + right, line + low)
                    if contains(outline, point):
                        parts[across, down] = _nearest(tile.symbols, point)
            # Tips that reach into the upper or the lower half of a line only would look like links.
            if len({down for _, down in parts}) == self._fine:
                yield (column, line), parts

    def _characters(self, tile: Tile) -> Iterator[Spot]:
        """All characters that could touch a tile."""
        spots = [self.scene.grid.at(point) for point in tile.outline]
        for line in range(min(line for _, line in spots), max(line for _, line in spots) + 1):
            for column in range(min(column for column, _ in spots), max(column for column, _ in spots) + 1):
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
            spots = [self.scene.grid.at(centre) for centre in mark.centres]
            if mark.kind == "last":
                self._brackets(mark.outline)
            for column, line in spots:
                if mark.kind == "pyramid":
                    self.sheet.put(column, line, self.signs.pyramid, Ink(bold=True))
                elif mark.kind == "spent":
                    self.sheet.put(column, line, self.signs.spent, FAINT)
                elif mark.kind == "place":
                    star = (column, line) in self._stars
                    self.sheet.put(column, line, self.signs.star if star else self.signs.place, ACCENT)

    def _brackets(self, outline: Outline) -> None:
        """Brackets around every line of the symbols inside an outline."""
        rows: dict[int, list[int]] = {}
        for tile in self.scene.tiles:
            for symbol in tile.symbols:
                if contains(outline, symbol.at):
                    column, line = self.scene.grid.at(symbol.at)
                    rows.setdefault(line, []).append(column)
        for line, columns in rows.items():
            for symbol_at, step, bracket in ((min(columns), -1, "["), (max(columns), 1, "]")):
                # On a block the bracket takes the colour of the symbol beside it, which is sure to show.
                back = self.sheet.ink(symbol_at + step, line).back
                front = None if back is None else self.sheet.ink(symbol_at, line).front
                self.sheet.put(symbol_at + step, line, bracket, Ink(front, back, bold=True))

    def labels(self) -> None:
        """Names of rows end at their place, names of columns are centred on it."""
        for label in self.scene.labels:
            column, line = self.scene.grid.at(label.at)
            start = column - len(label.text) + 1 if label.row else column - (len(label.text) - 1) // 2
            self.sheet.put(start, line, label.text, LABEL)


def _nearest(symbols: tuple[Symbol, ...], point: Point) -> str:
    return min(symbols, key=lambda symbol: math.dist(symbol.at, point)).letter
