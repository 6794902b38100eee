"""The terminal as an output device: its size, colours and characters, and pictures that fit it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click

from ...drawing.scene import Content, Panel
from ...drawing.text import render
from ...model.position import Position
from ...model.view import View

DEFAULT_WIDTH = 80  # columns, without a terminal
MIN_WIDTH = 40
MAX_WIDTH = 160
MIN_PICTURE_HEIGHT = 12  # lines, in a window of any height
CLEAR = "\x1b[2J\x1b[H"
CLEAR_SCROLLBACK = "\x1b[3J"


@dataclass(frozen=True, slots=True)
class Screen:
    """A terminal, or a file or pipe in its place.

    Attributes:
        colour: whether it shows colours.
        unicode: whether it shows characters outside ASCII.
        width: the number of columns.
        height: the number of lines of the window; `None` without a window.
        terminal: whether it supports escape sequences.
    """

    colour: bool
    unicode: bool
    width: int
    height: int | None
    terminal: bool

    @classmethod
    def of_stdout(cls, *, plain: bool = False) -> Screen:
        """Return the screen that standard output is connected to. `plain` disables colours."""
        is_terminal = sys.stdout.isatty()
        supports_escapes = is_terminal and os.environ.get("TERM") != "dumb"
        size = shutil.get_terminal_size()
        return cls(
            colour=supports_escapes and not plain and not os.environ.get("NO_COLOR"),
            unicode="utf" in (sys.stdout.encoding or "").lower(),
            width=min(max(size.columns, MIN_WIDTH), MAX_WIDTH) if is_terminal else DEFAULT_WIDTH,
            height=size.lines if is_terminal else None,
            terminal=supports_escapes,
        )

    def render(self, position: Position, names: Sequence[str]) -> str:
        """Return a picture of the board, the points and the visible hands.

        It is as large as the window allows, with room for the text below it.
        """
        height = (
            None
            if self.height is None
            else max(self.height - self._text_height(position), MIN_PICTURE_HEIGHT)
        )
        return render.render(
            position.scene(names), colour=self.colour, unicode=self.unicode, width=self.width, height=height
        )

    def _text_height(self, position: Position) -> int:
        """Return the lines needed for moves of others, orientations of tiles, a prompt and its answer."""
        orientation_lines = len(self.render_orientations(position)) if isinstance(position, View) else 0
        return (position.players + 1) // 2 + orientation_lines + 3

    def render_orientations(self, view: View) -> list[str]:
        """Return lines that show the tiles of the seat to move in all orientations.

        There are none in games in which the letters of a tile suffice.
        """
        by_tile = orientations(view)
        if max(map(len, by_tile.values()), default=0) <= 2:
            return []
        shown = tuple(orientation for of_tile in by_tile.values() for orientation in of_tile)
        panel = Panel("", False, (), hand=shown)
        (seat,) = view.variant.drawing.scene(Content(panels=(panel,))).seats
        pictures = [render.render(tile, colour=self.colour, unicode=self.unicode) for tile in seat.hand]
        rows = [shown, *zip(*(picture.splitlines() for picture in pictures), strict=True)]
        width = max(len(click.unstyle(part)) for row in rows for part in row)
        return [
            "  " + "   ".join(part + " " * (width - len(click.unstyle(part))) for part in row) for row in rows
        ]

    def clear(self, *, scrollback: bool = False) -> None:
        """Clear the screen; with `scrollback`, also the lines that have scrolled away."""
        if self.terminal:
            click.echo(CLEAR + (CLEAR_SCROLLBACK if scrollback else ""), nl=False, color=True)
        else:
            click.echo()

    def print(self, text: str = "") -> None:
        """Print one or more lines."""
        click.echo(text, color=self.colour)


def orientations(view: View) -> dict[str, tuple[str, ...]]:
    """Return the legal orientations of each tile of the seat to move, in the order of the hand."""
    found: dict[int | None, dict[str, None]] = {}
    for move in view.legal_moves():
        if move.kind == "place":
            found.setdefault(view.variant.kind_of(move.tile), {})[move.tile] = None
    hand = view.hand(view.turn) if view.turn is not None else ()
    return {tile: tuple(found.get(view.variant.kind_of(tile), {})) for tile in hand}
