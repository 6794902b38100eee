"""N games of one kind as one array of states."""

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
    "none": loops.NOTHING,
    "win": loops.WIN,  # the winners share what the others lose: 1, 0 or -1 with two players
    "place": loops.PLACE_REWARD,  # from 1 for the first place to -1 for the last
    "lowest": loops.LOWEST,  # the points of the lowest track, which decides a game
}


RESULT = np.int16  # points; those of games without a cap need more than a byte
CPU, CUDA = "cpu", "cuda"
Array = Any  # NumPy's, or one in the memory of a GPU


def _equal(mine: Array, theirs: Array) -> bool:
    """Whether two results, or two arrays of results, have the same values."""
    if isinstance(mine, tuple):
        return type(mine) is type(theirs) and all(map(_equal, mine, theirs))
    return np.array_equal(mine, theirs)


class BatchStep(NamedTuple):
    """What came of a move in every game; the next step writes into the same arrays.

    Two of them are equal if all their numbers are. They change, so they have no hash.
    """

    rewards: Array  # (games, players): what a game that has ended is worth to each seat
    ended: Array  # (games,): whether it has ended
    gains: Array  # (games, tracks): what the seat that moved scored on each track

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __ne__(self, other: object) -> bool:
        return not _equal(self, other)


class BatchObservation(NamedTuple):
    """What a seat of every game knows; the names of the numbers are in `Batch.observation`."""

    board: Array  # (games, *shape of the board)
    vector: Array  # (games, names)

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __ne__(self, other: object) -> bool:
        return not _equal(self, other)


class StepObservation(NamedTuple):
    """What came of a move in every game, and what the seats to move then know and may do."""

    step: BatchStep
    seen: BatchObservation
    masks: Array  # (games, numbers)
    sampled: Array  # (games,): any legal move of each game, if that was asked for

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __ne__(self, other: object) -> bool:
        return not _equal(self, other)


for _result in (BatchStep, BatchObservation, StepObservation):
    _result.__hash__ = None  # type: ignore[assignment]  # arrays change


