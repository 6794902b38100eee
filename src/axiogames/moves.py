"""Moves and their text form.

>>> move = Move.parse("GR k8-j8")
>>> move.tile, move.at
('GR', ('k8', 'j8'))
>>> str(Move.parse("BRG_(P) 2,-1"))
'BRG_(P) 2,-1'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .errors import ParseError, abbreviated

Action: TypeAlias = int  # id of a move, or of an outcome of chance, in the rules of one variant
Seat: TypeAlias = int  # 0 to players - 1, in order of play
TileKind: TypeAlias = int  # index in `Variant.kinds`
Cell: TypeAlias = str  # name of a cell of the board, such as `k8` or `2,-1`
Kind = Literal["place", "exchange", "keep", "pass"]

_PLACE = re.compile(
    r"(?P<tile>[A-Z_]{2,4})(?:\((?P<named>[A-Z])\))?\s+"
    r"(?P<at>[a-z][0-9]{1,2}(?:-[a-z][0-9]{1,2})+|-?[0-9]{1,3},-?[0-9]{1,3})"
)
_EXCHANGE = re.compile(r"exchange(?P<tiles>(?:\s+[A-Z]{2,4})*)")


@dataclass(frozen=True, slots=True)
class Move:
    """A move of a player. `str` writes it as text, `Move.parse` reads it back.

    The letters of a tile are in the order of the cells it covers, so `GR k8-j8` and `RG j8-k8` are the same
    placement. `legal_moves()` always lists the same one of the two.

    Attributes:
        kind: `place`, `exchange`, `keep` or `pass`.
        tile: the letters of the tile placed.
        at: the cells that the tile covers.
        named: the colour that the player names, in games with such a rule.
        tiles: the tiles to exchange; empty for the whole hand.

    >>> Move("place", "GR", ("k8", "j8")) == Move.parse("GR k8-j8")
    True
    """

    kind: Kind
    tile: str = ""
    at: tuple[Cell, ...] = ()
    named: str | None = None
    tiles: tuple[str, ...] = ()

    @classmethod
    def of(cls, move: Move | str) -> Move:
        """Return a move unchanged, or parse its text.

        Args:
            move: a move, or text that `parse` accepts.

        Returns:
            The move.

        Raises:
            ParseError: the argument is neither a move nor the text of one.
        """
        return move if isinstance(move, Move) else cls.parse(move)

    @classmethod
    def parse(cls, text: str) -> Move:
        """Parse a move. Its legality is not checked.

        Args:
            text: such as `GR k8-j8`, `BRG_(P) 2,-1`, `exchange`, `exchange RGB BBR`, `keep` or `pass`.

        Returns:
            The move.

        Raises:
            ParseError: the text is not a move.
        """
        if not isinstance(text, str):
            raise ParseError(f"{abbreviated(text)} is not a move: give a Move, or text such as 'GR k8-j8'")
        text = text.strip()
        if text == "keep":
            return cls("keep")
        if text == "pass":
            return cls("pass")
        if found := _EXCHANGE.fullmatch(text):
            return cls("exchange", tiles=tuple(found["tiles"].split()))
        if found := _PLACE.fullmatch(text):
            at = (found["at"],) if "," in found["at"] else tuple(found["at"].split("-"))
            return cls("place", found["tile"], at, found["named"])
        raise ParseError(
            f"{text[:60]!r} is not a move: write a placement as 'GR k8-j8' or 'BRG_(P) 2,-1', "
            "or one of 'exchange', 'exchange RGB BBR', 'keep', 'pass'"
        )

    def __str__(self) -> str:
        if self.kind == "place":
            named = f"({self.named})" if self.named else ""
            return f"{self.tile}{named} {'-'.join(self.at)}"
        return " ".join((self.kind, *self.tiles))
