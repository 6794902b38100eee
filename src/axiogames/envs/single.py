"""One game by itself, as environments need it: begun, moved and looked at, each in one compiled call."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Mapping
from functools import cache
from operator import index
from typing import Annotated, Any, Self

import numpy as np

from ..batch import REWARDS, loops
from ..batch.loops import Finals, reset_game, step_game
from ..errors import IllegalMove, InvalidEnvironment, ParseError, Reason, ResetRequired
from ..games import find_variant
from ..games.protocol import legal_mask, refusal
from ..games.runtime.observation import clear, observe
from ..games.runtime.signatures import (
    Constants,
    Flags,
    Float32Rows,
    Int,
    Int16Rows,
    Int16s,
    Rng,
    States,
    array,
    loop,
)
from ..games.runtime.state import OVER, allocate
from ..games.runtime.xorshift import seed_states
from ..games.variant import Variant, copied, is_array_of
from ..model.position import Position
from ..model.view import View
from ..moves import Move

# Numbers that are no moves.
LOOK, BEGIN = -1, -2
# Why a number was refused that stands for no move at all; other reasons are those of `reasons`.
NO_SUCH_MOVE = -1


def lowest_of(s, seat):
    """The points of a seat's lowest track, which decides a game."""
    lowest = np.int64(s.scores[seat, 0])
    for track in range(1, s.scores.shape[1]):
        lowest = min(lowest, np.int64(s.scores[seat, track]))
    return lowest


PARTS = (*loops.PARTS, lowest_of)


@loop(parts=PARTS)
def step_and_observe(
    constants: Constants,
    openings: States,
    states: States,
    rngs: Rng,
    kind: Int,
    places: Int16s,
    gains: Int16Rows,
    finals: Finals,
    rewards: Float32Rows,
    ended: Flags,
    number: Int,
    looking: Int,
    board: Any,
    vector: Int16s,
    mask: Annotated[Any, array(np.int8)],
):
    """Begin the game, make a move or neither; then write what a seat knows and which moves it has.

    `looking` is that seat, -1 the one to move; how many dimensions `board` has is each game's own. Gives back
    why the move was refused (0: it was not; otherwise nothing has changed), the seat to move, whether the
    game is over, the points of the seat that moved, and by how much its lowest track rose.
    """
    c, s = constants[0], states[0]
    why, points, rise = np.int64(0), np.int64(0), np.int64(0)
    if number == BEGIN:
        reset_game(c, openings, states, rngs, 0)
    elif number != LOOK:
        why = np.int64(refusal(c, s, np.int64(number)))
        if why == 0:
            seat = np.int64(s.seat)
            rise = -lowest_of(s, seat)
            step_game(c, openings, states, rngs, 0, number, False, kind, gains, finals, rewards, ended)
            rise += lowest_of(s, seat)
            for track in range(gains.shape[1]):
                points += np.int64(gains[0, track])
    if why == 0:
        seat = np.int64(s.seat) if looking < 0 else np.int64(looking)
        planes = board.reshape(board.size)
        clear(planes)
        observe(c, s, seat, places, planes, vector)
        clear(mask)
        if s.seat == seat:
            legal_mask(c, s, mask)
    return why, np.int64(s.seat), s.phase == OVER, points, rise


Seen = dict[str, Any]  # {"observation": {"board": …, "vector": …}, "action_mask": …}

MASK = (1 << 64) - 1
ARRAYS = ("states", "rngs", "gains", "finals", "rewards")  # what a game consists of
NOT_BEGUN = "no game has begun: call reset() first"


