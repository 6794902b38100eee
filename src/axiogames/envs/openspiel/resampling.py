"""Where the tiles of a deal can have come from: what happened, told backwards.

Of the tiles that a seat holds after a draw, any may be those that it drew, if those that it had before
explain what it could and could not do then: that it was offered an exchange or not, that it had to pass. Of
the tiles in the bag after a secret exchange, any may be those that came back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from random import Random
from typing import NamedTuple

import numpy as np

from ...errors import IllegalMove
from ...games.runtime.loops import step
from ...games.runtime.signatures import Constants, Int64Rows, Rng, States, loop
from ...games.runtime.xorshift import seed_state
from ...games.variant import State, copied
from ...moves import Move
from ...players.evaluation.rollout_loops import determinize
from ...players.search.determinization import hidden_tile_groups
from .history import DRAWN, EXCHANGED, KEPT, PASSED, PLACED, REMOVED, History, HistoryEntry

Tiles = tuple[int, ...]


class Deal(NamedTuple):
    """Who holds what."""

    hands: list[list[int]]
    bag: list[int]  # by kind
    aside: list[int]  # given up in secret, in an exchange whose draw is not over yet
    removed: list[int]  # before the game


class Draw(NamedTuple):
    """Draws of one seat in a row, as numbers of what happened."""

    first: int
    last: int
    placed: int  # the placement that the hand before the draws has to explain, -1: none


class DrawAssignment:
    """What happened in a game up to now, to be explained to one seat by other deals."""

    def __init__(self, play: History, seat: int) -> None:
        self.play, self.seat, self.variant = play, seat, play.variant
        self._before = self._walked()
        self._draws = self._grouped()
        self._draws_of = [
            [n for n in self._draws if play.happened[n].seat == other]
            for other in range(play.variant.players)
        ]
        self._own = self._noted()
        self._possible: dict[tuple[int, Tiles], bool] = {}
        self._dead: set[tuple[int, Tiles]] = set()

    def plan(self, deal: Deal, rng: Random) -> dict[int, Tiles] | None:
        """The tiles of everything that happened, by its number, so that it leads to this deal; or `None`."""
        happened, seat, bag = self.play.happened, self.seat, list(deal.bag)
        hands, removed = [list(hand) for hand in deal.hands], list(deal.removed)
        plan = {n: h.tiles for n, h in enumerate(happened) if h.public or h.seat == seat}
        for other, hand in enumerate(hands):
            if other != seat:
                drawn = self._traced(other, hand, rng)
                if drawn is None:
                    return None
                plan |= drawn
        for n in range(len(happened) - 1, -1, -1):
            this = happened[n]
            if this.what == DRAWN:
                group = self._draws[n]
                cause = group.first - 1
                if n == group.last and cause >= 0 and happened[cause].what == EXCHANGED and this.due == 1:
                    # Before the last draw of an exchange, what was given up was not in the bag.
                    given = plan.get(cause) or _some(bag, len(happened[cause].tiles), rng)
                    plan[cause] = given
                    for kind in () if self.variant.tiles_leave else given:
                        bag[kind] -= 1
                    if min(bag) < 0:
                        return None
                if (
                    n not in plan
                ):  # where exchanges are secret, nothing else has to be explained by what was drawn
                    plan[n] = (self._drawn(n, hands[this.seat], bag, rng),)
                bag[plan[n][0]] += 1
            elif n not in plan:
                plan[n] = tuple(deal.aside) if this.what == EXCHANGED else (removed.pop(),)
            if this.what in (PLACED, EXCHANGED) and this.seat != seat:
                hands[this.seat] += plan[n]
        return plan

    def surely_there(self) -> list[int]:
        """How many unseen tiles of each kind the seat that asks knows to be in play: it had them once."""
        counts = [0] * len(self.variant.kinds)
        came_back = {when for notes in self._own for when, gave in notes if gave}
        for n, this in enumerate(self.play.happened):
            if this.what == PLACED if this.seat != self.seat else this.what == DRAWN:
                counts[this.tiles[0]] = max(counts[this.tiles[0]] - 1, 0)
            if n in came_back:
                for kind in self.play.happened[self._draws[n].first - 1].tiles:
                    counts[kind] += 1
        return counts

    def possible(self, other: int, hand: list[int]) -> bool:
        """Whether what a seat did can be explained, if it holds these tiles now."""
        return self._traced(other, hand, Random(0)) is not None

    def _drawn(self, n: int, hand: list[int], bag: list[int], rng: Random) -> int:
        """Take the tile out of a hand that was drawn by draw `n`: any, unless one is known to be no older.

        What the seat that asks has given up was in the bag. A tile of that kind that is not there now must
        have been drawn since, by any of the draws since.
        """
        free = []
        for i in rng.sample(range(len(hand)), len(hand)):
            since = self._given_up(hand[i], n) if bag[hand[i]] == 0 else -1
            if since < 0:
                free.append(i)
            elif rng.random() * sum(since < m <= n for m in self._draws_of[self.play.happened[n].seat]) < 1:
                return hand.pop(i)
        return hand.pop(rng.choice(free) if free else rng.randrange(len(hand)))

    def _given_up(self, kind: int, n: int) -> int:
        """When the seat that asks last gave up such a tile, if it has not drawn one since; -1: never."""
        for when, gave in reversed(self._own[kind]):
            if when < n:
                return when if gave else -1
        return -1

    # ------------------------------------------------------------ one seat's draws

    def _traced(self, other: int, hand: list[int], rng: Random) -> dict[int, Tiles] | None:
        """When a seat drew what, if it holds these tiles now; nothing where exchanges are secret."""
        if not self.variant.exchange_is_public:
            return {} if self._explains_passes(other, hand) else None
        drawn: dict[int, Tiles] = {}
        end = len(self.play.happened) - 1
        return drawn if self._back(other, end, sorted(hand), rng, drawn) else None

    def _back(self, other: int, n: int, hand: list[int], rng: Random, drawn: dict[int, Tiles]) -> bool:
        """Go back from a number of what happened to the start; whether that can be explained."""
        happened = self.play.happened
        while n >= 0 and not (happened[n].what == DRAWN and happened[n].seat == other):
            if happened[n].seat == other and happened[n].what in (PLACED, EXCHANGED):
                hand = sorted((*hand, *happened[n].tiles))
            n -= 1
        if n < 0:
            return True
        if (n, tuple(hand)) in self._dead:
            return False
        group = self._draws[n]
        for some, rest in _parted(hand, n - group.first + 1, rng):
            if group.placed >= 0 and not self._explains(group.placed, (*rest, *happened[group.placed].tiles)):
                continue
            if self._back(other, group.first - 1, rest, rng, drawn):
                drawn |= {group.first + i: (kind,) for i, kind in enumerate(some)}
                return True
        self._dead.add((n, tuple(hand)))
        return False

    def _explains_passes(self, other: int, hand: list[int]) -> bool:
        """Whether a seat had to pass when it did. It has drawn nothing since: the bag was empty."""
        held = list(hand)
        for n in range(len(self.play.happened) - 1, -1, -1):
            this = self.play.happened[n]
            if this.seat == other:
                if this.what in (DRAWN, EXCHANGED):
                    break
                held += this.tiles
                if this.what == PASSED and not self._explains(n, tuple(held)):
                    return False
        return True

    def _explains(self, n: int, hand: Tiles) -> bool:
        """Whether the game would have gone on the same way if the seat had held these tiles before a move."""
        key = (n, tuple(sorted(hand)))
        if key not in self._possible:
            state, this = copied(self._before[n]), self.play.happened[n]
            state["hands"][0, this.seat, : len(hand)] = key[1]
            refused = self.variant.kernels[step](self.variant.constants, state, this.action, True)
            later = self.play.happened[n + 1 :]
            phase = later[0].phase if later else self.play.phase
            self._possible[key] = not refused and bool(state["phase"][0] == phase)
        return self._possible[key]

    # ------------------------------------------------------------ what is looked up

    def _walked(self) -> dict[int, State]:
        """The states before moves of others, by the number of what happened."""
        state, before = self.variant.new_state(), {}
        for n, this in enumerate(self.play.happened):
            if this.what in (PLACED, PASSED) and this.seat != self.seat:
                before[n] = copied(state)
            self.variant.kernels[step](self.variant.constants, state, this.action, False)
        return before

    def _noted(self) -> list[list[tuple[int, bool]]]:
        """For each kind, when the seat that asks drew such a tile (`False`) or had given one up (`True`)."""
        happened = self.play.happened
        noted: list[list[tuple[int, bool]]] = [[] for _ in self.variant.kinds]
        for n, draw in sorted(self._draws.items()):
            if happened[n].seat != self.seat:
                continue
            noted[happened[n].number].append((n, False))
            cause = happened[draw.first - 1] if draw.first else None
            if n == draw.last and cause is not None and cause.what == EXCHANGED:
                for kind in cause.tiles:
                    noted[kind].append((n, True))
        return noted

    def _grouped(self) -> dict[int, Draw]:
        """For each draw, those that it was made with."""
        happened, groups = self.play.happened, {}
        first = 0
        for n, this in enumerate(happened):
            if this.what != DRAWN:
                continue
            if n == 0 or happened[n - 1].what != DRAWN or happened[n - 1].seat != this.seat:
                first = n
            cause = first - 2 if first > 1 and happened[first - 1].what == KEPT else first - 1
            explained = cause >= 0 and happened[cause].what == PLACED and this.seat != self.seat
            for i in range(first, n + 1):
                groups[i] = Draw(first, n, cause if explained else -1)
        return groups


def _parted(hand: list[int], count: int, rng: Random) -> Iterator[tuple[list[int], list[int]]]:
    """All ways to part a hand into so many tiles and the rest, by lot."""
    if count == len(hand):
        yield rng.sample(hand, count), []
        return
    ways = list(combinations(range(len(hand)), count))
    rng.shuffle(ways)
    tried = set()
    for way in ways:
        some = [hand[i] for i in way]
        if tuple(some) not in tried:
            tried.add(tuple(some))
            yield rng.sample(some, count), [kind for i, kind in enumerate(hand) if i not in way]


def _some(bag: list[int], count: int, rng: Random) -> Tiles:
    """So many tiles of a bag, by lot."""
    tiles = [kind for kind, n in enumerate(bag) for _ in range(n)]
    return tuple(rng.sample(tiles, min(count, len(tiles))))


GUESSES = 24  # free guesses, before tiles change places
CHANGES = 6  # of places for each hidden tile
WALKS = 8


def resample(play: History, seat: int, rng: Callable[[], float]) -> History:
    """A game in which a seat has learned the same: the same one, if no other is found."""
    if seat not in play.guesses:
        play.guesses[seat] = Resampler(play, seat)
    guessing: Resampler = play.guesses[seat]
    return guessing.another(Random(int(rng() * 2**53)))


class Resampler:
    """What is needed to deal one game anew for one seat, again and again."""

    def __init__(self, play: History, seat: int) -> None:
        self.play, self.seat, self.variant = play, seat, play.variant
        view = play.view(seat)
        self.known: State = view.state
        self.hidden = hidden_tile_groups(view)
        self.told = play.history_for(seat)
        self.tracing = DrawAssignment(play, seat)
        # Tiles that were removed before the game are unseen, but none of those that it knows to be there.
        self.removed = sum(happening.what == REMOVED for happening in play.happened)
        self.removable = _tiles(self.known["bag"][0] - np.array(self.tracing.surely_there()))
        self.others = [other for other in range(play.variant.players) if other != seat]

    def another(self, rng: Random) -> History:
        """A game that could be this one."""
        for guess in range(GUESSES + WALKS):
            deal = self._guess(rng) if guess < GUESSES else self._changed(rng)
            plan = self.tracing.plan(deal, rng)
            other = self._played(plan) if plan is not None else None
            if other is not None:
                return other
        return self.play.copy()

    def _guess(self, rng: Random) -> Deal:
        """Any unseen tiles where tiles are hidden."""
        state, variant = copied(self.known), self.variant
        removed = rng.sample(self.removable, self.removed)
        np.subtract.at(state["bag"][0], removed, 1)
        state["unseen"] -= self.removed
        variant.kernels[resample_one](variant.constants, state, *self.hidden, seed_state(rng.getrandbits(63)))
        return self._dealt(state, removed)

    def _dealt(self, state: State, removed: list[int]) -> Deal:
        """Who holds what in a state; what is nowhere else was laid aside in secret."""
        hands = [_hand(state, other) for other in range(self.variant.players)]
        bag: list[int] = state["bag"][0].tolist()
        left = Counter(_tiles(self.known["bag"][0]))
        for tiles in (_tiles(state["bag"][0]), removed, *(hands[other] for other in self.others)):
            left.subtract(tiles)
        return Deal(hands, bag, list(left.elements()), removed)

    def _changed(self, rng: Random) -> Deal:
        """The true deal after hidden tiles have changed places many times, as far as that stayed possible."""
        truth = self.play.state
        deal = self._dealt(truth, _tiles(truth["removed"][0]) if self.removed else [])
        bag = _tiles(truth["bag"][0])
        places = [deal.aside, deal.removed, *(deal.hands[other] for other in self.others)]
        hidden = [(place, n) for place in places for n in range(len(place))]
        spots = hidden + [(bag, n) for n in range(len(bag))]
        for _ in range(CHANGES * len(hidden)):
            (here, i), (there, j) = rng.choice(hidden), rng.choice(spots)
            here[i], there[j] = there[j], here[i]
            touched = [
                other for other in self.others if deal.hands[other] is here or deal.hands[other] is there
            ]
            if not all(self.tracing.possible(other, deal.hands[other]) for other in touched):
                here[i], there[j] = there[j], here[i]
        return deal._replace(bag=np.bincount(bag, minlength=len(deal.bag)).tolist())

    def _played(self, plan: dict[int, tuple[int, ...]]) -> History | None:
        """The game with the tiles of a plan, if the rules allow it and the seat learns the same."""
        other = History(self.variant)
        try:
            for n, happening in enumerate(self.play.happened):
                if other.phase != happening.phase:
                    return None
                other.apply(self._number(other, happening, plan.get(n, ())))
        except IllegalMove:
            return None
        same = other.phase == self.play.phase and other.history_for(self.seat) == self.told
        return other if same else None

    def _number(self, other: History, happening: HistoryEntry, tiles: tuple[int, ...]) -> int:
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


@loop(parts=(determinize,))
def resample_one(
    constants: Constants, states: States, hidden_counts: Int64Rows, barred: Int64Rows, rng: Rng
) -> None:
    """Fill in what a view does not show."""
    determinize(constants[0], states[0], hidden_counts, barred, rng)  # type: ignore[no-untyped-call]
