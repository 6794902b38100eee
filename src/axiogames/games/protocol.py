"""The rules that every game provides for `loops`, as names without a game behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

MOST_PLAYERS = 4


@dataclass(frozen=True, slots=True)
class Option:
    """A rule that a table may switch on."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class Game:
    """A game's facts, as a person would list them."""

    id: str
    name: str
    summary: str
    colours: str
    tiles: int
    hand: int
    cap: int | None
    options: tuple[Option, ...] = ()
    reconstructed: tuple[str, ...] = ()


def _unbound(*_: Any) -> NoReturn:
    raise TypeError("a shared loop was called without a game's rules: bind it with compile.bind first")


action_for: Any = _unbound  # (t, s, number): the action that a number of a batch stands for, -1: none
add_hidden: Any = _unbound  # (t, s, seat, counts, at): count what is hidden, but not in hands or the bag
apply: Any = _unbound  # (t, s, action): carry out a legal action or what chance drew
count_legal: Any = _unbound  # (t, s): how many legal actions there are
has_extra_turn: Any = _unbound  # (t, s): whether the seat that has just moved moves again
progress: Any = _unbound  # (t, s): how much of the game has been played, 0 to 1
greedy_action: Any = _unbound  # (t, s, rng): an action with the most points now, and how many were rated
fallback_action: Any = (
    _unbound  # (t, s, value, desk): what simple play does rather than place for so much, -1: nothing
)
top_placements: Any = _unbound  # (t, s, start, keep, desk): list the placements worth the most now; how many
set_cell: Any = _unbound  # (t, s, place, what): put something on the board, nothing else
legal_actions: Any = _unbound  # (t, s, out): write all legal actions, ascending; how many
sample_chance: Any = _unbound  # (t, s, rng): what chance does next
legal_mask: Any = _unbound  # (t, s, mask): write 1 for the number of every legal action
nth_legal: Any = _unbound  # (t, s, n): the n-th legal action, ascending
number_for: Any = _unbound  # (t, s, action): the number of an action in a batch
expected_gain: Any = _unbound  # (t, s, seat, known, desk): what a seat's next placement is worth on average
non_placements: Any = (
    _unbound  # (t, s, kept, desk, room): add other actions than placements to a list; how many then
)
track_features: Any = (
    _unbound  # (t, s, seat, out): what each track may still gain, in four numbers, see `features`
)
sample_legal: Any = _unbound  # (t, s, rng): a legal action, each as likely as any other
score: Any = _unbound  # (t, s, action): write what an action would score into s.gain
refusal: Any = _unbound  # (t, s, action): why an action may not be done, 0 if it may
observe_board: Any = _unbound  # (t, s, places, out): write the board as everybody sees it
observe_counters: Any = _unbound  # (t, s, seat, out, at): write what else there is to know
