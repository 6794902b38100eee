"""Rendering of scenes to SVG and PNG. The same scene always gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from html import escape
from itertools import pairwise

from ..optional_deps import require
from . import cards
from .canvas import Canvas, joined, number, path
from .geometry import inset
from .scene import Ground, Mark, Outline, Point, Scene, Symbol, Tile
from .symbols import SPARK
from .theme import DARK, LIGHT, Theme

BOARD = 720.0
"""The longer side of a board, in pixels of the picture."""

UNIT = 64.0
"""Maximum number of pixels per unit, for small boards."""

MARGIN = 24.0
GAP = 20.0
WIDE = 1.45
"""Aspect ratio above which the panels are below the board."""


def render(scene: Scene, *, dark: bool = False) -> str:
    """Return a scene as an SVG document.

    The document has a `viewBox`, a natural size and a title for screen readers. Only the names of the seats
    need a font.
    """
    canvas = Canvas(DARK if dark else LIGHT)
    scale = min(UNIT, BOARD / max(scene.size))
    board = scene.size[0] * scale, scene.size[1] * scale
    if not scene.seats:
        margin = MARGIN if scene.frame or scene.cells else 0.0
        size = board[0] + 2 * margin, board[1] + 2 * margin
        if margin:
            _page(canvas, size)
        Picture(canvas, scene, (margin, margin), scale).render()
        return canvas.document(scene.title, size)
    beside = board[0] <= WIDE * board[1]
    layout = cards.lay_out(scene, room=board[1] if beside else board[0], beside=beside)
    if beside:
        inner = board[0] + GAP + layout.size[0], max(board[1], layout.size[1])
        corner, cards_at = (MARGIN, MARGIN + (inner[1] - board[1]) / 2), (MARGIN + board[0] + GAP, MARGIN)
    else:
        inner = max(board[0], layout.size[0]), board[1] + GAP + layout.size[1]
        corner, cards_at = (MARGIN + (inner[0] - board[0]) / 2, MARGIN), (MARGIN, MARGIN + board[1] + GAP)
    size = inner[0] + 2 * MARGIN, inner[1] + 2 * MARGIN
    _page(canvas, size)
    Picture(canvas, scene, corner, scale).render()
    cards.render(canvas, layout, cards_at, _render_hand)
    return canvas.document(scene.title, size)


def _page(canvas: Canvas, size: Point) -> None:
    width, height = number(size[0]), number(size[1])
    canvas.add(f'<rect width="{width}" height="{height}" rx="16" fill="{canvas.theme.page}"/>')


def _render_hand(canvas: Canvas, scene: Scene, corner: Point, scale: float, *, back: bool = False) -> None:
    Picture(canvas, scene, corner, scale).tiles(back=back)


class Picture:
    """Renders a scene at a position on the canvas."""

    def __init__(self, canvas: Canvas, scene: Scene, corner: Point, scale: float) -> None:
        self.canvas = canvas
        self.theme: Theme = canvas.theme
        self.scene = scene
        self.scale = scale
        self._shift = corner[0] - scene.corner[0] * scale, corner[1] - scene.corner[1] * scale

    def render(self) -> None:
        """Render all layers, from the frame to the labels."""
        self._frame()
        self._cells()
        self.printed()
        self._marks("spent", self._spent)
        self._marks("pyramid", self._pyramid)
        self.tiles()
        self._places()
        self._marks("last", self._last)
        self._labels()

    def _to_pixels(self, point: Point) -> Point:
        return point[0] * self.scale + self._shift[0], point[1] * self.scale + self._shift[1]

    def _outline_pixels(self, outline: Outline) -> Outline:
        return tuple(self._to_pixels(point) for point in outline)

    def _frame(self) -> None:
        if not self.scene.frame:
            return
        line = path(self._outline_pixels(self.scene.frame), 0.55 * self.scale)
        self.canvas.add(
            f'<path d="{line}" transform="translate(0 3)" fill="{self.theme.frame_edge}"/>'
            f'<path d="{line}" fill="{self.theme.frame}" stroke="{self.theme.frame_edge}"/>'
        )

    def _cells(self) -> None:
        """Render the cells. Each shape is defined once, and cells of one colour share a group."""
        theme = self.theme
        fills: dict[Ground, str] = {
            "outer": theme.outer,
            "blocked": theme.blocked,
            "star": theme.star,
            "free": theme.outer,
        }
        groups: dict[str, list[str]] = {}
        for cell in self.scene.cells:
            fill = theme.paints[cell.tint].tint if cell.tint else fills.get(cell.ground, theme.cell)
            line = path(self._relative_pixels(inset(cell.outline, 0.022), cell.centre), 0.1 * self.scale)
            shape = self.canvas.define("path", f' d="{line}"', "")
            groups.setdefault(fill, []).append(self._use(shape, cell.centre, cell.name))
        for fill, uses in groups.items():
            self.canvas.add(joined(uses, f'fill="{fill}"'))
        spark = f' d="{SPARK}" transform="scale({number(0.0064 * self.scale, 3)})" fill="{theme.spark}"'
        stars = [cell.centre for cell in self.scene.cells if cell.ground == "star"]
        self.canvas.add(*(self._use(self.canvas.define("path", spark, ""), centre) for centre in stars))

    def _relative_pixels(self, outline: Outline, centre: Point) -> Outline:
        """Return an outline in pixels relative to a point, for `_use`."""
        return tuple(((x - centre[0]) * self.scale, (y - centre[1]) * self.scale) for x, y in outline)

    def _use(self, name: str, at: Point, cell: str = "") -> str:
        """Return a reference to a definition at a point; `data-cell` names the cell for scripts."""
        x, y = self._to_pixels(at)
        data = f' data-cell="{escape(cell)}"' if cell else ""
        return f'<use{data} href="#{name}" x="{number(x)}" y="{number(y)}"/>'

    def printed(self) -> None:
        """Render the symbols printed on the board."""
        self.canvas.add(joined(self._symbols(self.scene.printed), 'class="printed"'))

    def tiles(self, *, back: bool = False) -> None:
        """Render the tiles with their symbols, or their backs."""
        elements = []
        drawn = {cell.name for cell in self.scene.cells}
        for tile in self.scene.tiles:
            # On a board that grows tile by tile, each tile is a cell.
            cell = tile.cells[0] if len(tile.cells) == 1 and tile.cells[0] not in drawn else ""
            elements.append(self._use(self._define_tile(tile, back), tile.outline[0], cell))
            if not back:
                elements += self._symbols(tile.symbols)
        self.canvas.add(joined(elements, 'class="tiles"'))

    def _symbols(self, symbols: Iterable[Symbol]) -> Iterator[str]:
        return (
            self.canvas.symbol(symbol.letter, self._to_pixels(symbol.at), symbol.size * self.scale)
            for symbol in symbols
        )

    def _define_tile(self, tile: Tile, back: bool) -> str:
        """Define the shape of a tile (shadow, face, wells and edge) and return its id."""
        theme, origin = self.theme, tile.outline[0]
        edge = path(self._relative_pixels(tile.outline, origin), 0.17 * self.scale)
        face = theme.back if back else theme.field if tile.wells else theme.tile
        deep = number(max(1.0, 0.045 * self.scale))
        parts = [
            f'<path d="{edge}" transform="translate(0 {deep})" fill="{theme.shadow}"/>',
            f'<path d="{edge}" fill="{face}"/>',
        ]
        if not back:
            # The first corner of a well is a corner of the tile and has the same rounding.
            wells = "".join(
                path(self._relative_pixels(well, origin), 0.17 * self.scale, 1) for well in tile.wells
            )
            parts.append(f'<path d="{wells}" fill="{theme.tile}"/>' if wells else "")
        rim, pen = theme.card if back else theme.tile_edge, number(min(1.0, 0.04 * self.scale))
        parts.append(f'<path d="{edge}" fill="none" stroke="{rim}" stroke-width="{pen}"/>')
        return self.canvas.define("g", "", "".join(parts))

    def _marks(self, kind: str, render_mark: Callable[[Mark], None]) -> None:
        for mark in self.scene.marks:
            if mark.kind == kind:
                render_mark(mark)

    def _pyramid(self, mark: Mark) -> None:
        """Render a pyramid: facets from the base to the tip, lit from the upper left."""
        base, tip = self._outline_pixels(inset(mark.outline, 0.13)), self._to_pixels(mark.centres[0])
        sides = list(zip(base, base[1:] + base[:1], strict=True))
        for position, (start, end) in enumerate(sides):
            shade = self.theme.facets[position * 4 // len(sides)]
            self.canvas.add(
                f'<path d="{path((start, end, tip))}" fill="{shade}" stroke="{shade}" stroke-width=".5"/>'
            )

    def _spent(self, mark: Mark) -> None:
        base, tip = self._outline_pixels(inset(mark.outline, 0.22)), self._to_pixels(mark.centres[0])
        rays = "".join(f"M{number(x)} {number(y)}L{number(tip[0])} {number(tip[1])}" for x, y in base)
        self.canvas.add(
            f'<path d="{path(base)}{rays}" fill="none" stroke="{self.theme.muted}" stroke-opacity=".45"'
            ' stroke-width="1.5"/>'
        )

    def _places(self) -> None:
        """Render the legal placements: a dot on every cell, linked to the others of the same placement."""
        dots: dict[Point, None] = {}
        lines: dict[tuple[Point, Point], None] = {}
        for mark in self.scene.marks:
            if mark.kind == "place":
                dots.update(dict.fromkeys(mark.centres))
                lines.update(dict.fromkeys((min(pair), max(pair)) for pair in pairwise(mark.centres)))
        if not dots:
            return
        spots = "".join(f"M{self._coordinates(point)}h0" for point in dots)
        joins = "".join(f"M{self._coordinates(start)}L{self._coordinates(end)}" for start, end in lines)
        self.canvas.add(
            f'<g fill="none" stroke="{self.theme.ink}" opacity=".32">',
            f'<path d="{joins}" stroke-width="1.2"/>' if joins else "",
            f'<path d="{spots}" stroke-width="{number(0.17 * self.scale)}"/></g>',
        )

    def _coordinates(self, point: Point) -> str:
        x, y = self._to_pixels(point)
        return f"{number(x)} {number(y)}"

    def _last(self, mark: Mark) -> None:
        line = path(self._outline_pixels(inset(mark.outline, 0.03)), 0.17 * self.scale)
        for colour, width in ((self.theme.glow, 0.13), (self.theme.accent, 0.06)):
            pen = number(width * self.scale)
            self.canvas.add(f'<path d="{line}" fill="none" stroke="{colour}" stroke-width="{pen}"/>')

    def _labels(self) -> None:
        height = max(9.5, min(13.0, 0.24 * self.scale))
        for label in self.scene.labels:
            self.canvas.lettered(label.text, self._to_pixels(label.at), height, colour=self.theme.muted)


def render_png(svg: str, *, width: int) -> bytes:
    """Render an SVG picture as a PNG of `width` pixels.

    Raises:
        MissingDependency: the extra `png` is not installed.
    """
    # Imported on demand: most runs never render a PNG.
    resvg_py = require("resvg_py", "png")
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width))
