"""A single game for environments: each reset, step or observation is one compiled call."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Mapping
from functools import cache
from operator import index
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from ..batch import REWARDS, loops
from ..batch.loops import Output, StepConfig, StepOutput, reset_game, step_game
from ..errors import IllegalMove, InvalidEnvironment, ParseError, Reason, ResetRequired
from ..games import find_variant
from ..games.protocol import legal_mask, refusal
from ..games.runtime.observation import clear, observe
from ..games.runtime.signatures import (
    Constants,
    GameArrays,
    Int,
    Int16s,
    Rng,
    States,
    loop,
    record_argument,
)
from ..games.runtime.state import OVER, allocate
from ..games.runtime.xorshift import seed_states
from ..games.variant import Variant, copied, is_array_of
from ..model.position import Position
from ..model.view import View
from ..moves import Move

# Requests to the loop in place of an action.
OBSERVE, RESET = -1, -2
# The refusal of a value that is not an action id; other refusals are those of `Reason`.
UNKNOWN_ACTION = -1
TO_MOVE = -1  # in place of a seat: the seat to move


class SingleArrays(NamedTuple):
    """Arrays of a game that stay the same from call to call."""

    openings: States
    states: States
    rngs: Rng
    cells: Int16s  # the index of each cell in a plane of the board


def lowest_points(s, seat):
    """Return the points of a seat's lowest track, which decides a game."""
    lowest = np.int64(s.scores[seat, 0])
    for track in range(1, s.scores.shape[1]):
        lowest = min(lowest, np.int64(s.scores[seat, track]))
    return lowest


PARTS = (*loops.PARTS, lowest_points)


@loop(parts=PARTS, counted=False)
def step_and_observe(
    constants: Constants,
    arrays: Annotated[Any, record_argument(SingleArrays, plain=True)],
    output: Output,
    reward: Int,
    action: Int,
    observer: Int,
    observation: Any,
):
    """Reset the game, apply an action, or do neither, then write the observation and mask of a seat.

    Records are plain tuples, as in `batch.loops`.

    Args:
        constants: the constants of the game.
        arrays: the fields of `SingleArrays`.
        output: the fields of `StepOutput`.
        reward: the reward of a finished game.
        action: an action id, `OBSERVE` or `RESET`.
        observer: the seat that observes, or `TO_MOVE`.
        observation: board, vector and mask to write. The dimensions of the board depend on the game.

    Returns:
        The refusal, 0 if the action was legal (otherwise nothing has changed), the seat to move, whether the
        game is over, the points that the action scored, and the rise of the lowest track of the seat that
        moved.
    """
    c, arrays, output = constants[0], SingleArrays(*arrays), StepOutput(*output)
    board, vector, mask = observation
    games = GameArrays(arrays.openings, arrays.states, arrays.rngs)
    s = games.states[0]
    reason, points, rise = np.int64(0), np.int64(0), np.int64(0)
    if action == RESET:
        reset_game(c, games, 0)
    elif action != OBSERVE:
        reason = np.int64(refusal(c, s, np.int64(action)))
        if reason == 0:
            seat = np.int64(s.seat)
            rise = -lowest_points(s, seat)
            step_game(c, games, 0, action, StepConfig(False, reward, False), output)
            rise += lowest_points(s, seat)
            for track in range(output.gains.shape[1]):
                points += np.int64(output.gains[0, track])
    if reason == 0:
        seat = np.int64(s.seat) if observer == TO_MOVE else np.int64(observer)
        planes = board.reshape(board.size)
        clear(planes)
        observe(c, s, seat, arrays.cells, planes, vector)
        clear(mask)
        if s.seat == seat:
            legal_mask(c, s, mask)
    return reason, np.int64(s.seat), s.phase == OVER, points, rise


MaskedObservation = dict[str, Any]  # {"observation": {"board": …, "vector": …}, "action_mask": …}

MASK = (1 << 64) - 1
ARRAYS = ("states", "rngs", "gains", "finals", "rewards")  # the state of a game in pickles
NOT_STARTED = "no game has started: call reset() first"


