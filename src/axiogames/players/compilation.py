"""The loops that play needs, in the units in which they are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..games import find_variant
from ..games.protocol import MAX_PLAYERS
from ..games.runtime import loops, view_loops
from ..games.runtime.kernels import Kernels
from ..games.variant import Variant
from .bots import choosing
from .bulk.loops import play_on
from .evaluation import rollout_loops
from .search import search_loops

LOOPS = (*loops.LOOPS, *view_loops.LOOPS, *choosing.LOOPS, *rollout_loops.LOOPS, *search_loops.LOOPS)
BULK_LOOPS = (play_on,)  # for simulations of simple bots


class CompileUnit(NamedTuple):
    """A game, and the smallest number of players of the variants that share compiled loops."""

    game: str
    players: int

    @property
    def variant(self) -> Variant:
        """A variant that uses the loops."""
        return find_variant(self.game, self.players)

    @property
    def kernels(self) -> Kernels:
        """The loops."""
        return self.variant.kernels


def compile_units(games: Sequence[str]) -> list[CompileUnit]:
    """Return one unit for each set of loops that is compiled separately."""
    units = {
        find_variant(name, players).kernels.label: CompileUnit(name, players)
        for name in games
        for players in range(MAX_PLAYERS, 0, -1)
    }
    return list(units.values())


def compile_unit(unit: CompileUnit) -> int:
    """Compile the loops that games need, and return their number."""
    return unit.kernels.compile((*LOOPS, *BULK_LOOPS))
