"""The conformance suite as a function: checks of a game in the positions of random games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from ..errors import GameDefinitionError
from ..games import find_variant
from ..games.protocol import (
    Rules,
    best_placements,
    chance_outcome,
    count_legal,
    greedy_action,
    legal_actions,
    legal_mask,
    nth_legal,
    refusal,
    sample_legal,
    score,
    tiles_exchanged,
)
from ..games.runtime.evaluation import MAX_POINTS
from ..games.runtime.kernels import Kernels
from ..games.runtime.loops import step
from ..games.runtime.signatures import Actions, Constants, Int, Int64Rows, Int64s, Rng, States, array, loop
from ..games.runtime.state import DRAW, OVER
from ..games.runtime.xorshift import seed_state
from ..games.variant import State, Variant, copied
from ..moves import Move
from ..rng import Generator
from .position import Position
from .record import Record, record_of, replay
from .table import Table
from .view_format import decode_view, encode_view

# Numba infers the types of loops at compilation.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

Mask = Annotated[Any, array(np.uint8)]

OVERRIDES = "the game's rules"
DEFAULTS = "the default rules"


def check_game(
    game: str, players: int = 2, options: Mapping[str, bool] | None = None, *, games: int = 1, seed: int = 0
) -> int:
    """Play random games and check, in each position, the properties that every game must have.

    - Each override of a rule agrees with the default, which follows from `refusal` and `score`.
    - Moves, positions and records round-trip through their texts, the deal included.
    - Views contain no hidden tiles. Decoding an encoded view restores all fields of its state.
    - A move scores what its preview says, and can be undone.

    Args:
        game: the name of a game, registered or built in.
        players: the number of players.
        options: options of the game to switch on, by name.
        games: the number of random games.
        seed: the seed of the first game; the next games use the following numbers.

    Returns:
        The number of positions checked.

    Raises:
        GameDefinitionError: a check failed; the message names the position.
        UnknownGame: there is no game of this name.
        InvalidPlayers: the game is not for this number of players.
        InvalidOption: the game has no such option.
    """
    checks = _Checks(find_variant(game, players, options))
    return sum(checks.play(f"{game} {players} {seed + n}") for n in range(games))


@loop
def list_actions(constants: Constants, states: States, listed: Actions, nth: Actions, counts: Int64s):
    """Write the legal actions as a list and one by one, and both of their counts."""
    c, s = constants[0], states[0]
    counts[0] = legal_actions(c, s, listed)
    counts[1] = count_legal(c, s)
    for n in range(counts[1]):
        nth[n] = nth_legal(c, s, np.int64(n))


@loop
def choose_actions(constants: Constants, states: States, rng: Rng, mask: Mask, chosen: Int64s):
    """Write the mask of legal actions, a random one and a greedy one; -1 if there are none."""
    c, s = constants[0], states[0]
    legal_mask(c, s, mask)
    chosen[0] = chosen[1] = -1
    if count_legal(c, s) > 0:
        chosen[0] = sample_legal(c, s, rng)
        action, _ = greedy_action(c, s, rng)
        chosen[1] = action


@loop
def write_refusals(constants: Constants, states: States, actions: Int, out: Actions):
    """Write the reason against each of the first `actions` ids, 0 for legal ones."""
    for action in range(actions):
        out[action] = refusal(constants[0], states[0], action)


@loop
def list_best(constants: Constants, states: States, gain_keys: Int64Rows, listed: Actions):
    """Write the placements with the highest key and return their number."""
    return best_placements(constants[0], states[0], gain_keys, listed)


@loop
def exchanged_by(constants: Constants, states: States, action: Int):
    """Return the number of tiles that a non-placement exchanges."""
    return tiles_exchanged(constants[0], states[0], action)


@loop
def outcome_of(constants: Constants, states: States, words: Rng):
    """Return the chance outcome that a word selects."""
    return chance_outcome(constants[0], states[0], words[0])


@loop
def total_points(constants: Constants, states: States, action: Int):
    """Return the points of a placement, summed over all tracks."""
    score(constants[0], states[0], action)
    total = np.int64(0)
    for track in range(len(states[0].gain)):
        total += states[0].gain[track]
    return total


class _Checks:
    """The checks of one variant."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        declared: Rules = variant.kernels.declared
        label, dtype = f"{variant.kernels.label}, defaults", variant.opening.dtype
        if "dealing" in dtype.names and "dealing" not in variant.counters:
            raise GameDefinitionError(
                f"{variant.game.id}: `Variant.counters` lacks `dealing`, so the text of a position in "
                "the deal would be read as one after it; list all counters of the state"
            )
        kernels_of = {
            OVERRIDES: variant.kernels,
            DEFAULTS: Kernels(label, declared.without_overrides(), variant.constants, dtype),
        }
        self.loops = {
            source: tuple(
                kernels.make(template, kernels.examples(template))
                for template in (list_actions, choose_actions, list_best)
            )
            for source, kernels in kernels_of.items()
        }

    def play(self, seed: str) -> int:
        """Check the positions of one random game and return their number."""
        table, rng, checked = Table(self.variant, seed), Generator(seed), 0
        while table.turn is not None:
            self.check(table, rng)
            moves = table.legal_moves()
            move = moves[rng.randint(len(moves))]
            before, expected = table.state.tobytes(), table.preview(move).gain
            if (gain := table.play(move, deal=False)) != expected:
                raise self.error(table, f"{move} scores {gain}, its preview {expected}")
            table.undo()
            if table.state.tobytes() != before:
                raise self.error(table, f"undoing {move} does not restore the state")
            table.play(move)
            checked += 1
        self.check(table, rng)
        self.check_deal(table)
        self.check_record(table)
        return checked + 1

    def error(self, table: Table, message: str) -> GameDefinitionError:
        """Return an error that names the game and the position."""
        return GameDefinitionError(f"{self.variant.game.id}: {message}, in {table.position}")

    def check(self, table: Table, rng: Generator) -> None:
        """Check one position."""
        legal = self.check_rules(table)
        self.check_texts(table, legal, rng)
        for seat in (None, *range(self.variant.players)):
            self.check_view(table, seat)
        for violation in (
            *self.variant.layout_violations(table.state),
            *self.variant.violations(table.state),
        ):
            raise self.error(table, f"a reachable position violates an invariant: {violation}")

    def check_rules(self, table: Table) -> list[int]:
        """Compare all rules with `refusal` and `score`, and return the legal actions."""
        state, constants = table.state, self.variant.constants
        reasons = np.zeros(self.variant.actions, np.int32)
        self.variant.kernels[write_refusals](constants, copied(state), self.variant.actions, reasons)
        legal: list[int] = [] if table.turn is None else np.flatnonzero(reasons == 0).tolist()
        placement_points = {
            action: self.points(state, action) for action in legal if self.is_placement(action)
        }
        best_points = max(placement_points.values(), default=None)
        best = [action for action, points in placement_points.items() if points == best_points]
        for source in self.loops:
            results = self.results(source, state)
            for rule, result in results.items():
                if rule in ("sample_legal", "greedy_action"):
                    if result not in (legal or [-1]):
                        raise self.error(table, f"`{rule}` of {source} returns {result}, which is not legal")
                elif rule == "best_placements":
                    if result != best:
                        raise self.error(table, f"`{rule}` of {source} returns {result}, expected {best}")
                elif result != (len(legal) if rule == "count_legal" else legal):
                    raise self.error(
                        table, f"`{rule}` of {source} returns {result}, but `refusal` allows {legal}"
                    )
            greedy = results["greedy_action"]
            if best_points is not None and not (
                self.is_placement(greedy) and self.points(state, greedy) == best_points
            ):
                raise self.error(
                    table,
                    f"`greedy_action` of {source} returns {greedy}, but the best move scores {best_points}",
                )
        self.check_exchanges(table, legal)
        return legal

    def check_exchanges(self, table: Table, legal: list[int]) -> None:
        """Compare `tiles_exchanged` with the moves."""
        kernel = self.variant.kernels[exchanged_by]
        for action in (action for action in legal if not self.is_placement(action)):
            move = self.variant.decode(table.state, action)
            expected = 0
            if move.kind == "exchange" and table.turn is not None:
                expected = len(move.tiles) or len(table.hand(table.turn))
            found = int(kernel(self.variant.constants, copied(table.state), action))
            if found != expected:
                raise self.error(table, f"`tiles_exchanged` returns {found} for {move}, expected {expected}")

    def check_deal(self, table: Table) -> None:
        """Compare `chance_outcome` with the draws of a table."""
        rng, replayed = Generator(f"{table.seed}/deal"), Table(self.variant)
        kernel, constants = self.variant.kernels[outcome_of], self.variant.constants
        for action in table.actions:
            if replayed.draw_due:
                word = np.array([rng.bits()], np.uint64)
                found = int(kernel(constants, copied(replayed.state), word))
                if found != action:
                    raise self.error(
                        replayed, f"`chance_outcome` returns {found}, but the table draws {action}"
                    )
            replayed.play_unchecked(action)

    def is_placement(self, action: int) -> bool:
        """Return whether an action places a tile."""
        return action < self.variant.placements

    def points(self, state: State, action: int) -> int:
        """Return the points of a placement, summed over all tracks."""
        return int(self.variant.kernels[total_points](self.variant.constants, copied(state), action))

    def results(self, source: str, state: State) -> dict[str, Any]:
        """Return the results of all rules in a state, by the name of the rule."""
        actions, constants = self.variant.actions, self.variant.constants
        list_all, choose, best = self.loops[source]
        listed, nth = np.zeros(actions, np.int32), np.zeros(actions, np.int32)
        counts, chosen = np.zeros(2, np.int64), np.zeros(2, np.int64)
        mask = np.zeros(actions, np.uint8)
        list_all(constants, copied(state), listed, nth, counts)
        choose(constants, copied(state), seed_state(1), mask, chosen)
        n_best, most = 0, np.zeros(actions, np.int32)
        if OVER < state["phase"][0] < DRAW:
            points = np.tile(np.arange(MAX_POINTS, dtype=np.int64), (len(self.variant.tracks), 1))
            n_best = best(constants, copied(state), points, most)
        return {
            "legal_actions": listed[: counts[0]].tolist(),
            "count_legal": int(counts[1]),
            "nth_legal": nth[: counts[1]].tolist(),
            "legal_mask": np.flatnonzero(mask).tolist(),
            "sample_legal": int(chosen[0]),
            "greedy_action": int(chosen[1]),
            "best_placements": most[:n_best].tolist(),
        }

    def check_texts(self, table: Table, legal: list[int], rng: Generator) -> None:
        """Check that the position and a few of its moves round-trip through their texts."""
        if Position.parse(table.position).position != table.position:
            raise self.error(table, "the text of the position is parsed as another position")
        for action in (legal[rng.randint(len(legal))] for _ in range(3 if legal else 0)):
            move = self.variant.decode(table.state, action)
            if Move.parse(str(move)) != move or table.action_of(str(move)) != action:
                raise self.error(table, f"{str(move)!r} is parsed as another move than action {action}")
            if self.variant.kernels[step](self.variant.constants, copied(table.state), action, True):
                raise self.error(table, f"{move} is listed but refused")

    def check_view(self, table: Table, seat: int | None) -> None:
        """Check that a view contains no hidden tile and round-trips through its text."""
        view = table.view(seat)
        for other in range(view.players):
            if other != seat and set(view.hand(other)) - {"?"}:
                raise self.error(table, f"the view of seat {seat} shows the hand of seat {other}")
        if Position.parse(view.position).position != view.position:
            raise self.error(table, f"the view of seat {seat} is parsed as another position")
        decoded = decode_view(self.variant, encode_view(self.variant, view.state))
        if decoded.tobytes() != view.state.tobytes():
            wrong = [name for name in decoded.dtype.names if (decoded[name] != view.state[name]).any()]
            raise self.error(
                table,
                f"`restore` does not recompute {', '.join(wrong)} as `apply` leaves it",
            )

    def check_record(self, table: Table) -> None:
        """Check that the record of a finished game replays to the same state."""
        replayed = replay(Record.parse(record_of(table).to_json()))
        if replayed.state.tobytes() != table.state.tobytes():
            raise self.error(table, "the record replays to another position")
