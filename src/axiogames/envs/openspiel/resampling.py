"""Resampling: other histories that a seat cannot tell from the real one, for `resample_from_infostate`.

A deal of the hidden tiles is sampled first, then the history is traced backwards: any tile that a seat holds
after a draw may be one that it drew, if the rest of its hand explains what it could and could not do before,
such as being offered an exchange or having to pass. Any tile in the bag after a secret exchange may be one
that came back.
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
from ...games.runtime.signatures import Constants, Rng, States, loop
from ...games.runtime.xorshift import seed_state
from ...games.variant import State, copied
from ...moves import Action, Move, Seat, TileKind
from ...players.evaluation.hidden_tiles import HiddenTiles, determinize
from ...players.search.determinization import hidden_tiles
from .history import DRAWN, EXCHANGED, KEPT, PASSED, PLACED, REMOVED, History, HistoryEntry

Tiles = tuple[TileKind, ...]


class Deal(NamedTuple):
    """The location of every tile that is not on the board."""

    hands: list[list[TileKind]]
    bag: list[int]  # by kind
    aside: list[TileKind]  # given up in secret, in an exchange whose draw is not finished
    removed: list[TileKind]  # before the game


class DrawGroup(NamedTuple):
    """Consecutive draws of one seat, by the indices of their entries."""

    start: int
    last: int
    placed: int  # the placement that the hand before the draws has to explain, or -1


class DrawAssignment:
    """Assigns tiles to the draws and secret exchanges of a history, so that they lead to another deal.

    Args:
        play: the history.
        seat: the seat that must not be able to tell the difference.
    """

    def __init__(self, play: History, seat: Seat) -> None:
        self.play, self.seat, self.variant = play, seat, play.variant
        self._states = self._states_before_moves()
        self._groups = self._grouped_draws()
        self._draws_of = [
            [n for n in self._groups if play.entries[n].seat == other]
            for other in range(play.variant.players)
        ]
        self._own = self._own_tiles()
        self._explained: dict[tuple[int, Tiles], bool] = {}
        self._dead_ends: set[tuple[int, Tiles]] = set()

    def plan(self, deal: Deal, rng: Random) -> dict[int, Tiles] | None:
        """Return the tiles of every entry, by index, that lead to a deal, or `None` if it is impossible."""
        entries, seat, bag = self.play.entries, self.seat, list(deal.bag)
        hands, removed = [list(hand) for hand in deal.hands], list(deal.removed)
        plan = {n: e.tiles for n, e in enumerate(entries) if e.public or e.seat == seat}
        for other, hand in enumerate(hands):
            if other != seat:
                drawn = self._traced(other, hand, rng)
                if drawn is None:
                    return None
                plan |= drawn
        for n in range(len(entries) - 1, -1, -1):
            entry = entries[n]
            if entry.event == DRAWN:
                group = self._groups[n]
                cause = group.start - 1
                if n == group.last and cause >= 0 and entries[cause].event == EXCHANGED and entry.due == 1:
                    # Before the last draw of an exchange, the tiles given up were not in the bag.
                    returned = plan.get(cause) or _sample(bag, len(entries[cause].tiles), rng)
                    plan[cause] = returned
                    if not self.variant.tiles_leave:
                        for kind in returned:
                            bag[kind] -= 1
                    if min(bag) < 0:
                        return None
                if n not in plan:  # exchanges are secret: draws do not have to explain anything else
                    plan[n] = (self._drawn(n, hands[entry.seat], bag, rng),)
                bag[plan[n][0]] += 1
            elif n not in plan:
                plan[n] = tuple(deal.aside) if entry.event == EXCHANGED else (removed.pop(),)
            if entry.event in (PLACED, EXCHANGED) and entry.seat != seat:
                hands[entry.seat] += plan[n]
        return plan

    def known_in_play(self) -> list[int]:
        """Return the number of unseen tiles of each kind that the seat knows to be in play: it held them."""
        counts = [0] * len(self.variant.kinds)
        returns = {n for tiles in self._own for n, gave_up in tiles if gave_up}
        for n, entry in enumerate(self.play.entries):
            # Its own tiles are seen when it draws them, those of other seats when they are placed.
            if entry.event == (DRAWN if entry.seat == self.seat else PLACED):
                counts[entry.tiles[0]] = max(counts[entry.tiles[0]] - 1, 0)
            if n in returns:
                for kind in self.play.entries[self._groups[n].start - 1].tiles:
                    counts[kind] += 1
        return counts

    def possible(self, other: Seat, hand: list[TileKind]) -> bool:
        """Return whether a hand that a seat holds now can explain its moves."""
        return self._traced(other, hand, Random(0)) is not None

    def _drawn(self, n: int, hand: list[TileKind], bag: list[int], rng: Random) -> TileKind:
        """Remove the tile of draw `n` from a hand: a random one, unless another is known to be as recent.

        A tile that the observing seat gave up was in the bag. If that kind is not in the bag now, it must
        have been drawn since, by any later draw.
        """
        free = []
        for i in rng.sample(range(len(hand)), len(hand)):
            since = self._given_up(hand[i], n) if bag[hand[i]] == 0 else -1
            if since < 0:
                free.append(i)
            elif rng.random() * sum(since < m <= n for m in self._draws_of[self.play.entries[n].seat]) < 1:
                return hand.pop(i)
        return hand.pop(rng.choice(free) if free else rng.randrange(len(hand)))

    def _given_up(self, kind: TileKind, n: int) -> int:
        """Return the index at which the observing seat last gave up such a tile before entry `n`.

        It is -1 if the seat never did, or has drawn one since.
        """
        for when, gave_up in reversed(self._own[kind]):
            if when < n:
                return when if gave_up else -1
        return -1

    # ------------------------------------------------------------ draws of one seat

    def _traced(self, other: Seat, hand: list[TileKind], rng: Random) -> dict[int, Tiles] | None:
        """Return the tiles of each draw of a seat that lead to a hand, or `None` if it is impossible.

        Where exchanges are secret, draws are assigned later, and the result is empty.
        """
        if not self.variant.exchange_is_public:
            return {} if self._explains_passes(other, hand) else None
        drawn: dict[int, Tiles] = {}
        last = len(self.play.entries) - 1
        return drawn if self._trace_back(other, last, sorted(hand), rng, drawn) else None

    def _trace_back(
        self, other: Seat, n: int, hand: list[TileKind], rng: Random, drawn: dict[int, Tiles]
    ) -> bool:
        """Assign the draws of a seat from entry `n` back to the start; return whether that is possible."""
        entries = self.play.entries
        while n >= 0 and not (entries[n].event == DRAWN and entries[n].seat == other):
            if entries[n].seat == other and entries[n].event in (PLACED, EXCHANGED):
                hand = sorted((*hand, *entries[n].tiles))
            n -= 1
        if n < 0:
            return True
        if (n, tuple(hand)) in self._dead_ends:
            return False
        group = self._groups[n]
        for tiles, rest in _splits(hand, n - group.start + 1, rng):
            if group.placed >= 0 and not self._explains(group.placed, (*rest, *entries[group.placed].tiles)):
                continue
            if self._trace_back(other, group.start - 1, rest, rng, drawn):
                drawn |= {group.start + i: (kind,) for i, kind in enumerate(tiles)}
                return True
        self._dead_ends.add((n, tuple(hand)))
        return False

    def _explains_passes(self, other: Seat, hand: list[TileKind]) -> bool:
        """Return whether a seat with this hand had to pass when it did.

        It has drawn nothing since then, as the bag was empty.
        """
        held = list(hand)
        for n in range(len(self.play.entries) - 1, -1, -1):
            entry = self.play.entries[n]
            if entry.seat == other:
                if entry.event in (DRAWN, EXCHANGED):
                    break
                held += entry.tiles
                if entry.event == PASSED and not self._explains(n, tuple(held)):
                    return False
        return True

    def _explains(self, n: int, hand: Tiles) -> bool:
        """Return whether the game would have continued as it did with this hand before entry `n`."""
        key = (n, tuple(sorted(hand)))
        if key not in self._explained:
            state, entry = copied(self._states[n]), self.play.entries[n]
            state["hands"][0, entry.seat, : len(hand)] = key[1]
            refused = self.variant.kernels[step](self.variant.constants, state, entry.action, True)
            later = self.play.entries[n + 1 :]
            phase = later[0].phase if later else self.play.phase
            self._explained[key] = not refused and bool(state["phase"][0] == phase)
        return self._explained[key]

    # ------------------------------------------------------------ indices

    def _states_before_moves(self) -> dict[int, State]:
        """Return the states before placements and passes of other seats, by index of the entry."""
        state, before = self.variant.new_state(), {}
        for n, entry in enumerate(self.play.entries):
            if entry.event in (PLACED, PASSED) and entry.seat != self.seat:
                before[n] = copied(state)
            self.variant.kernels[step](self.variant.constants, state, entry.action, False)
        return before

    def _own_tiles(self) -> list[list[tuple[int, bool]]]:
        """Return for each kind when the observing seat drew a tile (`False`) or had given one up (`True`)."""
        entries = self.play.entries
        own: list[list[tuple[int, bool]]] = [[] for _ in self.variant.kinds]
        for n, group in sorted(self._groups.items()):
            if entries[n].seat != self.seat:
                continue
            own[entries[n].action].append((n, False))
            cause = entries[group.start - 1] if group.start else None
            if n == group.last and cause is not None and cause.event == EXCHANGED:
                for kind in cause.tiles:
                    own[kind].append((n, True))
        return own

    def _grouped_draws(self) -> dict[int, DrawGroup]:
        """Return the group of each draw, by index of the entry."""
        entries, groups = self.play.entries, {}
        start = 0
        for n, entry in enumerate(entries):
            if entry.event != DRAWN:
                continue
            if n == 0 or entries[n - 1].event != DRAWN or entries[n - 1].seat != entry.seat:
                start = n
            cause = start - 2 if start > 1 and entries[start - 1].event == KEPT else start - 1
            explains = cause >= 0 and entries[cause].event == PLACED and entry.seat != self.seat
            for i in range(start, n + 1):
                groups[i] = DrawGroup(start, n, cause if explains else -1)
        return groups


def _splits(hand: list[TileKind], count: int, rng: Random) -> Iterator[tuple[list[TileKind], list[TileKind]]]:
    """Yield all ways to split a hand into `count` tiles and the rest, in random order."""
    if count == len(hand):
        yield rng.sample(hand, count), []
        return
    choices = list(combinations(range(len(hand)), count))
    rng.shuffle(choices)
    tried = set()
    for choice in choices:
        tiles = [hand[i] for i in choice]
        if tuple(tiles) not in tried:
            tried.add(tuple(tiles))
            yield rng.sample(tiles, count), [kind for i, kind in enumerate(hand) if i not in choice]


def _sample(bag: list[int], count: int, rng: Random) -> Tiles:
    """Sample tiles from a bag."""
    tiles = [kind for kind, n in enumerate(bag) for _ in range(n)]
    return tuple(rng.sample(tiles, min(count, len(tiles))))


INDEPENDENT_TRIES = 24  # independent deals, before tiles are swapped in the real one
SWAP_TRIES = 8
SWAPS = 6  # per hidden tile


def resample(play: History, seat: Seat, rng: Callable[[], float]) -> History:
    """Return a history that a seat cannot tell from `play`: `play` itself if no other one is found."""
    if seat not in play.resamplers:
        play.resamplers[seat] = Resampler(play, seat)
    resampler: Resampler = play.resamplers[seat]
    return resampler.sample(Random(int(rng() * 2**53)))


class Resampler:
    """Samples histories that a seat cannot tell from a given one."""

    def __init__(self, play: History, seat: Seat) -> None:
        self.play, self.seat, self.variant = play, seat, play.variant
        view = play.view(seat)
        self.known: State = view.state
        self.hidden = hidden_tiles(view)
        self.text = play.history_for(seat)
        self.assignment = DrawAssignment(play, seat)
        # Tiles removed before the game are unseen, and not known to be in play.
        self.n_removed = sum(entry.event == REMOVED for entry in play.entries)
        self.removable = _tiles(self.known["bag"][0] - np.array(self.assignment.known_in_play()))
        self.others = [other for other in range(play.variant.players) if other != seat]

    def sample(self, rng: Random) -> History:
        """Return a history."""
        for trial in range(INDEPENDENT_TRIES + SWAP_TRIES):
            deal = self._independent_deal(rng) if trial < INDEPENDENT_TRIES else self._swapped_deal(rng)
            plan = self.assignment.plan(deal, rng)
            other = self._replayed(plan) if plan is not None else None
            if other is not None:
                return other
        return self.play.copy()

    def _independent_deal(self, rng: Random) -> Deal:
        """Return a deal with random unseen tiles in place of hidden ones."""
        state, variant = copied(self.known), self.variant
        removed = rng.sample(self.removable, self.n_removed)
        np.subtract.at(state["bag"][0], removed, 1)
        state["unseen"] -= self.n_removed
        variant.kernels[resample_one](variant.constants, state, self.hidden, seed_state(rng.getrandbits(63)))
        return self._deal_of(state, removed)

    def _deal_of(self, state: State, removed: list[TileKind]) -> Deal:
        """Return the deal of a state. Tiles that are nowhere else were put aside in secret."""
        hands = [_hand(state, other) for other in range(self.variant.players)]
        bag: list[int] = state["bag"][0].tolist()
        left = Counter(_tiles(self.known["bag"][0]))
        for tiles in (_tiles(state["bag"][0]), removed, *(hands[other] for other in self.others)):
            left.subtract(tiles)
        return Deal(hands, bag, list(left.elements()), removed)

    def _swapped_deal(self, rng: Random) -> Deal:
        """Return the real deal after random swaps of hidden tiles that leave every hand possible."""
        truth = self.play.state
        deal = self._deal_of(truth, _tiles(truth["removed"][0]) if self.n_removed else [])
        bag = _tiles(truth["bag"][0])
        places = [deal.aside, deal.removed, *(deal.hands[other] for other in self.others)]
        hidden = [(place, n) for place in places for n in range(len(place))]
        spots = hidden + [(bag, n) for n in range(len(bag))]
        for _ in range(SWAPS * len(hidden)):
            (first, i), (second, j) = rng.choice(hidden), rng.choice(spots)
            first[i], second[j] = second[j], first[i]
            changed = [
                other for other in self.others if deal.hands[other] is first or deal.hands[other] is second
            ]
            if not all(self.assignment.possible(other, deal.hands[other]) for other in changed):
                first[i], second[j] = second[j], first[i]
        return deal._replace(bag=np.bincount(bag, minlength=len(deal.bag)).tolist())

    def _replayed(self, plan: dict[int, Tiles]) -> History | None:
        """Return the history with the tiles of a plan.

        It is `None` if the rules forbid it or the seat could tell the difference.
        """
        other = History(self.variant)
        try:
            for n, entry in enumerate(self.play.entries):
                if other.phase != entry.phase:
                    return None
                other.apply(self._action(other, entry, plan.get(n, ())))
        except IllegalMove:
            return None
        same = other.phase == self.play.phase and other.history_for(self.seat) == self.text
        return other if same else None

    def _action(self, other: History, entry: HistoryEntry, tiles: Tiles) -> Action:
        if entry.public:
            return entry.action
        if entry.event != EXCHANGED:
            return tiles[0]
        names = tuple(self.variant.kinds[kind] for kind in tiles)
        return self.variant.encode(other.state, Move("exchange", tiles=names))


def _tiles(counts: np.ndarray) -> list[TileKind]:
    tiles: list[TileKind] = np.repeat(np.arange(len(counts)), np.maximum(counts, 0)).tolist()
    return tiles


def _hand(state: State, seat: Seat) -> list[TileKind]:
    kinds: list[TileKind] = state["hands"][0, seat, : state["held"][0, seat]].tolist()
    return kinds


@loop(parts=(determinize,))
def resample_one(constants: Constants, states: States, hidden: HiddenTiles, rng: Rng) -> None:
    """Replace hidden tiles by random unseen ones."""
    determinize(constants[0], states[0], hidden[0], rng)  # type: ignore[no-untyped-call]
