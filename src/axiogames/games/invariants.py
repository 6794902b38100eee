"""What holds in every state that a game can reach: checked before a state from outside meets compiled rules.

Compiled rules index arrays with what a state says and ask nothing. So a state that was not made by them, read
from a text or a file, is checked here first. Each game adds its own invariants in a module of this name. They
are chosen so that every legal action and every draw leads from a state that keeps them to one that does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .runtime.state import DRAW, HIDDEN, NO_TILE, OFFER, OVER, PLACE, REMOVE, START

if TYPE_CHECKING:
    from .variant import State, Variant


PHASE_NAMES = {OVER: "over", PLACE: "place", OFFER: "offer", DRAW: "draw", START: "start", REMOVE: "remove"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The fields that all games have, as plain numbers."""

    phase: int
    seat: int
    due: int
    dealing: int
    hands: tuple[tuple[int, ...], ...]  # of the seats in the game; kinds, or `HIDDEN`
    aside: tuple[int, ...]
    bag: tuple[int, ...]  # unseen tiles by kind
    in_bag: int
    removed: tuple[int, ...]  # known to be removed, by kind
    removed_unseen: int  # removed tiles that nobody has seen, and that `bag` counts
    scores: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, variant: Variant, state: State) -> Snapshot:
        """Return the snapshot of a state whose layout is sound."""
        fields = state.dtype.names
        held = state["held"][0].tolist()
        hands = tuple(
            tuple(hand[:count])
            for hand, count in zip(state["hands"][0].tolist(), held[: variant.players], strict=False)
        )
        aside = state["aside"][0, : state["n_aside"][0]].tolist() if "aside" in fields else []
        removed = state["removed"][0].tolist() if "removed" in fields else []
        hidden = sum(kind == HIDDEN for kinds in (*hands, aside) for kind in kinds)
        return cls(
            phase=int(state["phase"][0]),
            seat=int(state["seat"][0]),
            due=int(state["due"][0]),
            dealing=int(state["dealing"][0]),
            hands=hands,
            aside=tuple(aside),
            bag=tuple(state["bag"][0].tolist()),
            in_bag=int(state["in_bag"][0]),
            removed=tuple(removed),
            removed_unseen=int(state["unseen"][0]) - int(state["in_bag"][0]) - hidden,
            scores=tuple(map(tuple, state["scores"][0, : variant.players].tolist())),
        )

    @property
    def held(self) -> tuple[int, ...]:
        """The number of tiles in each hand."""
        return tuple(map(len, self.hands))

    @property
    def hand(self) -> tuple[int, ...]:
        """The hand of the seat whose turn it is."""
        return self.hands[self.seat]

    def capped(self, seat: int, cap: int | None) -> int:
        """Return in how many colours a seat has reached the cap: each has won one extra turn."""
        return sum(points == cap for points in self.scores[seat])

    def off_the_board(self) -> Counter[int]:
        """Return the tiles by kind that do not lie on the board, as far as they are in the game."""
        tiles = Counter(dict(enumerate(self.bag)))
        tiles.update(kind for kinds in (*self.hands, self.aside) for kind in kinds if kind != HIDDEN)
        tiles.update(dict(enumerate(self.removed)))
        return tiles


