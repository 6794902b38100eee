"""A scene as text for a terminal, as wide and as high as asked, where that is possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from axio.drawing import ledger, textboard
from axio.drawing.scene import Grid, Scene
from axio.drawing.sheet import Sheet, cut
from axio.drawing.signs import FAINT, Signs, signs
from axio.drawing.window import Opening, Window

_LEAST = 9
"""However few lines there are, so many are the board's."""


def render(
    scene: Scene, *, colour: bool = True, unicode: bool = True, width: int = 80, height: int | None = None
) -> str:
    """Draw a scene in characters.

    `colour` uses escape codes for 256 colours; without `unicode` the text is pure ASCII. Panels stand
    beside the board where `width` has room for them, otherwise below. What would be higher than `height`
    lines is drawn closer together, the panels shortened. A board that is still too large is shown
    in part, around the last move, with a line that says what is left out.
    """
    printer = _Printer(scene, signs(unicode=unicode), colour, width)
    return printer.print(height).text(colour=colour)


@dataclass(frozen=True, slots=True)
class _Board:
    """A board on a sheet: by which grid it was drawn, and whether it was too wide to be drawn whole."""

    grid: Grid
    sheet: Sheet
    cut: bool

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.sheet.bounds().height


@dataclass(frozen=True, slots=True)
class _Printer:
    """Tries out how a scene fits."""

    scene: Scene
    signs: Signs
    colour: bool
    width: int

    def sheet(self, height: int | None) -> Sheet:
        """The first arrangement that is low enough, or the lowest."""
        lowest: tuple[int, _Board, Sheet] | None = None
        for board in self._boards():
            for sheet in self._with_panels(board.sheet):
                lines = sheet.bounds().height
                if height is None or lines <= height:
                    return sheet
                if lowest is None or lines < lowest[0]:
                    lowest = lines, board, sheet
        assert lowest is not None, "there is always an arrangement"
        assert height is not None, "without a limit the first one does"
        _, board, sheet = lowest
        # A board that always has the same cells is shown whole where it has the room for itself.
        grows = any(cell.ground == "free" for cell in self.scene.cells)
        return self._lower(board, height) if grows or board.lines > height else sheet

    def _boards(self) -> list[_Board]:
        """The board on every grid that fits the width; where none does, a part of it on the narrowest."""
        grids = (self.scene.grid, *self.scene.tighter)
        whole = [_Board(grid, self._draw(grid, Opening(self.scene, grid).whole()), False) for grid in grids]
        widths = [board.sheet.bounds().width for board in whole]
        least = min(widths)
        if least <= self.width:
            return [board for board, wide in zip(whole, widths, strict=True) if wide <= self.width]
        narrowest = [grid for grid, wide in zip(grids, widths, strict=True) if wide == least]
        parts = [(grid, Opening(self.scene, grid).part(self.width, None)) for grid in narrowest]
        return [_Board(grid, self._draw(grid, part), True) for grid, part in parts]

    def _lower(self, board: _Board, height: int) -> Sheet:
        """Leave out lines of a board, so that they and the panels are low enough."""
        opening = Opening(self.scene, board.grid)
        sheets = []
        for place in self._places(board.sheet):
            panels = self._panels(board.sheet, place).bounds().height - board.lines
            room = height - (panels if place == "below" else 0) - 1
            part = opening.part(self.width if board.cut else None, max(room, _LEAST))
            sheets.append(self._panels(self._draw(board.grid, part), place, brief=True))
        return min(sheets, key=lambda sheet: sheet.bounds().height)

    def _draw(self, grid: Grid, window: Window) -> Sheet:
        clip = window.box if window.outside else None
        sheet = textboard.draw(self.scene, grid, self.signs, colour=self.colour, clip=clip)
        for label, spot in window.labels:
            textboard.write_label(sheet, label, spot)
        if window.outside:
            box = sheet.bounds()
            sheet.put(box.left, box.bottom, cut(window.outside, self.width), FAINT)
        return sheet