class SingleGame:
    """A game between seats. It deals the tiles itself, and waits for a move until it is over.

    Seed s gives the game that is number 0 of `axiogames.batch.Batch(…, seed=s)`. A game that is begun without
    a seed goes on with the generator of the one before; the very first one is seeded by the system.

    `seen` is what the seat to move knows and may do, from the last call of `begin` or `play`; every call
    makes arrays of its own.
    """

    seen: Seen

    def __init__(
        self, game: str, players: int, options: Mapping[str, bool] | None = None, reward: str = "none"
    ) -> None:
        self.reward = reward
        self.seeded = False
        self._prepare(find_variant(game, players, options))

    def _prepare(self, variant: Variant) -> None:
        self.variant = variant
        self.players, self.numbers = variant.players, variant.actions
        tracks, layout = len(variant.tracks), variant.observation.board
        self.states = allocate(variant.opening.dtype)
        self.rngs = np.ones(1, np.uint64)
        self.gains = np.zeros((1, tracks), np.int16)
        self.finals = np.zeros((1, self.players, tracks), np.int16)
        self.rewards = np.zeros((1, self.players), np.float32)
        self._sizes = layout.shape, len(variant.observation.names)
        kind, ended = REWARDS[self.reward], np.zeros(1, np.bool_)
        # What every call hands over first. The numbers are Python's: the loop is compiled for those.
        self._fixed = (
            variant.constants, variant.opening, self.states, self.rngs, int(kind), layout.places, self.gains,
            self.finals, self.rewards, ended,
        )  # fmt: skip
        self._turn = _compiled(variant)

    def begin(self, seed: int | None = None) -> int:
        """Begin a game; the seat that has the first move."""
        if seed is not None:
            try:
                self.rngs[:] = seed_states(index(seed) & MASK, 0, 1)
            except TypeError:
                raise InvalidEnvironment(f"a seed is a whole number, not {seed!r}") from None
        elif not self.seeded:
            self.rngs[:] = seed_states(secrets.randbits(64), 0, 1)
        self.seeded = True
        return int(self._call(BEGIN)[1])

    def play(self, action: Any) -> tuple[int, bool, int, int]:
        """Make a move, and let chance do what comes after it.

        Gives back the seat to move, whether the game is over, the points of the seat that moved, and by how
        much its lowest track rose. Raises `IllegalMove`; nothing has changed then.
        """
        if not self.seeded:
            raise ResetRequired(NOT_BEGUN)
        try:
            number = index(action)
        except TypeError:
            number = -1
        if not 0 <= number < self.numbers:
            raise self._refusal(action, NO_SUCH_MOVE)
        shape, length = self._sizes
        board, vector, mask = (
            np.empty(shape, np.int8),
            np.empty(length, np.int16),
            np.empty(self.numbers, np.int8),
        )
        why, seat, over, points, rise = self._turn(*self._fixed, number, -1, board, vector, mask)
        if why:
            raise self._refusal(number, why)
        self.seen = {"observation": {"board": board, "vector": vector}, "action_mask": mask}
        return seat, over, points, rise

    def look(self, seat: int = -1) -> Seen:
        """What a seat knows and may do: nothing but to wait, where another seat is to move."""
        if not self.seeded:
            raise ResetRequired(NOT_BEGUN)
        seen = self.seen
        self._call(LOOK, seat)
        self.seen, seen = seen, self.seen
        return seen

    def end(self) -> None:
        """Break the game off."""
        self.states["phase"] = OVER
        self._call(LOOK)

    def _call(self, what: int, looking: int = -1) -> Any:
        shape, length = self._sizes
        board, vector, mask = (
            np.empty(shape, np.int8),
            np.empty(length, np.int16),
            np.empty(self.numbers, np.int8),
        )
        told = self._turn(*self._fixed, what, looking, board, vector, mask)
        self.seen = {"observation": {"board": board, "vector": vector}, "action_mask": mask}
        return told

    def _refusal(self, action: Any, why: int) -> IllegalMove:
        if why in (NO_SUCH_MOVE, Reason.NOT_IN_THIS_GAME):
            says = f"no move has this number now; of 0 to {self.numbers - 1}, the action mask shows which do"
            return IllegalMove(f"action {action!r}", Reason.NOT_IN_THIS_GAME, says)
        return IllegalMove(f"action {action}", Reason.of(why))

    # ------------------------------------------------------------ in words

    @property
    def turn(self) -> int:
        """The seat to move."""
        return int(self.states["seat"][0])

    @property
    def points(self) -> np.ndarray:
        """Every seat's points by track, as an array of its own."""
        scores: np.ndarray = self.states["scores"][0, : self.players].astype(np.int16)
        return scores

    def view(self, seat: int | None) -> View:
        """The position as a seat may know it."""
        if not self.seeded:
            raise ResetRequired(NOT_BEGUN)
        return View(self.variant, self.variant.redact(self.states, seat), seat, ())

    def move(self, number: int) -> Move:
        """The move that a legal number stands for. Raises `IllegalMove`."""
        if not self.seeded:
            raise ResetRequired(NOT_BEGUN)
        state = copied(self.states)
        if number not in self.variant.legal_actions(state).tolist():
            raise self._refusal(number, NO_SUCH_MOVE)
        return self.variant.decode(state, int(number))

    def number(self, move: Move | str) -> int:
        """The number that stands for a legal move. Raises `IllegalMove` or `ParseError`."""
        if not self.seeded:
            raise ResetRequired(NOT_BEGUN)
        return Position(self.variant, copied(self.states)).action_of(move)

    # ------------------------------------------------------------ copies

    def __copy__(self) -> SingleGame:
        other = type(self).__new__(type(self))
        other._restore(copy.deepcopy(self.__getstate__()))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> SingleGame:
        return copy.copy(self)

    def __getstate__(self) -> dict[str, Any]:
        """What a copy needs: compiled code and tables are found again, not copied."""
        variant = self.variant
        return {
            "variant": (variant.game.id, variant.players, dict.fromkeys(variant.options, True)),
            "kept": {name: getattr(self, name) for name in ("reward", "seeded")},
            "arrays": {name: getattr(self, name).copy() for name in ARRAYS},
            "seen": vars(self).get("seen"),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up a game from a pickle. Raises `InvalidEnvironment` for arrays that no game has."""
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
                raise InvalidEnvironment(f"`{name}` of an environment should be {mine.shape} of {mine.dtype}")
        if not arrays["rngs"].all():
            raise InvalidEnvironment("the generator of an environment is zero, and would stay so")
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
            self.seen = state["seen"]


class CopyableGame:
    """Copies of an environment are independent: `copy.copy` copies the game as `copy.deepcopy` does."""

    def __copy__(self) -> Self:
        return copy.deepcopy(self)


class NamedSpaces(CopyableGame):
    """What an environment of one game says about its numbers."""

    _game: SingleGame

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of the vector is called."""
        names: tuple[str, ...] = self._game.variant.observation.names
        return names

    @property
    def board_names(self) -> tuple[str, ...]:
        """What each plane of the board is called, or each number of its rows."""
        return self._game.variant.observation.board.names

    @property
    def tracks(self) -> tuple[str, ...]:
        """What points are counted in."""
        return self._game.variant.tracks

    def move(self, action: int) -> Move:
        """The move that a legal action stands for. Raises `IllegalMove`."""
        return self._game.move(action)

    def action(self, move: Move | str) -> int:
        """The action that stands for a legal move. Raises `IllegalMove` or `ParseError`."""
        return self._game.number(move)


@cache
def _compiled(variant: Variant) -> Any:
    """The loop of `turns` for a game, whose board it takes as it is."""
    board = np.zeros(variant.observation.board.shape, np.int8)
    return variant.kernels.make(step_and_observe, variant.kernels.examples(step_and_observe, board=board))
