"""Cropping of scenes to some cells and a margin that shows how the board continues."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from .geometry import box
from .scene import Label, Outline, Point, Scene

AROUND = 0.36
"""Width of the margin, as a share of a cell."""

AWAY = 0.3
"""Distance of the labels from the cropped scene."""

Bounds = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def crop(scene: Scene, names: Collection[str]) -> Scene:
    """Return the part of a scene around the named cells, up to the border where the board ends.

    Labels are placed outside the part. The renderer must clip elements at the bounds of the part.
    """
    cells = {cell.name: cell.outline for cell in scene.cells}
    # On a board that grows tile by tile, each tile is a cell.
    cells |= {tile.cells[0]: tile.outline for tile in scene.tiles if len(tile.cells) == 1}
    inner = _bounds([point for name in names for point in cells[name]])
    outer = _widened(inner, _bounds([point for outline in cells.values() for point in outline]), scene)

    def is_visible(outline: Outline) -> bool:
        left, top, right, bottom = _bounds(outline)
        return left < outer[2] and right > outer[0] and top < outer[3] and bottom > outer[1]

    moved = (replace(label, at=_outside(label, outer)) for label in scene.labels)
    return replace(
        scene,
        corner=outer[:2],
        size=(outer[2] - outer[0], outer[3] - outer[1]),
        cells=tuple(cell for cell in scene.cells if is_visible(cell.outline)),
        printed=tuple(symbol for symbol in scene.printed if is_visible((symbol.at,))),
        tiles=tuple(tile for tile in scene.tiles if is_visible(tile.outline)),
        marks=tuple(mark for mark in scene.marks if is_visible(mark.outline)),
        labels=tuple(label for label in moved if _names_visible_cells(label, inner)),
    )


def _bounds(points: Collection[Point]) -> Bounds:
    (left, top), (width, height) = box(points)
    return left, top, left + width, top + height


def _widened(inner: Bounds, board: Bounds, scene: Scene) -> Bounds:
    """Return the bounds with a margin: on each side a share of the next cells, or the border of the board."""
    (left, top), (width, height) = scene.corner, scene.size
    return (
        inner[0] - AROUND if inner[0] - board[0] > AROUND else left,
        inner[1] - AROUND if inner[1] - board[1] > AROUND else top,
        inner[2] + AROUND if board[2] - inner[2] > AROUND else left + width,
        inner[3] + AROUND if board[3] - inner[3] > AROUND else top + height,
    )


def _outside(label: Label, outer: Bounds) -> Point:
    """Return the position of a label outside the part, on the line that it names."""
    (x, y), (over, down) = label.at, label.along
    if label.row:
        steps = ((outer[0] - AWAY if over > 0 else outer[2] + AWAY) - x) / over
    else:
        steps = ((outer[3] + AWAY if down < 0 else outer[1] - AWAY) - y) / down
    return x + over * steps, y + down * steps


def _names_visible_cells(label: Label, inner: Bounds) -> bool:
    """Return whether whole cells of the row or column of `label` are shown."""
    x, y = label.at
    return inner[1] < y < inner[3] if label.row else inner[0] < x < inner[2]
