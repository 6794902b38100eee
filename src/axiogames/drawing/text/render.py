"""A scene as text for a terminal, as wide and as high as asked, where that is possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..scene import Grid, Scene
from .board import Opening, Window, draw, write_label
from .canvas import FAINT, Charset, TextCanvas, charset, cut
from .panels import FORMS, Form, room_beside, write

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
    printer = _Printer(scene, charset(unicode=unicode), colour, width)
    return printer.sheet(height).text(colour=colour, width=width)


@dataclass(frozen=True, slots=True)
class _Board:
    """A board on a sheet: by which grid it was drawn, and how wide it may be if it is not all there."""

    grid: Grid
    sheet: TextCanvas
    columns: int | None = None

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.sheet.bounds().height


@dataclass(frozen=True, slots=True)
class _Printer:
    """Tries out how a scene fits."""

    scene: Scene
    signs: Charset
    colour: bool
    width: int

    def sheet(self, height: int | None) -> TextCanvas:
        """The first arrangement that is low enough, or the lowest."""
        tried = []
        for board in self._boards():
            for _, sheet in self._with_panels(board.sheet):
                lines = sheet.bounds().height
                if height is None or lines <= height:
                    return sheet
                tried.append((board, sheet))
        assert height is not None, "without a limit the first arrangement does"
        board = min((board for board, _ in tried), key=lambda board: board.lines)
        # A board that always has the same cells is shown whole where it has the room for itself.
        if board.lines > height or any(cell.ground == "free" for cell in self.scene.cells):
            return self._lowered(board, height)
        return min((sheet for _, sheet in tried), key=lambda sheet: sheet.bounds().height)

    def _boards(self) -> Iterator[_Board]:
        """The board on every grid that fits the width; where none does, a part of it on the narrowest."""
        wide: dict[Grid, int] = {}
        grids = (self.scene.grid, *self.scene.tighter)
        for grid in grids:
            sheet = self._drawn(grid, Opening(self.scene, grid).whole())
            wide[grid] = sheet.bounds().width
            if wide[grid] <= self.width:
                yield _Board(grid, sheet)
        least = min(wide.values())
        for grid in grids:
            if self.width < wide[grid] == least:
                part = Opening(self.scene, grid).part(self.width, None)
                yield _Board(grid, self._drawn(grid, part), self.width)

    def _lowered(self, board: _Board, height: int) -> TextCanvas:
        """Leave out lines of a board, so that it is low enough together with the panels."""
        opening = Opening(self.scene, board.grid)
        sheets = []
        for form, sheet in self._with_panels(board.sheet):
            if not form.brief:
                continue
            panels = 0 if form.beside else sheet.bounds().height - board.lines
            window = opening.part(board.columns, max(height - panels - 1, _LEAST))
            sheets += [
                low for same, low in self._with_panels(self._drawn(board.grid, window)) if same == form
            ]
        return min(sheets, key=lambda sheet: max(sheet.bounds().height, height))

    def _drawn(self, grid: Grid, window: Window) -> TextCanvas:
        clip = window.box if window.outside else None
        sheet = draw(self.scene, grid, self.signs, colour=self.colour, clip=clip)
        for label, spot in window.labels:
            write_label(sheet, label, spot)
        if window.outside:
            box = sheet.bounds()
            sheet.put(box.left, box.bottom, cut(window.outside, self.width), FAINT)
        return sheet

    def _with_panels(self, board: TextCanvas) -> Iterator[tuple[Form, TextCanvas]]:
        """The board with its panels in every form for which there is room, the fullest first."""
        for form in FORMS if self.scene.seats else FORMS[-1:]:
            if form.beside and not room_beside(board, self.width):
                continue
            sheet = board.copy()
            write(self.scene, sheet, self.signs, form, colour=self.colour, width=self.width)
            yield form, sheet
