"""Invariants of all reachable states, checked before an external state is passed to compiled rules.

Compiled rules index arrays with fields of the state without bounds checks. A state from a text or a file is
therefore validated first. Each game adds its own invariants in its module `invariants`. The invariants are
inductive: every legal action and every draw leads from a state that satisfies them to another one.
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
    """The fields that all games share, as Python integers."""

    phase: int
    seat: int
    due: int
    dealing: int
    hands: tuple[tuple[int, ...], ...]  # of the seats in the game; kinds, or `HIDDEN`
    aside: tuple[int, ...]
    bag: tuple[int, ...]  # unseen tiles by kind
    in_bag: int
    removed: tuple[int, ...]  # known to be removed, by kind
    removed_unseen: int  # removed tiles of unknown kinds, which `bag` counts
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
        """Number of tiles in each hand."""
        return tuple(map(len, self.hands))

    @property
    def hand(self) -> tuple[int, ...]:
        """Hand of the seat to move."""
        return self.hands[self.seat]

    def capped(self, seat: int, cap: int | None) -> int:
        """Return the number of a seat's colours at the cap, each of which has won an extra turn."""
        return sum(points == cap for points in self.scores[seat])

    def off_the_board(self) -> Counter[int]:
        """Return the number of tiles by kind that are in the game but not on the board."""
        tiles = Counter(dict(enumerate(self.bag)))
        tiles.update(kind for kinds in (*self.hands, self.aside) for kind in kinds if kind != HIDDEN)
        tiles.update(dict(enumerate(self.removed)))
        return tiles


def layout_violations(variant: Variant, state: State) -> Iterator[str]:
    """Yield errors of single fields, which are checked before any of them is used as an index."""
    kinds, names = len(variant.kinds), state.dtype.names
    hands, held = state["hands"][0], state["held"][0].astype(int)
    capacity = hands.shape[1]
    if held.min() < 0 or held[: variant.players].max() > variant.hand or held[variant.players :].any():
        yield f"the hands have {held.tolist()} tiles; a hand has 0 to {variant.hand}"
    for seat in range(len(held)):
        yield from _row_violations(
            f"the hand of seat {seat}", hands[seat].tolist(), int(held[seat]), kinds, 1
        )
    if "aside" in names:
        count = int(state["n_aside"][0])
        if not 0 <= count <= capacity:
            yield f"{count} tiles are set aside; 0 to {capacity} are possible"
        yield from _row_violations(
            "the list of tiles set aside", state["aside"][0].tolist(), count, kinds, -1
        )
    for name in ("bag", "removed", "stack"):
        if name in names and state[name].min() < 0:
            yield f"`{name}` has negative entries"
    if not 0 <= state["in_bag"][0] <= state["unseen"][0] or state["unseen"][0] != state["bag"][0].sum(
        dtype=int
    ):
        yield "`in_bag` and `unseen` do not match the bag"
    if not 0 <= state["seat"][0] < variant.players:
        yield f"there is no seat {state['seat'][0]}: seats are 0 to {variant.players - 1}"
    if int(state["phase"][0]) not in PHASE_NAMES:
        yield f"there is no phase {state['phase'][0]}"
    if state["scores"][0, variant.players :].any():
        yield f"more than {variant.players} seats have scores"
    if "pad" in names and state["pad"].any():
        yield "padding bytes are not zero"
    for name in names:
        if state.dtype[name] == np.bool_ and state[name].view(np.uint8)[0] > 1:
            yield f"`{name}` is not a boolean"


def _row_violations(label: str, row: list[int], count: int, kinds: int, order: int) -> Iterator[str]:
    """Check that `count` tiles come first, sorted (`order` 1: ascending), and are all known or all hidden."""
    tiles, rest = row[:count], row[count:]
    hidden = tiles.count(HIDDEN)
    if hidden not in (0, count) or (not hidden and any(kind >= kinds for kind in tiles)):
        yield f"{label} has tiles that do not exist"
    if tiles != sorted(tiles)[::order] or any(kind != NO_TILE for kind in rest):
        yield f"{label} is not sorted"


def rebuilt_violations(variant: Variant, state: State, derived: Iterable[str]) -> Iterator[str]:
    """Check that derived fields match those of a state with the same board."""
    fresh = variant.new_state()
    variant.read_board(fresh, variant.write_board(state))
    for name in derived:
        if fresh[name].tobytes() != state[name].tobytes():
            yield f"`{name}` does not match the board"