class SingleGame:
    """A game that resolves chance itself and waits for the action of a seat until it is over.

    Seed s gives the same game as game 0 of `axiogames.batch.Batch(…, seed=s)`. A game started without a seed
    continues with the random generator of the previous one; the first one is seeded by the system.

    `observed` is the observation of the seat to move, from the last call of `reset` or `step`. Every call
    allocates new arrays for it.

    Args:
        game: the name of a game, one of `GAMES`.
        players: the number of players.
        options: options of the game to switch on, by name.
        reward: the reward of a finished game, one of `REWARDS`.
    """

    observed: MaskedObservation

    def __init__(
        self, game: str, players: int, options: Mapping[str, bool] | None = None, reward: str = "none"
    ) -> None:
        self.reward = reward
        self.seeded = False
        self._prepare(find_variant(game, players, options))

    def _prepare(self, variant: Variant) -> None:
        self.variant = variant
        self.players, self.num_actions = variant.players, variant.actions
        tracks, layout = len(variant.tracks), variant.observation.board
        self.states = allocate(variant.opening.dtype)
        self.rngs = np.ones(1, np.uint64)
        self.gains = np.zeros((1, tracks), np.int16)
        self.finals = np.zeros((1, self.players, tracks), np.int16)
        self.rewards = np.zeros((1, self.players), np.float32)
        self._sizes = layout.shape, len(variant.observation.names)
        # The first arguments of every call. The reward is an `int`: the loop is compiled for that.
        self._fixed = (
            variant.constants,
            (variant.opening, self.states, self.rngs, layout.places),
            (self.gains, self.finals, self.rewards, np.zeros(1, np.bool_)),
            int(REWARDS[self.reward]),
        )
        self._loop = _compiled(variant)

    def reset(self, seed: int | None = None) -> int:
        """Start a game and return the seat that moves first.

        Raises:
            InvalidEnvironment: the seed is not an integer.
        """
        if seed is not None:
            try:
                self.rngs[:] = seed_states(index(seed) & MASK, 0, 1)
            except TypeError:
                raise InvalidEnvironment(f"a seed must be an integer, not {seed!r}") from None
        elif not self.seeded:
            self.rngs[:] = seed_states(secrets.randbits(64), 0, 1)
        self.seeded = True
        return int(self._call(RESET)[1])

    def step(self, action: Any) -> tuple[int, bool, int, int]:
        """Apply an action and resolve chance.

        Returns:
            The seat to move, whether the game is over, the points that the action scored, and the rise of
            the lowest track of the seat that moved.

        Raises:
            IllegalMove: the action is illegal. Nothing has changed.
            ResetRequired: no game has started.
        """
        if not self.seeded:
            raise ResetRequired(NOT_STARTED)
        try:
            action_id = index(action)
        except TypeError:
            action_id = -1
        if not 0 <= action_id < self.num_actions:
            raise self._refusal(action, UNKNOWN_ACTION)
        shape, length = self._sizes
        board, vector, mask = (
            np.empty(shape, np.int8),
            np.empty(length, np.int16),
            np.empty(self.num_actions, np.int8),
        )
        reason, seat, over, points, rise = self._loop(*self._fixed, action_id, TO_MOVE, (board, vector, mask))
        if reason:
            raise self._refusal(action_id, reason)
        self.observed = {"observation": {"board": board, "vector": vector}, "action_mask": mask}
        return seat, over, points, rise

    def observe(self, seat: int = TO_MOVE) -> MaskedObservation:
        """Return the observation and mask of a seat. All actions are masked unless the seat is to move."""
        if not self.seeded:
            raise ResetRequired(NOT_STARTED)
        kept = self.observed
        self._call(OBSERVE, seat)
        self.observed, observed = kept, self.observed
        return observed

    def end(self) -> None:
        """End the game without a result."""
        self.states["phase"] = OVER
        self._call(OBSERVE)

    def _call(self, request: int, observer: int = TO_MOVE) -> Any:
        shape, length = self._sizes
        board, vector, mask = (
            np.empty(shape, np.int8),
            np.empty(length, np.int16),
            np.empty(self.num_actions, np.int8),
        )
        outcome = self._loop(*self._fixed, request, observer, (board, vector, mask))
        self.observed = {"observation": {"board": board, "vector": vector}, "action_mask": mask}
        return outcome

    def _refusal(self, action: Any, reason: int) -> IllegalMove:
        if reason in (UNKNOWN_ACTION, Reason.NOT_IN_THIS_GAME):
            detail = f"not a legal action: the mask shows which of 0 to {self.num_actions - 1} are"
            return IllegalMove(f"action {action!r}", Reason.NOT_IN_THIS_GAME, detail)
        return IllegalMove(f"action {action}", Reason.of(reason))

    # ------------------------------------------------------------ positions and moves

    @property
    def turn(self) -> int:
        """The seat to move."""
        return int(self.states["seat"][0])

    @property
    def points(self) -> np.ndarray:
        """The points of every seat by track, as a copy."""
        scores: np.ndarray = self.states["scores"][0, : self.players].astype(np.int16)
        return scores

    def view(self, seat: int | None) -> View:
        """Return the view of a seat, or of a spectator (`None`)."""
        if not self.seeded:
            raise ResetRequired(NOT_STARTED)
        return View(self.variant, self.variant.redact(self.states, seat), seat, ())

    def move_of(self, action: int) -> Move:
        """Return the move of a legal action. Raises `IllegalMove`."""
        if not self.seeded:
            raise ResetRequired(NOT_STARTED)
        state = copied(self.states)
        if action not in self.variant.legal_actions(state).tolist():
            raise self._refusal(action, UNKNOWN_ACTION)
        return self.variant.decode(state, int(action))

    def action_of(self, move: Move | str) -> int:
        """Return the action of a legal move. Raises `IllegalMove` or `ParseError`."""
        if not self.seeded:
            raise ResetRequired(NOT_STARTED)
        return Position(self.variant, copied(self.states)).action_of(move)

    # ------------------------------------------------------------ copies

    def __copy__(self) -> SingleGame:
        other = type(self).__new__(type(self))
        other._restore(copy.deepcopy(self.__getstate__()))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> SingleGame:
        return copy.copy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the contents of a copy. It shares compiled code and constants."""
        variant = self.variant
        return {
            "variant": (variant.game.id, variant.players, dict.fromkeys(variant.options, True)),
            "kept": {name: getattr(self, name) for name in ("reward", "seeded")},
            "arrays": {name: getattr(self, name).copy() for name in ARRAYS},
            "seen": vars(self).get("observed"),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a game from a pickle. Raises `InvalidEnvironment` if its arrays are invalid."""
        self._check(state)
        self._restore(state)

    @staticmethod
    def _check(state: dict[str, Any]) -> None:
        kept, arrays = state["kept"], state["arrays"]
        game, players, options = state["variant"]
        fresh = SingleGame(game, players, options, kept["reward"])
        for name in ARRAYS:
            mine = getattr(fresh, name)
            if not is_array_of(arrays.get(name), mine.dtype, mine.shape):
                raise InvalidEnvironment(
                    f"`{name}` of an environment must have shape {mine.shape} and type {mine.dtype}"
                )
        if not arrays["rngs"].all():
            raise InvalidEnvironment("the random generator of an environment is 0, which would never change")
        if kept["seeded"]:
            try:
                fresh.variant.check_running(arrays["states"])
            except ParseError as error:
                raise InvalidEnvironment(f"the game of an environment: {error}") from None

    def _restore(self, state: dict[str, Any]) -> None:
        vars(self).update(state["kept"])
        self._prepare(find_variant(*state["variant"]))
        for name in ARRAYS:
            getattr(self, name)[:] = state["arrays"][name]
        if state["seen"] is not None:
            self.observed = state["seen"]


