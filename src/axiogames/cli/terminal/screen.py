"""What a person sees: boards and hands, as the terminal can show them. It is only ever given a view."""

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

USUAL = 80
NARROWEST = 40
WIDEST = 160
LOWEST = 12  # lines of a picture, however low the window
CLEAR = "\x1b[2J\x1b[H"
FORGET = "\x1b[3J"  # what has scrolled away, too


@dataclass(frozen=True, slots=True)
class Screen:
    """A terminal, or whatever takes the place of one."""

    colour: bool
    unicode: bool
    width: int
    height: int | None  # lines of the window, where there is one
    terminal: bool

    @classmethod
    def of_terminal(cls, *, plain: bool = False) -> Screen:
        """What standard output can show."""
        is_terminal = sys.stdout.isatty()
        steers = is_terminal and os.environ.get("TERM") != "dumb"
        size = shutil.get_terminal_size()
        return cls(
            colour=steers and not plain and not os.environ.get("NO_COLOR"),
            unicode="utf" in (sys.stdout.encoding or "").lower(),
            width=min(max(size.columns, NARROWEST), WIDEST) if is_terminal else USUAL,
            height=size.lines if is_terminal else None,
            terminal=steers,
        )

    def drawn(self, position: Position, names: Sequence[str]) -> str:
        """The board with everybody's points, and the hands that the position knows.

        It is drawn as roomily as the window allows, with lines left for what is said below it.
        """
        height = None if self.height is None else max(self.height - self._below(position), LOWEST)
        return render.render(
            position.scene(names), colour=self.colour, unicode=self.unicode, width=self.width, height=height
        )

    def _below(self, position: Position) -> int:
        """Lines for what the others did, for tiles in hand that are shown, a question and its answer."""
        turned = len(self.turned(position)) if isinstance(position, View) else 0
        return (position.players + 1) // 2 + turned + 3

    def turned(self, view: View) -> list[str]:
        """The tiles of the seat to move, turned in every way, where letters alone do not show that."""
        turns = ways(view)
        if max(map(len, turns.values()), default=0) <= 2:
            return []
        shown = tuple(way for of_tile in turns.values() for way in of_tile)
        panel = Panel("", False, (), hand=shown)
        (seat,) = view.variant.drawing.scene(Content(panels=(panel,))).seats
        pictures = [render.render(tile, colour=self.colour, unicode=self.unicode) for tile in seat.hand]
        rows = [shown, *zip(*(picture.splitlines() for picture in pictures), strict=True)]
        wide = max(len(click.unstyle(part)) for row in rows for part in row)
        return [
            "  " + "   ".join(part + " " * (wide - len(click.unstyle(part))) for part in row) for row in rows
        ]

    def clear(self, *, for_good: bool = False) -> None:
        """Start at the top of an empty screen; `for_good` lets nobody scroll back either."""
        if self.terminal:
            click.echo(CLEAR + (FORGET if for_good else ""), nl=False, color=True)
        else:
            click.echo()

    def say(self, text: str = "") -> None:
        """Print a line, or lines."""
        click.echo(text, color=self.colour)


def ways(view: View) -> dict[str, tuple[str, ...]]:
    """How each tile of the seat to move may be written, in the order of the hand; none if it has no place."""
    found: dict[int | None, dict[str, None]] = {}
    for move in view.legal_moves():
        if move.kind == "place":
            found.setdefault(view.variant.kind_of(move.tile), {})[move.tile] = None
    hand = view.hand(view.turn) if view.turn is not None else ()
    return {tile: tuple(found.get(view.variant.kind_of(tile), {})) for tile in hand}
