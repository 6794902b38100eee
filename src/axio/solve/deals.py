"""Deals of play alone whose draws are known: from a seed, or from a recorded game.

Alone, every draw brings one tile from what is left in the bag, and nothing ever goes back into it. So the
n-th draw depends on the draws before it and on no move: a seed stands for one order of all tiles, and play
only decides how many of them come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from ..chance import Generator, seed_bytes
from ..errors import AxioError, WrongPlayers
from ..events import Draw
from ..games import find_variant
from ..games.dominoes.variant import DominoVariant
from ..games.variant import Variant
from ..record import Record, replay
from ..table import Table


@dataclass(frozen=True)
class Deal:
    """A position of play alone and the kinds of tiles that come from the start of the game on.

    Without a seed the kinds are those of a record: what would have come after them, nobody knows.
    """

    variant: DominoVariant
    kinds: tuple[int, ...]
    seed: int | str | None
    moves: tuple[str, ...] = ()  # that have been made already
    played: Table | None = None  # the game that the deal was taken from

    def table(self) -> Table:
        """A new table at which these tiles come, with the moves made that have been."""
        table = Table(self.variant, self.seed)
        self.deal_to(table)
        for move in self.moves:
            self.play_at(table, move)
        return table

    def play_at(self, table: Table, move: Any) -> None:
        """Make a move at a table of this deal, and let the next tile come. Raises `IllegalMove`."""
        table.play(move)
        self.deal_to(table)

    def deal_to(self, table: Table) -> None:
        """Draw what is due at a table without a seed, as far as it is known."""
        while table.draw_due and table.plies < len(self.kinds):
            table.draw(self.variant.kinds[self.kinds[table.plies]])


def deal_of_seed(name: str, seed: int | str) -> Deal:
    """The deal that a table of this game for one player makes from a seed. Raises `AxioError`."""
    variant = solvable(find_variant(name, 1))
    seed_bytes(seed)  # raises for a seed that cannot be written
    bag = [variant.tileset[kind] for kind in variant.kinds]
    lots = Generator(f"{seed}/deal")
    kinds = []
    while left := sum(bag):
        nth, kind = lots.below(left), 0
        while nth >= bag[kind]:
            nth -= bag[kind]
            kind += 1
        bag[kind] -= 1
        kinds.append(kind)
    return Deal(variant, tuple(kinds), seed)


def deal_of_record(record: Record, *, plies: int | None = None) -> Deal:
    """The deal of a recorded game, after the first so many of its moves (none, if nothing is said).

    Raises `BadRecord` for a record that the rules contradict, and `AxioError` for a game that is not
    one player's, or has not so many moves.
    """
    played = replay(record)
    if played.players != 1:
        raise WrongPlayers(
            f"this is a game of {played.players} players; only games of one player can be solved"
        )
    variant = solvable(played.variant)
    moves = tuple(map(str, played.moves))
    plies = plies or 0
    if not 0 <= plies <= len(moves):
        raise AxioError(f"there is no move {plies} in this game: 0 to {len(moves)}")
    if record.seed is not UNSET:
        kinds = deal_of_seed(variant.game.id, record.seed).kinds
        return Deal(variant, kinds, record.seed, moves[:plies], played)
    drawn = (tile for event in played.events if isinstance(event, Draw) for tile in event.tiles)
    return Deal(variant, tuple(_kind(variant, tile) for tile in drawn), None, moves[:plies], played)


def solvable(variant: Variant) -> DominoVariant:
    """The variant, if its games can be solved. Raises `AxioError`."""
    if not isinstance(variant, DominoVariant):
        raise AxioError(f"games of {variant.game.id} cannot be solved yet, only those with dominoes")
    return variant


def _kind(variant: Variant, tile: str) -> int:
    kind = variant.kind_of(tile)
    assert kind is not None, "the record has been replayed"
    return kind