def layout_violations(variant: Variant, state: State) -> Iterator[str]:
    """What is wrong with the fields of a state by themselves, before anything is looked up with them."""
    kinds, names = len(variant.kinds), state.dtype.names
    hands, held = state["hands"][0], state["held"][0].astype(int)
    room = hands.shape[1]
    if held.min() < 0 or held[: variant.players].max() > variant.hand or held[variant.players :].any():
        yield f"the numbers of tiles held are {held.tolist()}, a hand has 0 to {variant.hand}"
    for seat in range(len(held)):
        yield from _row_violations(
            f"the hand of seat {seat}", hands[seat].tolist(), int(held[seat]), kinds, 1
        )
    if "aside" in names:
        count = int(state["n_aside"][0])
        if not 0 <= count <= room:
            yield f"{count} tiles are laid aside, there can be 0 to {room}"
        yield from _row_violations("what is laid aside", state["aside"][0].tolist(), count, kinds, -1)
    for name in ("bag", "removed", "stack"):
        if name in names and state[name].min() < 0:
            yield f"there are negative numbers in `{name}`"
    if not 0 <= state["in_bag"][0] <= state["unseen"][0] or state["unseen"][0] != state["bag"][0].sum(
        dtype=int
    ):
        yield "the numbers of tiles in the bag and of unseen tiles do not fit the bag"
    if not 0 <= state["seat"][0] < variant.players:
        yield f"there is no seat {state['seat'][0]}, there are 0 to {variant.players - 1}"
    if int(state["phase"][0]) not in PHASE_NAMES:
        yield f"there is no phase {state['phase'][0]}"
    if state["scores"][0, variant.players :].any():
        yield f"there are scores for more than {variant.players} seats"
    if "pad" in names and state["pad"].any():
        yield "bytes that belong to no field are not zero"
    for name in names:
        if state.dtype[name] == np.bool_ and state[name].view(np.uint8)[0] > 1:
            yield f"`{name}` is neither true nor false"


def _row_violations(what: str, row: list[int], count: int, kinds: int, order: int) -> Iterator[str]:
    """Tiles come first and in order (1: ascending), and are all known or all hidden."""
    tiles, rest = row[:count], row[count:]
    hidden = tiles.count(HIDDEN)
    if hidden not in (0, count) or (not hidden and any(kind >= kinds for kind in tiles)):
        yield f"{what} has tiles that do not exist"
    if tiles != sorted(tiles)[::order] or any(kind != NO_TILE for kind in rest):
        yield f"{what} is out of order"


def rebuilt_violations(variant: Variant, state: State, derived: Iterable[str]) -> Iterator[str]:
    """What rules keep up to date beside the board must be what the board says."""
    fresh = variant.new_state()
    variant.read_board(fresh, variant.write_board(state))
    for name in derived:
        if fresh[name].tobytes() != state[name].tobytes():
            yield f"`{name}` does not fit the board"


def shared_violations(variant: Variant, now: Snapshot, phases: Iterable[int]) -> Iterator[str]:
    """The invariants of all games: phases, draws that are due, the deal, and that no tile is lost."""
    if now.phase not in phases:
        known = " ".join(PHASE_NAMES[phase] for phase in sorted(phases))
        yield f"the phase {PHASE_NAMES.get(now.phase, now.phase)!r} does not occur in this game, but {known}"
    if not 0 <= now.seat < variant.players:
        yield f"there is no seat {now.seat}, there are 0 to {variant.players - 1}"
    chance = now.phase >= DRAW
    if chance != (now.due > 0) or now.due < 0:
        yield f"`due` is {now.due}, but it must be above 0 exactly when a draw is due"
    if now.due > now.in_bag:
        yield f"{now.due} tiles are due, and {now.in_bag} are left to draw"
    if now.dealing and not chance:
        yield f"`dealing` is {now.dealing}, but the deal is over when a player moves"
    if not 0 <= now.dealing <= variant.players or (now.dealing and now.seat + now.dealing != variant.players):
        yield (
            f"`dealing` is {now.dealing} at seat {now.seat}, but it counts the seats from this one on "
            f"that have no hand yet: {variant.players - now.seat}"
        )
    if now.phase in (START, REMOVE) and now.dealing != variant.players:
        yield f"`dealing` is {now.dealing} before the deal, it should be {variant.players}"
    if now.aside and (now.phase != DRAW or now.dealing):
        yield "tiles are laid aside only while an exchange is drawn for"
    if variant.exchange_is_public and HIDDEN in now.aside:
        yield "everybody sees the tiles that are laid aside: write them, not ?"
    if any(kind == HIDDEN for kind in now.aside) and now.aside.count(HIDDEN) < len(now.aside):
        yield "what is laid aside is known or hidden, not both"
    yield from _conservation(variant, now)
    if now.dealing:
        yield from _deal_violations(variant, now)