class CopyableGame:
    """Makes `copy.copy` of an environment copy its game, as `copy.deepcopy` does."""

    def __copy__(self) -> Self:
        return copy.deepcopy(self)


class NamedSpaces(CopyableGame):
    """Names of the entries of observations, and moves of actions, for environments of one game."""

    _game: SingleGame

    @property
    def observation_names(self) -> tuple[str, ...]:
        """The names of the entries of the vector."""
        names: tuple[str, ...] = self._game.variant.observation.names
        return names

    @property
    def board_names(self) -> tuple[str, ...]:
        """The names of the planes of the board, or of the columns of its rows."""
        return self._game.variant.observation.board.names

    @property
    def tracks(self) -> tuple[str, ...]:
        """The names of the tracks that points are counted on."""
        return self._game.variant.tracks

    def move(self, action: int) -> Move:
        """Return the move of a legal action. Raises `IllegalMove`."""
        return self._game.move_of(action)

    def action(self, move: Move | str) -> int:
        """Return the action of a legal move. Raises `IllegalMove` or `ParseError`."""
        return self._game.action_of(move)


@cache
def _compiled(variant: Variant) -> Any:
    """Return the loop of a game, compiled for the shape of its board."""
    kernels, layout = variant.kernels, variant.observation.board
    observation = (np.zeros(layout.shape, np.int8), np.zeros(1, np.int16), np.zeros(1, np.int8))
    return kernels.make(step_and_observe, kernels.examples(step_and_observe, observation=observation))
