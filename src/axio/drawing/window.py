"""The part of a board that a small terminal shows: around the last move, whole cells only."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from axio.drawing.scene import Grid, Label, Outline, Scene
from axio.drawing.sheet import Box, Spot

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
