"""`Batch`: many games of one variant as one array of states."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..errors import DeviceNotFound, InvalidBatchInput, ParseError
from ..games import find_variant
from ..games.runtime.xorshift import seed_states
from ..games.variant import Variant, is_array_of
from . import loops
from .cpu import CpuBackend
from .cuda import CudaBackend

REWARDS = {
    "none": loops.NO_REWARD,
    "win": loops.WIN,  # the winners share what the others lose: 1, 0 or -1 with two players
    "place": loops.PLACE_REWARD,  # from 1 for the first place to -1 for the last
    "lowest": loops.LOWEST,  # the points of the lowest track, which decides a game
}


POINTS_TYPE = np.int16  # points of games without a cap do not fit into a byte
CPU, CUDA = "cpu", "cuda"
Array = Any  # of NumPy, or in the memory of a GPU


def _equal(mine: Array, theirs: Array) -> bool:
    """Return whether two results, or two arrays of results, have the same values."""
    if isinstance(mine, tuple):
        return type(mine) is type(theirs) and all(map(_equal, mine, theirs))
    return np.array_equal(mine, theirs)


class BatchStep(NamedTuple):
    """The outcome of a step. The next step reuses its arrays.

    Steps compare by value. They are not hashable, since their arrays change.
    """

    rewards: Array  # (games, players): the reward of each seat in games that have ended, else 0
    ended: Array  # (games,): whether the game has ended
    gains: Array  # (games, tracks): the points that the action scored

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __ne__(self, other: object) -> bool:
        return not _equal(self, other)


class BatchObservation(NamedTuple):
    """The observation of a seat of every game. `Batch.observation` names its entries."""

    board: Array  # (games, *shape of the board)
    vector: Array  # (games, entries)

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __ne__(self, other: object) -> bool:
        return not _equal(self, other)


class StepObservation(NamedTuple):
    """The outcome of a step, with the observation and the legal actions of the seats to move."""

    step: BatchStep
    observation: BatchObservation
    masks: Array  # (games, actions)
    sampled: Array  # (games,): a legal action of each game, if sampling was requested

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __ne__(self, other: object) -> bool:
        return not _equal(self, other)


for _result in (BatchStep, BatchObservation, StepObservation):
    _result.__hash__ = None  # type: ignore[assignment]  # arrays change


class Batch:
    """Many games of one variant. Each waits for a player's action or is over.

    Every game has its own random generator. The same seed gives the same games for any number of threads and
    on every device, and game i does not depend on the other games. Methods return arrays that belong to the
    batch: the next call of the same method overwrites them, so copy what you keep. Arrays are NumPy's, or
    with `device="cuda"` in the memory of the GPU.

    A batch is equal to itself only; compare `states` to compare games. Unpickling validates every game, which
    takes about 0.3 ms each.

    Args:
        game: the name of a game, one of `GAMES`.
        players: the number of players of each game.
        games: the number of games.
        seed: the random seed.
        options: options of the game to switch on, by name.
        reward: the reward of a finished game, one of `REWARDS`.
        auto_reset: restart games that end. Otherwise they stay over and ignore actions.
        threads: the number of threads, at most one per core.
        device: `cpu` or `cuda`.
        compact: use the smallest layout of states.

    Raises:
        InvalidBatchInput: `games`, `threads` or `reward` is invalid.
        DeviceNotFound: the device is unknown or missing.
        MissingDependency: `device="cuda"` without numba-cuda.
    """

    def __init__(
        self,
        game: str,
        players: int = 2,
        games: int = 1024,
        *,
        seed: int = 0,
        options: Mapping[str, bool] | None = None,
        reward: str = "win",
        auto_reset: bool = True,
        threads: int = 1,
        device: str = CPU,
        compact: bool = False,
    ) -> None:
        variant = find_variant(game, players, options)
        self.variant: Variant = variant.compact if compact else variant
        self._compact = bool(compact)
        self.games = _at_least_one("games", games)
        # The CPU or GPU that holds the games.
        self.backend = _backend(device, self.variant, self.games, _at_least_one("threads", threads))
        self.device = device
        self.threads = self.backend.threads
        if reward not in REWARDS:
            raise InvalidBatchInput(f"unknown reward {reward!r}: choose from {', '.join(REWARDS)}")
        self.reward = reward
        self.auto_reset = bool(auto_reset)
        self.seed = operator.index(seed)
        self.states = self.backend.states(self.variant.opening.dtype)
        self.rngs = self.backend.to_device(seed_states(self.seed & (2**64 - 1), 0, self.games))
        tracks = len(self.variant.tracks)
        # Points at the end of the last game that ended at each index of the batch.
        self.finals = self.backend.zeros((self.games, players, tracks), POINTS_TYPE)
        self._opening = self.backend.to_device(self.variant.opening)
        self._cells = self.backend.to_device(self.observation.board.places)
        self._step = BatchStep(
            self.backend.zeros((self.games, players), np.float32),
            self.backend.zeros((self.games,), np.bool_),
            self.backend.zeros((self.games, tracks), POINTS_TYPE),
        )
        self._arrays: dict[str, Any] = {}
        self.reset()

    def __repr__(self) -> str:
        game = self.variant.game.id
        device = "" if self.device == CPU else f", device={self.device!r}"
        return f"Batch({game!r}, players={self.players}, games={self.games}, seed={self.seed}{device})"

    # ------------------------------------------------------------ state

    @property
    def players(self) -> int:
        """The number of players of each game."""
        return self.variant.players

    @property
    def num_actions(self) -> int:
        """The number of action ids, which is the length of a mask."""
        return self.variant.actions

    @property
    def observation(self) -> Any:
        """The layout of observations and the names of their entries."""
        return self.variant.observation

    @property
    def turn(self) -> Array:
        """The seat to move in every game, as a view of the states."""
        return self.backend.field(self.states, "seat")

    @property
    def over(self) -> Array:
        """A flag for each game: whether it is over. With `auto_reset`, none is."""
        over = self._array("over", (self.games,), np.bool_)
        self.backend.run("finished", self.states, over)
        return over

    @property
    def scores(self) -> Array:
        """The points in every game by seat and track, as a view of the states."""
        return self.backend.field(self.states, "scores")[:, : self.players]

    # ------------------------------------------------------------ operations

    def reset(self, which: Array | None = None) -> None:
        """Restart all games, or those where `which` is true. Their random generators continue."""
        flags = self._checked("which", np.ones(self.games, np.bool_) if which is None else which, np.bool_)
        self.backend.run("reset", self._game_arrays(), flags)

    def step(self, actions: Array, *, checked: bool = True) -> BatchStep:
        """Apply an action to every game and resolve chance.

        Games that end are restarted, or with `auto_reset=False` stay over and ignore actions.

        Args:
            actions: an action id for each game.
            checked: check that actions are legal.

        Raises:
            InvalidBatchInput: an action is illegal. No game has changed.
        """
        self._advance("step", actions, checked)
        return self._step

    def step_and_observe(
        self, actions: Array, *, checked: bool = True, sample: bool = False
    ) -> StepObservation:
        """Do `step`, `observe` and `masks`, and with `sample` also `sample`, in one pass over the games.

        Sampled actions are legal and can be applied with `checked=False`.
        """
        board, vector = self._observation_arrays()
        masks, sampled = self._mask_array(), self._sample_array()
        turn = (self._cells, board, vector, masks, sampled)
        self._advance("step_and_observe", actions, checked, turn, sample=bool(sample))
        return StepObservation(self._step, self._observed(board, vector), masks, sampled)

    def check(self, actions: Array) -> None:
        """Check that actions are legal.

        Raises:
            InvalidBatchInput: an action is illegal; the message names the first one.
        """
        actions = self._checked("actions", actions, np.int32)
        flags = self._array("illegal", (self.games,), np.bool_)
        self.backend.run("find_illegal", self.states, actions, flags)
        illegal = np.flatnonzero(self.backend.to_host(flags))
        if len(illegal):
            game = illegal[0]
            counts, actions = self.backend.to_host(self.counts()), self.backend.to_host(actions)
            raise InvalidBatchInput(
                f"action {actions[game]} is illegal in game {game} of the batch,"
                f" which has {counts[game]} legal actions: see masks()"
            )

    def masks(self) -> Array:
        """Return a row for each game: 1 for legal actions, 0 for all others."""
        masks = self._mask_array()
        self.backend.run("masks", self.states, masks)
        return masks

    def counts(self) -> Array:
        """Return the number of legal actions of every game."""
        counts = self._array("counts", (self.games,), np.int32)
        self.backend.run("count", self.states, counts)
        return counts

    def nth(self, indices: Array) -> Array:
        """Return the legal action with the given index, in ascending order, for every game.

        Indices wrap around, so that any integer selects an action, without a mask.
        """
        actions = self._array("nth", (self.games,), np.int32)
        self.backend.run("nth", self.states, self._checked("indices", indices, np.int64), actions)
        return actions

    def sample(self) -> Array:
        """Return a legal action of every game, uniformly at random."""
        actions = self._sample_array()
        self.backend.run("sample", self.states, self.rngs, actions)
        return actions

    def greedy(self) -> Array:
        """Return a legal action that scores the most points, for every game."""
        actions = self._array("greedy", (self.games,), np.int32)
        self.backend.run("greedy", self.states, self.rngs, actions)
        return actions

    def observe(self, seats: Array | None = None) -> BatchObservation:
        """Return the observation of a seat of every game, by default of the seat to move.

        Raises:
            InvalidBatchInput: there is no such seat.
        """
        observers = self._checked("seats", self.turn if seats is None else seats, np.uint8)
        if seats is not None:
            host = self.backend.to_host(observers)
            if ((host < 0) | (host >= self.players)).any():
                raise InvalidBatchInput(f"seats must be from 0 to {self.players - 1}")
        board, vector = self._observation_arrays()
        self.backend.run("observe", self.states, observers, self._cells, board, vector)
        return self._observed(board, vector)

    def play_randomly(self, games: int = 1) -> int:
        """Play random games at every index of the batch and return the total number of moves.

        All games are over afterwards; `reset` restarts them.

        Args:
            games: the number of games at each index.
        """
        moves, _ = self._play("random_games", games)
        return moves

    def play_greedily(self, games: int = 1) -> tuple[int, int]:
        """Play greedy games at every index; return the total numbers of moves and of scored placements.

        All games are over afterwards; `reset` restarts them.

        Args:
            games: the number of games at each index.
        """
        return self._play("greedy_games", games)

    def copy(self) -> Batch:
        """Return an independent copy with the same games and random generators."""
        batch = Batch(**self._settings())
        batch._fill(self._contents())
        return batch

    def close(self) -> None:
        """Stop the threads."""
        self.backend.close()

    def __copy__(self) -> Batch:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Batch:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._settings(), self._contents())

    # ------------------------------------------------------------ inside

    def _settings(self) -> dict[str, Any]:
        return {
            "game": self.variant.game.id,
            "players": self.players,
            "games": self.games,
            "seed": self.seed,
            "options": dict.fromkeys(self.variant.options, True),
            "reward": self.reward,
            "auto_reset": self.auto_reset,
            "threads": self.threads,
            "device": self.device,
            "compact": self._compact,
        }

    def _contents(self) -> list[np.ndarray]:
        """Return the arrays that future steps depend on, and those of the last step, as NumPy arrays."""
        return [self.backend.to_host(array) for array in (self.states, self.rngs, self.finals, *self._step)]

    def _check(self, contents: list[np.ndarray]) -> None:
        """Check contents from a pickle. Raises `InvalidBatchInput`."""
        own = self._contents()
        if not isinstance(contents, list) or len(contents) != len(own):
            raise InvalidBatchInput(f"a pickle of a batch must have {len(own)} arrays")
        for array, mine in zip(contents, own, strict=True):
            if not is_array_of(array, mine.dtype, mine.shape):
                raise InvalidBatchInput(
                    f"an array of a batch must have shape {mine.shape} and type {mine.dtype}"
                )
        states, rngs, *_ = contents
        if not rngs.all():
            raise InvalidBatchInput("the random generator of a game is 0, which would never change")
        for game in range(self.games):
            try:
                self.variant.check_running(states[game : game + 1])
            except ParseError as error:
                raise InvalidBatchInput(f"game {game} of the batch: {error}") from None

    def _fill(self, contents: list[np.ndarray]) -> None:
        self.states, self.rngs, self.finals, *step = (
            self.backend.to_device(array.copy()) for array in contents
        )
        self._step = BatchStep(*step)

    def _play(self, loop: str, games: int) -> tuple[int, int]:
        games = _at_least_one("games", games)
        moves = self._array("moves", (self.games,), np.int64)
        scored = self._array("scored", (self.games,), np.int64)
        self.backend.run(loop, self._game_arrays(), games, moves, scored)
        return int(self.backend.to_host(moves).sum()), int(self.backend.to_host(scored).sum())

    def _advance(self, loop: str, actions: Array, checked: bool, *turn: Any, sample: bool = False) -> None:
        actions = self._checked("actions", actions, np.int32)
        if checked:
            self.check(actions)
        rewards, ended, gains = self._step
        config = (self.auto_reset, REWARDS[self.reward], sample)
        output = (gains, self.finals, rewards, ended)
        self.backend.run(loop, self._game_arrays(), actions, config, output, *turn)

    def _game_arrays(self) -> tuple[Any, Any, Any]:
        """Return the fields of `GameArrays`."""
        return self._opening, self.states, self.rngs

    def _mask_array(self) -> Any:
        return self._array("masks", (self.games, self.num_actions), np.uint8)

    def _sample_array(self) -> Any:
        return self._array("sample", (self.games,), np.int32)

    def _observation_arrays(self) -> tuple[Any, Any]:
        board = self._array("board", (self.games, self.observation.board.size), np.int8)
        return board, self._array("vector", (self.games, len(self.observation.names)), np.int16)

    def _observed(self, board: Any, vector: Any) -> BatchObservation:
        return BatchObservation(board.reshape(self.games, *self.observation.board.shape), vector)

    def _array(self, name: str, shape: tuple[int, ...], dtype: type) -> Any:
        if name not in self._arrays:
            self._arrays[name] = self.backend.zeros(shape, dtype)
        return self._arrays[name]

    def _checked(self, name: str, values: Any, dtype: type) -> Any:
        array = self.backend.as_input(values, dtype)
        if array.shape != (self.games,) or array.dtype.kind not in "biu":
            raise InvalidBatchInput(
                f"{name} must be {self.games} integers, one for each game,"
                f" not {array.dtype} of shape {array.shape}"
            )
        return array


def _restored(settings: dict[str, Any], contents: list[np.ndarray]) -> Batch:
    """Return a batch from a pickle. Raises `InvalidBatchInput` if the contents are invalid."""
    batch = Batch(**settings)
    batch._check(contents)
    batch._fill(contents)
    return batch


def _backend(device: str, variant: Variant, games: int, threads: int) -> CpuBackend | CudaBackend:
    if device == CPU:
        return CpuBackend(variant, games, threads)
    if device != CUDA:
        raise DeviceNotFound(f"unknown device {device!r}: choose from {CPU}, {CUDA}")
    if threads > 1:
        raise InvalidBatchInput(f"threads={threads} needs device={CPU!r}: a GPU has a thread for every game")
    return CudaBackend(variant, games)


def _at_least_one(name: str, value: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidBatchInput(f"{name} must be an integer, not {value!r}") from None
    if number < 1:
        raise InvalidBatchInput(f"{name} must be at least 1, not {number}")
    return number
