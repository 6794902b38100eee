"""The conformance suite as a function: what every game has to fulfil, checked in random positions of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import GameDefinitionError
from ..games import find_variant
from ..games.protocol import (
    Rules,
    count_legal,
    greedy_action,
    legal_actions,
    legal_mask,
    nth_legal,
    refusal,
    sample_legal,
    score,
)
from ..games.runtime.kernels import Kernels
from ..games.runtime.loops import step
from ..games.runtime.signatures import Actions, Constants, Int, Int64s, Rng, States, array, loop
from ..games.runtime.xorshift import seed_state
from ..games.variant import State, Variant, copied
from ..moves import Move
from ..rng import Generator
from .position import Position
from .record import Record, record_of, replay
from .table import Table

# Loops are typed by Numba at compilation.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

Mask = array(np.uint8)


def check_game(
    game: str, players: int = 2, options: Mapping[str, bool] | None = None, *, games: int = 1, seed: int = 0
) -> int:
    """Play random games and check in every position what holds in every game.

    Each override of a rule agrees with the default, which follows from `refusal` and `score`. Moves,
    positions and records are read back from their texts. Views hide what is hidden. Scores are what `score`
    says. The last move can be taken back.

    Args:
        game: Name of a game, registered or built in.
        games: Number of random games.
        seed: Seed of the first one.

    Returns:
        The number of positions that were checked.

    Raises:
        GameDefinitionError: The game breaks one of these rules; the message names the position.
    """
    checks = _Checks(find_variant(game, players, options))
    return sum(checks.play(f"{game} {players} {seed + n}") for n in range(games))


@loop
def survey(
    constants: Constants, states: States, rng: Rng, out: Actions, nths: Actions, mask: Any, told: Int64s
):
    """Write what the rules say of a position: its legal actions in three ways, and a choice."""
    c, s = constants[0], states[0]
    told[0] = legal_actions(c, s, out)
    told[1] = count_legal(c, s)
    for n in range(told[1]):
        nths[n] = nth_legal(c, s, np.int64(n))
    legal_mask(c, s, mask)
    if told[1] > 0:
        told[2] = sample_legal(c, s, rng)
        chosen, _ = greedy_action(c, s, rng)
        told[3] = chosen
    else:
        told[2] = told[3] = -1


@loop
def refused(constants: Constants, states: States, actions: Int, out: Actions):
    """Write why each of the first `actions` ids may not be played, 0 for those that may."""
    for action in range(actions):
        out[action] = refusal(constants[0], states[0], action)


@loop
def points_of(constants: Constants, states: States, action: Int):
    """Return the points of a placement in all tracks together."""
    score(constants[0], states[0], action)
    total = np.int64(0)
    for track in range(len(states[0].gain)):
        total += states[0].gain[track]
    return total


class _Checks:
    """The checks for one variant."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        declared: Rules = variant.kernels.declared
        derived = declared.without_overrides()
        label, dtype = f"{variant.kernels.label}, defaults", variant.opening.dtype
        self.kernels = {
            "its own rules": variant.kernels,
            "the defaults": Kernels(label, derived, variant.constants, dtype),
        }
        mask = np.zeros(variant.actions, np.uint8)
        self.surveys = {
            who: kernels.make(survey, kernels.examples(survey, mask=mask))
            for who, kernels in self.kernels.items()
        }

    def play(self, seed: str) -> int:
        """Check the positions of one random game; return their number."""
        table, rng, checked = Table(self.variant, seed), Generator(seed), 0
        while table.turn is not None:
            self.check(table, rng)
            moves = table.legal_moves()
            move = moves[rng.randint(len(moves))]
            before, foreseen = table.state.tobytes(), table.preview(move).gain
            if table.play(move, deal=False) != foreseen:
                raise self.error(table, f"{move} scores otherwise than foreseen: {foreseen}")
            table.undo()
            if table.state.tobytes() != before:
                raise self.error(table, f"{move} cannot be taken back")
            table.play(move)
            checked += 1
        self.check(table, rng)
        self.check_record(table)
        return checked + 1

    def error(self, table: Table, says: str) -> GameDefinitionError:
        return GameDefinitionError(f"{self.variant.game.id}: {says}, in {table.position}")

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
            raise self.error(table, f"a game has led to a position that is called impossible: {violation}")

    def check_rules(self, table: Table) -> list[int]:
        """Check what rules say against what follows from `refusal` and `score`; return the legal actions."""
        state, constants = table.state, self.variant.constants
        reasons = np.zeros(self.variant.actions, np.int32)
        self.variant.kernels[refused](constants, copied(state), self.variant.actions, reasons)
        legal: list[int] = [] if table.turn is None else np.flatnonzero(reasons == 0).tolist()
        best = max((self.points(state, action) for action in legal if self.places(action)), default=None)
        for who, said in ((who, self.survey(who, state)) for who in self.surveys):
            for rule, found in said.items():
                if rule in ("sample_legal", "greedy_action"):
                    if found not in (legal or [-1]):
                        raise self.error(table, f"`{rule}` of {who} chooses {found}, which is not legal")
                elif found != (len(legal) if rule == "count_legal" else legal):
                    raise self.error(table, f"`{rule}` of {who} says {found}, `refusal` allows {legal}")
            chosen = said["greedy_action"]
            if best is not None and (not self.places(chosen) or self.points(state, chosen) != best):
                raise self.error(table, f"`greedy_action` of {who} is {chosen}, but {best} points can be had")
        return legal

    def places(self, action: int) -> bool:
        return action < self.variant.placements

    def points(self, state: State, action: int) -> int:
        return int(self.variant.kernels[points_of](self.variant.constants, copied(state), action))

    def survey(self, who: str, state: State) -> dict[str, Any]:
        """Return what rules say of a state, by their names."""
        actions = self.variant.actions
        out, nths = np.zeros(actions, np.int32), np.zeros(actions, np.int32)
        mask, told = np.zeros(actions, np.uint8), np.zeros(4, np.int64)
        self.surveys[who](self.variant.constants, copied(state), seed_state(1), out, nths, mask, told)
        listed, counted, sampled, greedy = told.tolist()
        return {
            "legal_actions": out[:listed].tolist(),
            "count_legal": counted,
            "nth_legal": nths[:counted].tolist(),
            "legal_mask": np.flatnonzero(mask).tolist(),
            "sample_legal": sampled,
            "greedy_action": greedy,
        }

    def check_texts(self, table: Table, legal: list[int], rng: Generator) -> None:
        """Check that the position and some of its moves are read back from their texts."""
        if Position.parse(table.position).position != table.position:
            raise self.error(table, "the position is read back as another one")
        for action in (legal[rng.randint(len(legal))] for _ in range(3 if legal else 0)):
            move = self.variant.decode(table.state, action)
            if Move.parse(str(move)) != move or table.action_of(str(move)) != action:
                raise self.error(table, f"{str(move)!r} is read back as another move than {action}")
            if self.variant.kernels[step](self.variant.constants, copied(table.state), action, True):
                raise self.error(table, f"{move} is listed but refused")

    def check_view(self, table: Table, seat: int | None) -> None:
        """Check that a view holds no hidden tile and is read back from its text."""
        view = table.view(seat)
        for other in range(view.players):
            if other != seat and set(view.hand(other)) - {"?"}:
                raise self.error(table, f"the view of seat {seat} shows the hand of seat {other}")
        if Position.parse(view.position).position != view.position:
            raise self.error(table, f"the view of seat {seat} is read back as another one")

    def check_record(self, table: Table) -> None:
        """Check that the record of a finished game leads to the same end."""
        again = replay(Record.parse(record_of(table).to_json()))
        if again.state.tobytes() != table.state.tobytes():
            raise self.error(table, "the record leads to another position")