def _conservation(variant: Variant, now: Snapshot) -> Iterator[str]:
    tiles = now.off_the_board()
    for kind, tile in enumerate(variant.kinds):
        if tiles[kind] > variant.tileset[tile]:
            yield f"{tiles[kind]} tiles {tile}, there are {variant.tileset[tile]}"


def _deal_violations(variant: Variant, now: Snapshot) -> Iterator[str]:
    """Seats are dealt in one after the other; nothing else has happened."""
    in_hand = variant.hand - now.due if now.phase == DRAW else 0
    wanted = tuple(
        (variant.hand if seat < now.seat else in_hand if seat == now.seat else 0)
        for seat in range(variant.players)
    )
    if now.held != wanted:
        yield f"the hands have {_listed(now.held)} tiles, but the deal has come to {_listed(wanted)}"
    if any(map(any, now.scores)):
        yield "there are points before the first placement"


def full_hand_violations(variant: Variant, now: Snapshot) -> Iterator[str]:
    """After the deal every other seat has a full hand, unless the bag has run out."""
    for seat, held in enumerate(now.held):
        if seat != now.seat and held < variant.hand and now.in_bag:
            yield f"seat {seat} holds {held} tiles, it should have drawn up to {variant.hand}"


def colours_laid(variant: Variant, now: Snapshot) -> Counter[str]:
    """Return how many symbols of each colour are on the tiles that are neither in hands nor in the bag."""
    off = now.off_the_board()
    counts: Counter[str] = Counter()
    for kind, tile in enumerate(variant.kinds):
        for letter in tile:
            counts[letter] += variant.tileset[tile] - off[kind]
    return counts


def _listed(numbers: Iterable[Any]) -> str:
    return ", ".join(map(str, numbers))


FEW, MANY = 250, 2_000  # sets of cells that one order of search tries before another order is tried
MOST = 50_000  # before the search gives up; it takes some 20 ms


class Tiling:
    """The ways in which tiles can lie on a board, and a search for an exact cover of some of its cells.

    The search covers the outermost cell that is left, in one of four orders. No set of cells is tried twice,
    so the search is short for all boards of games: some 50 sets on average.
    """

    def __init__(self, cells: int, slots: Iterable[Sequence[int]], printed: Iterable[int]) -> None:
        self._printed = sum(1 << cell for cell in printed)
        lowest: list[list[int]] = [[] for _ in range(cells)]
        highest: list[list[int]] = [[] for _ in range(cells)]
        for slot in slots:
            tile = sum(1 << cell for cell in slot)
            lowest[min(slot)].append(tile)
            highest[max(slot)].append(tile)
        self._orders = [
            ([sorted(tiles, reverse=reverse is from_below) for tiles in by_cell], from_below)
            for reverse in (True, False)
            for by_cell, from_below in ((lowest, True), (highest, False))
        ]

    def can_cover(self, laid: np.ndarray) -> bool:
        """Whether whole tiles can cover exactly the cells that are true, those of printed symbols aside.

        Exact for every board whose search ends within `MOST` sets of cells; of others, true.
        """
        cells = as_bits(laid) & ~self._printed
        for most in (FEW, MANY):
            for tiles, from_below in self._orders:
                found = _search(cells, tiles, from_below, most)
                if found is not None:
                    return found
        return _search(cells, *self._orders[0], MOST) is not False


def as_bits(cells: np.ndarray) -> int:
    """Return an array of truth values as the bits of a number, the first one the lowest."""
    return int.from_bytes(np.packbits(cells, bitorder="little").tobytes(), "little")


def _search(cells: int, tiles: Sequence[Sequence[int]], from_below: bool, most: int) -> bool | None:
    """Whether there is an exact cover, `None` if that is not known after so many sets of cells."""
    known, left = {cells}, [cells]
    while left:
        rest = left.pop()
        if not rest:
            return True
        for tile in tiles[((rest & -rest) if from_below else rest).bit_length() - 1]:
            if tile & rest == tile and (fewer := rest ^ tile) not in known:
                known.add(fewer)
                left.append(fewer)
        if len(known) > most:
            return None
    return False
