"""Other games that a seat could be in, by all that it has learned: hidden tiles are dealt anew.

What is hidden now is guessed as the search does it (`search.hidden`), each tile as likely as any other. Then
the game is told backwards (`tracing`): how the tiles of a hand can have come. A guess that does not
explain what happened is thrown away. Where hardly any guess does, tiles of the true deal change places as far
as what happened stays possible. At last the rules play the new game from its start, and the seat must learn
the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import numpy as np

from ...engine.lots import seeded
from ...engine.signatures import Int64Rows, Rng, States, Tables, loop
from ...engine.thinking import guess_hidden
from ...errors import IllegalMove
from ...games.variant import State, copied
from ...moves import Move
from ...search.hidden import hidden_tiles
from .play import EXCHANGED, REMOVED, Happening, Play
from .tracing import Deal, Tracing

GUESSES = 24  # free guesses, before tiles change places
CHANGES = 6  # of places for each hidden tile
WALKS = 8


def dealt_otherwise(play: Play, seat: int, rng: Callable[[], float]) -> Play:
    """A game in which a seat has learned the same: the same one, if no other is found."""
    if seat not in play.guesses:
        play.guesses[seat] = Guessing(play, seat)
    guessing: Guessing = play.guesses[seat]
    return guessing.another(Random(int(rng() * 2**53)))


class Guessing:
    """What is needed to deal one game anew for one seat, again and again."""

    def __init__(self, play: Play, seat: int) -> None:
        self.play, self.seat, self.variant = play, seat, play.variant
        view = play.view(seat)
        self.known: State = view.state
        self.hidden = hidden_tiles(view)
        self.told = play.history_for(seat)
        self.tracing = Tracing(play, seat)
        # Tiles that were removed before the game are unseen, but none of those that it knows to be there.
        self.removed = sum(happening.what == REMOVED for happening in play.happened)
        self.removable = _tiles(self.known["bag"][0] - np.array(self.tracing.surely_there()))
        self.others = [other for other in range(play.variant.players) if other != seat]

    def another(self, lots: Random) -> Play:
        """A game that could be this one."""
        for guess in range(GUESSES + WALKS):
            deal = self._guess(lots) if guess < GUESSES else self._changed(lots)
            plan = self.tracing.plan(deal, lots)
            other = self._played(plan) if plan is not None else None
            if other is not None:
                return other
        return self.play.copy()

    def _guess(self, lots: Random) -> Deal:
        """Any unseen tiles where tiles are hidden."""
        state, variant = copied(self.known), self.variant
        removed = lots.sample(self.removable, self.removed)
        np.subtract.at(state["bag"][0], removed, 1)
        state["unseen"] -= self.removed
        variant.kernels[guess_one](variant.tables, state, *self.hidden, seeded(lots.getrandbits(63)))
        return self._dealt(state, removed)

    def _dealt(self, state: State, removed: list[int]) -> Deal:
        """Who holds what in a state; what is nowhere else was laid aside in secret."""
        hands = [_hand(state, other) for other in range(self.variant.players)]
        bag: list[int] = state["bag"][0].tolist()
        left = Counter(_tiles(self.known["bag"][0]))
        for tiles in (_tiles(state["bag"][0]), removed, *(hands[other] for other in self.others)):
            left.subtract(tiles)
        return Deal(hands, bag, list(left.elements()), removed)

    def _changed(self, lots: Random) -> Deal:
        """The true deal after hidden tiles have changed places many times, as far as that stayed possible."""
        truth = self.play.state
        deal = self._dealt(truth, _tiles(truth["removed"][0]) if self.removed else [])
        bag = _tiles(truth["bag"][0])
        places = [deal.aside, deal.removed, *(deal.hands[other] for other in self.others)]
        hidden = [(place, n) for place in places for n in range(len(place))]
        spots = hidden + [(bag, n) for n in range(len(bag))]
        for _ in range(CHANGES * len(hidden)):
            (here, i), (there, j) = lots.choice(hidden), lots.choice(spots)
            here[i], there[j] = there[j], here[i]
            touched = [
                other for other in self.others if deal.hands[other] is here or deal.hands[other] is there
            ]
            if not all(self.tracing.possible(other, deal.hands[other]) for other in touched):
                here[i], there[j] = there[j], here[i]
        return deal._replace(bag=np.bincount(bag, minlength=len(deal.bag)).tolist())

    def _played(self, plan: dict[int, tuple[int, ...]]) -> Play | None:
        """The game with the tiles of a plan, if the rules allow it and the seat learns the same."""
        other = Play(self.variant)
        try:
            for n, happening in enumerate(self.play.happened):
                if other.phase != happening.phase:
                    return None
                other.apply(self._number(other, happening, plan.get(n, ())))
        except IllegalMove:
            return None
        same = other.phase == self.play.phase and other.history_for(self.seat) == self.told
        return other if same else None

    def _number(self, other: Play, happening: Happening, tiles: tuple[int, ...]) -> int:
        if happening.public:
            return happening.number
        if happening.what != EXCHANGED:
            return tiles[0]
        names = tuple(self.variant.kinds[kind] for kind in tiles)
        return self.variant.encode(other.state, Move("exchange", tiles=names))


def _tiles(counts: np.ndarray) -> list[int]:
    tiles: list[int] = np.repeat(np.arange(len(counts)), np.maximum(counts, 0)).tolist()
    return tiles


def _hand(state: State, seat: int) -> list[int]:
    kinds: list[int] = state["hands"][0, seat, : state["held"][0, seat]].tolist()
    return kinds


@loop(parts=(guess_hidden,))
def guess_one(tables: Tables, states: States, lots: Int64Rows, barred: Int64Rows, rng: Rng) -> None:
    """Fill in what a view does not show."""
    guess_hidden(tables[0], states[0], lots, barred, rng)  # type: ignore[no-untyped-call]
