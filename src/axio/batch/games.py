"""N games of one kind as one array of states."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..engine.layout import allocate
from ..engine.lots import seeds
from ..engine.phases import OVER
from ..errors import WrongBatch
from ..games import find_variant
from ..games.variant import Variant
from .loops import Loops
from .rewards import REWARDS

RESULT = np.int16  # points; those of games without a cap need more than a byte


class Step(NamedTuple):
    """What came of a move in every game; the next step writes into the same arrays."""

    rewards: np.ndarray  # (games, players): what a game that has ended is worth to each seat
    ended: np.ndarray  # (games,): whether it has ended
    gains: np.ndarray  # (games, tracks): what the seat that moved scored on each track


class Observed(NamedTuple):
    """What a seat of every game knows; the names of the numbers are in `Batch.observation`."""

    board: np.ndarray  # (games, *shape of the board)
    vector: np.ndarray  # (games, names)


class Batch:
    """Many games of one kind; all of them wait for a player's move, or are over.

    Chance has a generator in every game: the same seed gives the same games, however many threads there
    are, and game number i of a batch is the same whatever the others do. Arrays that methods give back belong
    to the batch and are written into again by the next call of the same method; copy what is to be kept.
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
        renew: bool = True,
        threads: int = 1,
    ) -> None:
        self.variant: Variant = find_variant(game, players, options)
        self.games = _at_least_one("games", games)
        self.threads = min(_at_least_one("threads", threads), self.games)
        if reward not in REWARDS:
            raise WrongBatch(f"there is no reward {reward!r}; there are {', '.join(REWARDS)}")
        self.reward = reward
        self.renew = renew
        self.seed = operator.index(seed)
        self.states = allocate(self.variant.opening.dtype, self.games)
        self.rngs = seeds(self.seed & (2**64 - 1), 0, self.games)
        tracks = len(self.variant.tracks)
        # The points at the end of the last game that ended in each place.
        self.finals = np.zeros((self.games, players, tracks), RESULT)
        self._loops = Loops(self.variant)
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._step = Step(
            np.zeros((self.games, players), np.float32),
            np.zeros(self.games, np.bool_),
            np.zeros((self.games, tracks), RESULT),
        )
        self._arrays: dict[str, np.ndarray] = {}
        self.reset()

    def __repr__(self) -> str:
        game = self.variant.game.id
        return f"Batch({game!r}, players={self.players}, games={self.games}, seed={self.seed})"

    # ------------------------------------------------------------ what it is about

    @property
    def players(self) -> int:
        """How many seats every game has."""
        return self.variant.players

    @property
    def numbers(self) -> int:
        """How many numbers stand for moves: the length of a mask."""
        return self.variant.numbers

    @property
    def observation(self) -> Any:
        """What the numbers of an observation mean."""
        return self.variant.observation

    @property
    def turn(self) -> np.ndarray:
        """Whose turn it is in every game: a look at the states, not a copy."""
        seats: np.ndarray = self.states["seat"]
        return seats

    @property
    def over(self) -> np.ndarray:
        """Which games are over; none, where games that end start anew."""
        ended: np.ndarray = self.states["phase"] == OVER
        return ended

    @property
    def scores(self) -> np.ndarray:
        """The points in every game by seat and track: a look at the states, not a copy."""
        points: np.ndarray = self.states["scores"][:, : self.players]
        return points

    # ------------------------------------------------------------ what it does

    def reset(self, which: np.ndarray | None = None) -> None:
        """Start all games anew, or those that `which` says; their generators go on."""
        flags = np.ones(self.games, np.bool_) if which is None else self._checked("which", which, np.bool_)
        self._run(self._loops.begin, self.variant.opening, self.states, self.rngs, flags)

    def step(self, numbers: np.ndarray, *, checked: bool = True) -> Step:
        """Make a move in every game, and let chance do what comes after it.

        Games that end start anew, or, with `renew=False`, take no more part. Raises `WrongBatch` for a number
        that is not legal, before any game has changed; `checked=False` trusts the numbers.
        """
        numbers = self._checked("numbers", numbers, np.int32)
        if checked:
            self._refuse_wrong(numbers)
        rewards, ended, gains = self._step
        self._run(
            self._loops.advance, self.variant.opening, self.states, self.rngs, numbers, self.renew,
            REWARDS[self.reward], gains, self.finals, rewards, ended,
        )  # fmt: skip
        return self._step

    def masks(self) -> np.ndarray:
        """A row for each game with 1 for each number that is a legal move and 0 for all others."""
        masks = self._array("masks", (self.games, self.numbers), np.uint8)
        self._run(self._loops.mark, self.states, masks)
        return masks

    def counts(self) -> np.ndarray:
        """How many legal moves every game has."""
        counts = self._array("counts", (self.games,), np.int32)
        self._run(self._loops.count, self.states, counts)
        return counts

    def nth(self, ranks: np.ndarray) -> np.ndarray:
        """The number of the legal move with this rank, ascending, in every game; no mask is needed for it.

        Ranks go round: any number will do, such as a random one.
        """
        numbers = self._array("nth", (self.games,), np.int32)
        self._run(self._loops.nth, self.states, self._checked("ranks", ranks, np.int64), numbers)
        return numbers

    def sample(self) -> np.ndarray:
        """The number of any legal move in every game, each as likely as any other."""
        numbers = self._array("sample", (self.games,), np.int32)
        self._run(self._loops.pick, self.states, self.rngs, numbers)
        return numbers

    def greedy(self) -> np.ndarray:
        """The number of a move with the most points now in every game."""
        numbers = self._array("greedy", (self.games,), np.int32)
        self._run(self._loops.choose, self.states, self.rngs, numbers)
        return numbers

    def observe(self, seats: np.ndarray | None = None) -> Observed:
        """What a seat of every game knows: the one to move, unless others are named."""
        looking = self.turn if seats is None else seats
        looking = self._checked("seats", looking, np.uint8)
        if (looking >= self.players).any():
            raise WrongBatch(f"seats are 0 to {self.players - 1}")
        layout = self.observation.board
        board = self._array("board", (self.games, layout.size), np.int8)
        vector = self._array("vector", (self.games, len(self.observation.names)), np.int16)
        self._run(self._loops.observe, self.states, looking, layout.places, board, vector)
        return Observed(board.reshape(self.games, *layout.shape), vector)

    def play_randomly(self, games: int = 1) -> int:
        """Play so many whole games of random moves in every place; how many moves that were.

        All games are over afterwards; `reset` starts them again.
        """
        moves = np.zeros(self.games, np.int64)
        self._run(self._loops.random_games, self.variant.opening, self.states, self.rngs, games, moves)
        return int(moves.sum())

    def play_greedily(self, games: int = 1) -> tuple[int, int]:
        """Play so many whole games of most points now in every place; the moves made, and the moves rated."""
        moves, rated = np.zeros(self.games, np.int64), np.zeros(self.games, np.int64)
        self._run(self._loops.greedy_games, self.variant.opening, self.states, self.rngs, games, moves, rated)
        return int(moves.sum()), int(rated.sum())

    def close(self) -> None:
        """Let the threads go."""
        if self._pool:
            self._pool.shutdown()

    # ------------------------------------------------------------ inside

    def _run(self, loop: Any, *arguments: Any) -> None:
        tables = self.variant.tables
        if self._pool is None:
            loop(tables, *arguments, 0, self.games)
            return
        bounds = [self.games * part // self.threads for part in range(self.threads + 1)]
        parts = [(tables, *arguments, first, last) for first, last in pairwise(bounds)]
        for _ in self._pool.map(lambda part: loop(*part), parts):
            pass  # what went wrong in a thread is raised here

    def _array(self, name: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        if name not in self._arrays:
            self._arrays[name] = np.zeros(shape, dtype)
        return self._arrays[name]

    def _checked(self, name: str, values: Any, dtype: type) -> np.ndarray:
        given = np.asarray(values)
        if given.shape != (self.games,) or given.dtype.kind not in "biu":
            raise WrongBatch(
                f"{name} should be {self.games} whole numbers, one for each game,"
                f" not {given.dtype} of shape {given.shape}"
            )
        if dtype is not np.bool_ and given.dtype.itemsize > np.dtype(dtype).itemsize:
            limits = np.iinfo(dtype)
            given = np.clip(given, limits.min, limits.max)  # so that no wrong number becomes a right one
        return np.ascontiguousarray(given, dtype)

    def _refuse_wrong(self, numbers: np.ndarray) -> None:
        tables, states = self.variant.tables, self.states
        wrong = int(self._loops.first_wrong(tables, states, numbers, self.numbers, 0, self.games))
        if wrong >= 0:
            counts = int(self.counts()[wrong])
            raise WrongBatch(
                f"{numbers[wrong]} is no legal move in game {wrong} of the batch,"
                f" which has {counts} of them: see masks()"
            )


def _at_least_one(name: str, value: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise WrongBatch(f"{name} should be a whole number, not {value!r}") from None
    if number < 1:
        raise WrongBatch(f"{name} should be at least 1, not {number}")
    return number