def shared_violations(variant: Variant, now: Snapshot, phases: Iterable[int]) -> Iterator[str]:
    """Check the invariants that all games share: phases, draws, the deal and the number of tiles."""
    if now.phase not in phases:
        known = " ".join(PHASE_NAMES[phase] for phase in sorted(phases))
        yield f"this game has no phase {PHASE_NAMES.get(now.phase, now.phase)!r}: its phases are {known}"
    if not 0 <= now.seat < variant.players:
        yield f"there is no seat {now.seat}: seats are 0 to {variant.players - 1}"
    chance = now.phase >= DRAW
    if chance != (now.due > 0) or now.due < 0:
        yield f"`due` is {now.due}; it must be positive exactly in a chance phase"
    if now.due > now.in_bag:
        yield f"`due` is {now.due}, but only {now.in_bag} tiles are left to draw"
    if now.dealing and not chance:
        yield f"`dealing` is {now.dealing}; it must be 0 in phase {PHASE_NAMES.get(now.phase, now.phase)}"
    if not 0 <= now.dealing <= variant.players or (now.dealing and now.seat + now.dealing != variant.players):
        yield (
            f"`dealing` is {now.dealing} at seat {now.seat}; it counts the seats from this one on "
            f"without a hand: {variant.players - now.seat}"
        )
    if now.phase in (START, REMOVE) and now.dealing != variant.players:
        yield f"`dealing` is {now.dealing}; before the deal it must be {variant.players}"
    if now.aside and (now.phase != DRAW or now.dealing):
        yield "tiles can be set aside only during the draw of an exchange"
    if variant.exchange_is_public and HIDDEN in now.aside:
        yield "tiles set aside are public in this game: write their letters, not ?"
    if any(kind == HIDDEN for kind in now.aside) and now.aside.count(HIDDEN) < len(now.aside):
        yield "the tiles set aside must be either all known or all hidden"
    yield from _conservation(variant, now)
    if now.dealing:
        yield from _deal_violations(variant, now)


def _conservation(variant: Variant, now: Snapshot) -> Iterator[str]:
    tiles = now.off_the_board()
    for kind, tile in enumerate(variant.kinds):
        if tiles[kind] > variant.tileset[tile]:
            yield f"the state has {tiles[kind]} tiles {tile}, the tile set {variant.tileset[tile]}"


def _deal_violations(variant: Variant, now: Snapshot) -> Iterator[str]:
    """Check that seats are dealt to in order, and that nothing else has happened."""
    in_hand = variant.hand - now.due if now.phase == DRAW else 0
    expected = tuple(
        (variant.hand if seat < now.seat else in_hand if seat == now.seat else 0)
        for seat in range(variant.players)
    )
    if now.held != expected:
        yield f"the hands have {_listed(now.held)} tiles; at this point of the deal {_listed(expected)}"
    if any(map(any, now.scores)):
        yield "seats have points before the first placement"


def full_hand_violations(variant: Variant, now: Snapshot) -> Iterator[str]:
    """Check that every seat but the one to move has a full hand, unless the bag is empty."""
    for seat, held in enumerate(now.held):
        if seat != now.seat and held < variant.hand and now.in_bag:
            yield f"seat {seat} holds {held} tiles and must draw up to {variant.hand}"


def colours_laid(variant: Variant, now: Snapshot) -> Counter[str]:
    """Return the number of symbols by colour on all tiles that are neither in hands nor in the bag."""
    off = now.off_the_board()
    counts: Counter[str] = Counter()
    for kind, tile in enumerate(variant.kinds):
        for letter in tile:
            counts[letter] += variant.tileset[tile] - off[kind]
    return counts


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


# Limits on the sets of cells that a search visits: before it switches to another order of search, and before
# it gives up, which takes about 20 ms.
SWITCH_LIMITS = 250, 2_000
LIMIT = 50_000


class Tiling:
    """The placements of tiles on a board, and a search for an exact cover of a set of its cells.

    The search always covers the outermost remaining cell, in one of four orders, and visits no set of cells
    twice. On boards from games it is short: about 50 sets on average.

    Args:
        cells: Number of cells.
        slots: Cells of each placement.
        printed: Cells with printed symbols, which need no tile.
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
        """Return whether whole tiles can cover exactly the cells in the mask `laid`, without printed symbols.

        The answer is exact if a search finishes within `LIMIT` sets of cells, otherwise true.
        """
        cells = as_bits(laid) & ~self._printed
        for limit in SWITCH_LIMITS:
            for tiles, from_below in self._orders:
                found = _search(cells, tiles, from_below, limit)
                if found is not None:
                    return found
        return _search(cells, *self._orders[0], LIMIT) is not False


def as_bits(cells: np.ndarray) -> int:
    """Return a boolean array as the bits of an integer, the first entry as the lowest bit."""
    return int.from_bytes(np.packbits(cells, bitorder="little").tobytes(), "little")


def _search(cells: int, tiles: Sequence[Sequence[int]], from_below: bool, limit: int) -> bool | None:
    """Return whether an exact cover exists, `None` if `limit` sets of cells do not suffice to know."""
    known, left = {cells}, [cells]
    while left:
        rest = left.pop()
        if not rest:
            return True
        for tile in tiles[((rest & -rest) if from_below else rest).bit_length() - 1]:
            if tile & rest == tile and (fewer := rest ^ tile) not in known:
                known.add(fewer)
                left.append(fewer)
        if len(known) > limit:
            return None
    return False
