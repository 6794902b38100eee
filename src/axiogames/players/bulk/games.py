"""Games of simple bots, played in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np

from ...games.runtime.state import DRAW, allocate
from ...games.variant import State, Variant
from ...rng import Generator
from ..bots.choosing import BALANCED, GREEDY, RANDOM, SAMPLED, choice_buffers
from ..bots.levels import SampledMoves
from ..bots.simple import Balanced, Greedy, Random
from ..engines.specs import PREFIX, parse_player
from ..interface import FixedBudget, Player
from .loops import CHOSEN, DEALT, NOISE, NOISE_WORDS, PLAYED, GameLog, GameWords, play_on

FIRST_LENGTH = 64  # of the log, which doubles when a game needs it
MORE_WORDS = 8  # that are generated when a game needs them
POLICIES = {Random: RANDOM, Greedy: GREEDY, Balanced: BALANCED}


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A finished game. The next game of the same `BulkMatch` overwrites its arrays.

    Attributes:
        variant: the game, its number of players and its options.
        states: the state before each action, and the final one.
        actions: the action ids, moves and outcomes of chance.
        noisy: whether noise chose the action.
    """

    variant: Variant
    states: State
    actions: np.ndarray
    noisy: np.ndarray

    @property
    def moves(self) -> np.ndarray:
        """The indices of the moves of players among the actions."""
        return np.flatnonzero(self.states["phase"][:-1] < DRAW)

    def moves_by_seat(self) -> list[int]:
        """Return the number of moves of each seat."""
        seats = self.states["seat"][self.moves]
        counts: list[int] = np.bincount(seats, minlength=self.variant.players).tolist()
        return counts


class BulkMatch:
    """Plays games between the same simple bots, each like `play_match` with its seed.

    Not safe for threads: games share their arrays.

    Args:
        variant: the game, its number of players and its options.
        policies: the policy of each seat and its number of samples.
        noise: probability of a uniformly random move instead of the bot's.
    """

    def __init__(self, variant: Variant, policies: Sequence[tuple[int, int]], noise: float = 0.0) -> None:
        self.variant = variant
        self._policies = np.array(policies, np.int64)
        self._buffers = choice_buffers(variant)
        self._counters = np.zeros(CHOSEN + variant.players, np.int64)
        self._log = _new_log(variant, FIRST_LENGTH)
        self._noise_limit = np.array([max(ceil(noise * 2**64) - 1, 0)], np.uint64)
        self._noise = noise > 0
        self._first_words = np.full(len(self._counters), MORE_WORDS)  # by counter; the first is not used

    def play(self, seed: str) -> PlayedGame:
        """Play the game with this seed, from which deal and players get the same words as in a match."""
        variant, counters = self.variant, self._counters
        deal, noise = Generator(f"{seed}/deal"), Generator(f"{seed}/noise")
        bots = [Generator(f"{seed}/player {seat}") for seat in range(variant.players)]
        # Most games take about as many words as the last one.
        _, deal_words, noise_words, *bot_words = self._first_words.tolist()
        words = GameWords(
            _words(deal, deal_words),
            _words(noise, noise_words if self._noise else 0),
            self._noise_limit,
            np.stack([_words(bot, max(bot_words)) for bot in bots]),
        )
        counters[:] = 0
        self._log.states[0] = variant.opening[0]
        kernel = variant.kernels[play_on]
        while not kernel(variant.constants, self._log, self._policies, words, counters, self._buffers):
            words = self._extended(words, deal, noise, bots)
        np.maximum(counters, MORE_WORDS, out=self._first_words)
        n = int(counters[PLAYED])
        return PlayedGame(variant, self._log.states[: n + 1], self._log.actions[:n], self._log.noisy[:n])

    def _extended(
        self, words: GameWords, deal: Generator, noise: Generator, bots: Sequence[Generator]
    ) -> GameWords:
        """Make the log longer if it is full, and return the words with more of those that are exhausted."""
        counters = self._counters
        if counters[PLAYED] == len(self._log.actions):
            longer = _new_log(self.variant, 2 * len(self._log.actions))
            for new, old in zip(longer, self._log, strict=True):
                new[: len(old)] = old
            self._log = longer
        if counters[DEALT] == len(words.deal):
            words = words._replace(deal=np.append(words.deal, _words(deal, MORE_WORDS)))
        if self._noise and counters[NOISE] + NOISE_WORDS > len(words.noise):
            words = words._replace(noise=np.append(words.noise, _words(noise, MORE_WORDS)))
        if counters[CHOSEN:].max() == words.bots.shape[1]:
            more = np.stack([_words(bot, MORE_WORDS) for bot in bots])
            words = words._replace(bots=np.concatenate([words.bots, more], axis=1))
        return words


def _new_log(variant: Variant, length: int) -> GameLog:
    states = allocate(variant.opening.dtype, length + 1)
    return GameLog(states, np.zeros(length, np.int32), np.zeros(length, np.bool_))


def _words(rng: Generator, count: int) -> np.ndarray:
    return np.frombuffer(rng.words(count), ">u8").astype(np.uint64)


@lru_cache(64)
def bulk_match(variant: Variant, specs: tuple[str, ...], noise: float = 0.0) -> BulkMatch | None:
    """Return a match of players in compiled code, `None` unless all of them are simple bots.

    Args:
        variant: the game, its number of players and its options.
        specs: the spec of the player on each seat.
        noise: probability of a uniformly random move instead of the player's.
    """
    policies = [None if spec.startswith(PREFIX) else policy_of(parse_player(spec)) for spec in specs]
    known = [policy for policy in policies if policy]
    return BulkMatch(variant, known, noise) if len(known) == len(specs) else None


def policy_of(player: Player) -> tuple[int, int] | None:
    """Return the policy of a simple bot and its number of samples, `None` for any other player."""
    inner = player.player if isinstance(player, FixedBudget) else player
    if type(inner) is SampledMoves and not inner.one_ply:
        return SAMPLED, inner.moves
    policy = POLICIES.get(type(inner))
    return None if policy is None else (policy, 0)
