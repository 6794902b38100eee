"""Rendering of a scene as text, within a width and a height where possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..scene import Grid, Scene
from .board import Viewport, Window, render_board, render_label
from .canvas import FAINT, Charset, TextCanvas, find_charset, truncate
from .panels import PANEL_STYLES, PanelStyle, fits_beside, render_panels

MIN_BOARD_LINES = 9
"""Minimum number of lines of the board."""


def render(
    scene: Scene, *, colour: bool = True, unicode: bool = True, width: int = 80, height: int | None = None
) -> str:
    """Return a scene as text.

    Panels are beside the board if they fit, else below. To stay within `height`, the board gets a tighter
    grid and the panels a shorter form. A board that is still too large is shown in part, around the last
    move, with a line that describes the hidden tiles.

    Args:
        scene: the scene to render.
        colour: use escape codes for 256 colours.
        unicode: use Unicode characters; without it the text is pure ASCII.
        width: maximum number of columns.
        height: maximum number of lines, or None for no limit.
    """
    layout = _Layout(scene, find_charset(unicode=unicode), colour, width)
    return layout.fit(height).text(colour=colour, width=width)


@dataclass(frozen=True, slots=True)
class _Board:
    """A board on a canvas: its grid, and its maximum width if only a part is shown."""

    grid: Grid
    canvas: TextCanvas
    columns: int | None = None

    @property
    def line_count(self) -> int:
        """Number of lines."""
        return self.canvas.bounds().height


@dataclass(frozen=True, slots=True)
class _Layout:
    """Tries grids and panel styles until a scene fits."""

    scene: Scene
    charset: Charset
    colour: bool
    width: int

    def fit(self, height: int | None) -> TextCanvas:
        """Return the first arrangement within `height` lines, or else the lowest one."""
        tried = []
        for board in self._board_candidates():
            for _, canvas in self._with_panels(board.canvas):
                line_count = canvas.bounds().height
                if height is None or line_count <= height:
                    return canvas
                tried.append((board, canvas))
        assert height is not None, "without a limit, the first arrangement fits"
        board = min((board for board, _ in tried), key=lambda board: board.line_count)
        # A board with fixed cells is shown whole if it fits without its panels.
        if board.line_count > height or any(cell.ground == "free" for cell in self.scene.cells):
            return self._fit_part(board, height)
        return min((canvas for _, canvas in tried), key=lambda canvas: canvas.bounds().height)

    def _board_candidates(self) -> Iterator[_Board]:
        """Yield the board on every grid that fits the width; if none does, a part on the narrowest grid."""
        wide: dict[Grid, int] = {}
        grids = (self.scene.grid, *self.scene.tighter)
        for grid in grids:
            canvas = self._render_board(grid, Viewport(self.scene, grid).whole())
            wide[grid] = canvas.bounds().width
            if wide[grid] <= self.width:
                yield _Board(grid, canvas)
        least = min(wide.values())
        for grid in grids:
            if self.width < wide[grid] == least:
                part = Viewport(self.scene, grid).part(self.width, None)
                yield _Board(grid, self._render_board(grid, part), self.width)

    def _fit_part(self, board: _Board, height: int) -> TextCanvas:
        """Return a part of the board that fits into `height` lines together with the panels."""
        viewport = Viewport(self.scene, board.grid)
        canvases = []
        for style, canvas in self._with_panels(board.canvas):
            if not style.brief:
                continue
            panels = 0 if style.beside else canvas.bounds().height - board.line_count
            window = viewport.part(board.columns, max(height - panels - 1, MIN_BOARD_LINES))
            canvases += [
                low
                for same, low in self._with_panels(self._render_board(board.grid, window))
                if same == style
            ]
        return min(canvases, key=lambda canvas: max(canvas.bounds().height, height))

    def _render_board(self, grid: Grid, window: Window) -> TextCanvas:
        clip = window.box if window.outside else None
        canvas = render_board(self.scene, grid, self.charset, colour=self.colour, clip=clip)
        for label, spot in window.labels:
            render_label(canvas, label, spot)
        if window.outside:
            box = canvas.bounds()
            canvas.put(box.left, box.bottom, truncate(window.outside, self.width), FAINT)
        return canvas

    def _with_panels(self, board: TextCanvas) -> Iterator[tuple[PanelStyle, TextCanvas]]:
        """Yield the board with its panels in every style that fits, the most detailed first."""
        for style in PANEL_STYLES if self.scene.seats else PANEL_STYLES[-1:]:
            if style.beside and not fits_beside(board, self.width):
                continue
            canvas = board.copy()
            render_panels(self.scene, canvas, self.charset, style, colour=self.colour, width=self.width)
            yield style, canvas