class Batch:
    """Many games of one kind; all of them wait for a player's move, or are over.

    Chance has a generator in every game: the same seed gives the same games, however many threads there
    are and on every device, and game number i of a batch is the same whatever the others do. Arrays that
    methods give back belong to the batch and are written into again by the next call of the same method;
    copy what is to be kept. They are NumPy's, or with `device="cuda"` arrays on the GPU.

    A batch is equal to itself only; compare `states` to compare games. A pickle is checked when it is loaded,
    which takes about 0.3 ms for each game.
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
        # The processor or the GPU that has the games.
        self.on = _device(device, self.variant, self.games, _at_least_one("threads", threads))
        self.device = device
        self.threads = self.on.threads
        if reward not in REWARDS:
            raise InvalidBatchInput(f"there is no reward {reward!r}; there are {', '.join(REWARDS)}")
        self.reward = reward
        self.auto_reset = bool(auto_reset)
        self.seed = operator.index(seed)
        self.states = self.on.states(self.variant.opening.dtype)
        self.rngs = self.on.put(seed_states(self.seed & (2**64 - 1), 0, self.games))
        tracks = len(self.variant.tracks)
        # The points at the end of the last game that ended in each place.
        self.finals = self.on.zeros((self.games, players, tracks), RESULT)
        self._opening = self.on.put(self.variant.opening)
        self._places = self.on.put(self.observation.board.places)
        self._step = BatchStep(
            self.on.zeros((self.games, players), np.float32),
            self.on.zeros((self.games,), np.bool_),
            self.on.zeros((self.games, tracks), RESULT),
        )
        self._arrays: dict[str, Any] = {}
        self.reset()

    def __repr__(self) -> str:
        game = self.variant.game.id
        place = "" if self.device == CPU else f", device={self.device!r}"
        return f"Batch({game!r}, players={self.players}, games={self.games}, seed={self.seed}{place})"

    # ------------------------------------------------------------ what it is about

    @property
    def players(self) -> int:
        """How many seats every game has."""
        return self.variant.players

    @property
    def numbers(self) -> int:
        """How many numbers stand for moves: the length of a mask."""
        return self.variant.actions

    @property
    def observation(self) -> Any:
        """What the numbers of an observation mean."""
        return self.variant.observation

    @property
    def turn(self) -> Array:
        """Whose turn it is in every game: a look at the states, not a copy."""
        return self.on.field(self.states, "seat")

    @property
    def over(self) -> Array:
        """Which games are over; none, where games that end start anew."""
        over = self._array("over", (self.games,), np.bool_)
        self.on.run("finished", self.states, over)
        return over

    @property
    def scores(self) -> Array:
        """The points in every game by seat and track: a look at the states, not a copy."""
        return self.on.field(self.states, "scores")[:, : self.players]

    # ------------------------------------------------------------ what it does

    def reset(self, which: Array | None = None) -> None:
        """Start all games anew, or those that `which` says; their generators go on."""
        flags = self._checked("which", np.ones(self.games, np.bool_) if which is None else which, np.bool_)
        self.on.run("reset", self._opening, self.states, self.rngs, flags)

    def step(self, numbers: Array, *, checked: bool = True) -> BatchStep:
        """Make a move in every game, and let chance do what comes after it.

        Games that end start anew, or, with `renew=False`, take no more part. Raises `InvalidBatchInput` for a
        number that is not legal, before any game has changed; `checked=False` trusts the numbers.
        """
        self._advance("step", numbers, checked)
        return self._step

    def step_and_look(self, numbers: Array, *, checked: bool = True, sample: bool = False) -> StepObservation:
        """`step`, then `observe`, `masks` and, if wanted, `sample`, in one go: threads share it only once.

        Numbers that `sample` gives are legal: with `checked=False` nobody looks at them again.
        """
        board, vector = self._seen()
        masks, sampled = self._masks(), self._sampled()
        self._advance(
            "step_and_observe", numbers, checked, self._places, board, vector, masks, bool(sample), sampled
        )
        return StepObservation(self._step, self._observed(board, vector), masks, sampled)

    def check(self, numbers: Array) -> None:
        """Raise `InvalidBatchInput` for the first number that is no legal move of its game."""
        numbers = self._checked("numbers", numbers, np.int32)
        flags = self._array("wrong", (self.games,), np.bool_)
        self.on.run("find_illegal", self.states, numbers, self.numbers, flags)
        found = np.flatnonzero(self.on.take(flags))
        if len(found):
            wrong = found[0]
            counts, given = self.on.take(self.counts()), self.on.take(numbers)
            raise InvalidBatchInput(
                f"{given[wrong]} is no legal move in game {wrong} of the batch,"
                f" which has {counts[wrong]} of them: see masks()"
            )

    def masks(self) -> Array:
        """A row for each game with 1 for each number that is a legal move and 0 for all others."""
        masks = self._masks()
        self.on.run("masks", self.states, masks)
        return masks

    def counts(self) -> Array:
        """How many legal moves every game has."""
        counts = self._array("counts", (self.games,), np.int32)
        self.on.run("count", self.states, counts)
        return counts

    def nth(self, ranks: Array) -> Array:
        """The number of the legal move with this rank, ascending, in every game; no mask is needed for it.

        Ranks go round: any number will do, such as a random one.
        """
        numbers = self._array("nth", (self.games,), np.int32)
        self.on.run("nth", self.states, self._checked("ranks", ranks, np.int64), numbers)
        return numbers

    def sample(self) -> Array:
        """The number of any legal move in every game, each as likely as any other."""
        numbers = self._sampled()
        self.on.run("sample", self.states, self.rngs, numbers)
        return numbers

    def greedy(self) -> Array:
        """The number of a move with the most points now in every game."""
        numbers = self._array("greedy", (self.games,), np.int32)
        self.on.run("greedy", self.states, self.rngs, numbers)
        return numbers

    def observe(self, seats: Array | None = None) -> BatchObservation:
        """What a seat of every game knows: the one to move, unless others are named."""
        looking = self._checked("seats", self.turn if seats is None else seats, np.uint8)
        if seats is not None:
            named = self.on.take(looking)
            if ((named < 0) | (named >= self.players)).any():
                raise InvalidBatchInput(f"seats are 0 to {self.players - 1}")
        board, vector = self._seen()
        self.on.run("observe", self.states, looking, self._places, board, vector)
        return self._observed(board, vector)

    def play_randomly(self, games: int = 1) -> int:
        """Play so many whole games of random moves in every place; how many moves that were.

        All games are over afterwards; `reset` starts them again.
        """
        made, _ = self._play("random_games", games)
        return made

    def play_greedily(self, games: int = 1) -> tuple[int, int]:
        """Play so many whole games of most points now in every place; the moves made, and the moves rated."""
        return self._play("greedy_games", games)

    def copy(self) -> Batch:
        """A batch that goes its own way from here, with the same games and the same chance."""
        batch = Batch(**self._settings())
        batch._fill(self._contents())
        return batch

    def close(self) -> None:
        """Let the threads go."""
        self.on.close()

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
        """Everything that playing on depends on, and what the last step gave, in this machine's memory."""
        return [self.on.take(array) for array in (self.states, self.rngs, self.finals, *self._step)]

    def _check(self, contents: list[np.ndarray]) -> None:
        """Check contents that come from outside. Raises `InvalidBatchInput`."""
        own = self._contents()
        if not isinstance(contents, list) or len(contents) != len(own):
            raise InvalidBatchInput(f"a pickle of a batch should have {len(own)} arrays")
        for array, mine in zip(contents, own, strict=True):
            if not is_array_of(array, mine.dtype, mine.shape):
                raise InvalidBatchInput(f"an array of a batch should be {mine.shape} of {mine.dtype}")
        states, rngs, *_ = contents
        if not rngs.all():
            raise InvalidBatchInput("a generator of a batch is zero, and would stay so")
        for game in range(self.games):
            try:
                self.variant.check_running(states[game : game + 1])
            except ParseError as error:
                raise InvalidBatchInput(f"game {game} of the batch: {error}") from None

    def _fill(self, contents: list[np.ndarray]) -> None:
        self.states, self.rngs, self.finals, *step = (self.on.put(array.copy()) for array in contents)
        self._step = BatchStep(*step)

    def _play(self, loop: str, games: int) -> tuple[int, int]:
        games = _at_least_one("games", games)
        moves = self._array("moves", (self.games,), np.int64)
        rated = self._array("rated", (self.games,), np.int64)
        self.on.run(loop, self._opening, self.states, self.rngs, games, moves, rated)
        return int(self.on.take(moves).sum()), int(self.on.take(rated).sum())

    def _advance(self, loop: str, numbers: Array, checked: bool, *more: Any) -> None:
        numbers = self._checked("numbers", numbers, np.int32)
        if checked:
            self.check(numbers)
        rewards, ended, gains = self._step
        self.on.run(
            loop, self._opening, self.states, self.rngs, numbers, self.auto_reset, REWARDS[self.reward],
            gains, self.finals, rewards, ended, *more,
        )  # fmt: skip

    def _masks(self) -> Any:
        return self._array("masks", (self.games, self.numbers), np.uint8)

    def _sampled(self) -> Any:
        return self._array("sample", (self.games,), np.int32)

    def _seen(self) -> tuple[Any, Any]:
        board = self._array("board", (self.games, self.observation.board.size), np.int8)
        return board, self._array("vector", (self.games, len(self.observation.names)), np.int16)

    def _observed(self, board: Any, vector: Any) -> BatchObservation:
        return BatchObservation(board.reshape(self.games, *self.observation.board.shape), vector)

    def _array(self, name: str, shape: tuple[int, ...], dtype: type) -> Any:
        if name not in self._arrays:
            self._arrays[name] = self.on.zeros(shape, dtype)
        return self._arrays[name]

    def _checked(self, name: str, values: Any, dtype: type) -> Any:
        given = self.on.given(values, dtype)
        if given.shape != (self.games,) or given.dtype.kind not in "biu":
            raise InvalidBatchInput(
                f"{name} should be {self.games} whole numbers, one for each game,"
                f" not {given.dtype} of shape {given.shape}"
            )
        return given


def _restored(settings: dict[str, Any], contents: list[np.ndarray]) -> Batch:
    """Return a batch from a pickle. Raises `InvalidBatchInput` for contents that no batch has."""
    batch = Batch(**settings)
    batch._check(contents)
    batch._fill(contents)
    return batch


def _device(name: str, variant: Variant, games: int, threads: int) -> CpuBackend | CudaBackend:
    if name == CPU:
        return CpuBackend(variant, games, threads)
    if name != CUDA:
        raise DeviceNotFound(f"there is no device {name!r}; there are {CPU} and {CUDA}")
    if threads > 1:
        raise InvalidBatchInput(f"{threads} threads are for the processor; a GPU has a thread for every game")
    return CudaBackend(variant, games)


def _at_least_one(name: str, value: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidBatchInput(f"{name} should be a whole number, not {value!r}") from None
    if number < 1:
        raise InvalidBatchInput(f"{name} should be at least 1, not {number}")
    return number
