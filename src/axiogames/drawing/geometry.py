"""Polygons: cells of square and hexagonal boards, unions, insets and hulls."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from .scene import Outline, Point

ROOT3 = 3**0.5
ROW = ROOT3 / 2
"""Distance between rows of hexagons of width 1."""

_NAME = re.compile(r"([a-z])([0-9]+)")
_SAME = 6  # decimals to which equal corners agree


def letter_number(name: str) -> tuple[int, int]:
    """Split the name of a cell into the indices of its letter (a = 1) and its number."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"not the name of a cell: {name!r}")
    return ord(match[1]) - ord("a") + 1, int(match[2])


def square_centre(name: str) -> Point:
    """Return the centre of a named cell of a square board: letters count to the right, numbers upwards."""
    letter, number = letter_number(name)
    return float(letter), float(-number)


def square(centre: Point, side: float = 1.0) -> Outline:
    """Return the square around `centre`."""
    (x, y), half = centre, side / 2
    return ((x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half))


def rectangle(corner: Point, size: Point) -> Outline:
    """Return the rectangle with the upper left corner `corner`."""
    (x, y), (width, height) = corner, size
    return ((x, y), (x + width, y), (x + width, y + height), (x, y + height))


def hexagon(centre: Point) -> Outline:
    """Return the hexagon of width 1 around `centre`, with a corner on top."""
    x, y = centre
    tall, low = 1 / ROOT3, 0.5 / ROOT3
    return (
        (x, y - tall),
        (x + 0.5, y - low),
        (x + 0.5, y + low),
        (x, y + tall),
        (x - 0.5, y + low),
        (x - 0.5, y - low),
    )


def quarter(corner: Point, right: float, down: float) -> Outline:
    """Return the quarter disc at `corner`, with the radii `right` and `down` (negative: left, up)."""
    steps = 12
    arc = (math.pi / 2 * step / steps for step in range(steps + 1))
    return (corner, *((corner[0] + right * math.cos(a), corner[1] + down * math.sin(a)) for a in arc))


def union(outlines: Iterable[Outline]) -> Outline:
    """Return the outline of polygons that share whole sides and have the same orientation."""
    sides: dict[tuple[Point, Point], None] = {}
    for outline in outlines:
        corners = [(round(x, _SAME), round(y, _SAME)) for x, y in outline]
        for side in zip(corners, corners[1:] + corners[:1], strict=True):
            # A side that occurs in both directions is interior.
            if side[::-1] in sides:
                del sides[side[::-1]]
            else:
                sides[side] = None
    if not sides:
        return ()
    follow = dict(sides.keys())
    edge = [min(follow)]
    while (corner := follow[edge[-1]]) != edge[0]:
        edge.append(corner)
    return _without_straight_corners(edge)


def _without_straight_corners(edge: list[Point]) -> Outline:
    kept = []
    for before, corner, after in zip(edge[-1:] + edge[:-1], edge, edge[1:] + edge[:1], strict=True):
        if abs(_turn(before, corner, after)) > 1e-4:
            kept.append(corner)
    return tuple(kept)


def inset(outline: Outline, by: float) -> Outline:
    """Return the polygon with every side moved inwards by `by`, or outwards if negative."""
    if not outline:
        return ()
    side = by if _area(outline) > 0 else -by
    moved = []
    for before, corner, after in zip(
        outline[-1:] + outline[:-1], outline, outline[1:] + outline[:1], strict=True
    ):
        (ax, ay), (bx, by_) = _direction(before, corner), _direction(corner, after)
        stretch = side / (1 + ax * bx + ay * by_)
        moved.append((corner[0] - (ay + by_) * stretch, corner[1] + (ax + bx) * stretch))
    return tuple(moved)


def hull(points: Iterable[Point]) -> Outline:
    """Return the convex hull of points."""
    ordered = sorted({(round(x, _SAME), round(y, _SAME)) for x, y in points})
    halves: list[list[Point]] = []
    for row in (ordered, ordered[::-1]):
        half: list[Point] = []
        for point in row:
            while len(half) > 1 and _turn(half[-2], half[-1], point) <= 1e-9:
                half.pop()
            half.append(point)
        halves.append(half[:-1])
    return tuple(halves[0] + halves[1])


def box(points: Iterable[Point], margin: float = 0.0) -> tuple[Point, Point]:
    """Return corner and size of the bounding box of points; without points, a unit square."""
    xs, ys = zip(*(tuple(points) or square((0.0, 0.0))), strict=True)
    corner = (min(xs) - margin, min(ys) - margin)
    return corner, (max(xs) + margin - corner[0], max(ys) + margin - corner[1])


def contains(outline: Outline, point: Point) -> bool:
    """Return whether the point is inside the polygon, by the even-odd rule."""
    x, y = point
    inside = False
    for (ax, ay), (bx, by) in zip(outline, outline[1:] + outline[:1], strict=True):
        if (ay > y) != (by > y) and x < ax + (bx - ax) * (y - ay) / (by - ay):
            inside = not inside
    return inside


def _direction(start: Point, end: Point) -> Point:
    length = math.dist(start, end)
    return (end[0] - start[0]) / length, (end[1] - start[1]) / length


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


def _area(outline: Outline) -> float:
    return sum(
        ax * by - bx * ay for (ax, ay), (bx, by) in zip(outline, outline[1:] + outline[:1], strict=True)
    )
