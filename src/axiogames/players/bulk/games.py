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
    """A finished game. The next game of the same `BulkGames` overwrites its arrays.

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


class BulkGames:
    """Plays games of one variant between simple bots, each like `play_match` with its seed.

    Not safe for threads: games share their arrays.

    Args:
        variant: the game, its number of players and its options.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self._buffers = choice_buffers(variant)
        self._counters = np.zeros(CHOSEN + variant.players, np.int64)
        self._log = _new_log(variant, FIRST_LENGTH)
        self._used = np.zeros(len(self._counters), np.int64)  # counters of the last game

    def play(self, seed: str, policies: np.ndarray, noise: float = 0.0) -> PlayedGame:
        """Play the game with this seed, from which deal and players get the same words as in a match.

        Args:
            seed: the seed of the draws, of all players and of the noise.
            policies: a row for each seat, from `policies_of`.
            noise: probability of a uniformly random move instead of the bot's.
        """
        variant, counters = self.variant, self._counters
        deal, noises = Generator(f"{seed}/deal"), Generator(f"{seed}/noise")
        bots = [Generator(f"{seed}/player {seat}") for seat in range(variant.players)]
        # Most games take about as many words as the last one.
        used = self._used.tolist()
        each = max(used[CHOSEN:]) or MORE_WORDS
        words = GameWords(
            deal=_words(deal, used[DEALT] or MORE_WORDS),
            noise=_words(noises, (used[NOISE] or MORE_WORDS) if noise > 0 else 0),
            noise_limit=np.array([max(ceil(noise * 2**64) - 1, 0)], np.uint64),
            bots=np.stack([_words(bot, each) for bot in bots]),
        )
        counters[:] = 0
        self._log.states[0] = variant.opening[0]
        kernel = variant.kernels[play_on]
        while not kernel(variant.constants, self._log, policies, words, counters, self._buffers):
            words = self._extended(words, deal, noises, bots)
        self._used[:] = counters
        n = int(counters[PLAYED])
        return PlayedGame(variant, self._log.states[: n + 1], self._log.actions[:n], self._log.noisy[:n])

    def _extended(
        self, words: GameWords, deal: Generator, noises: Generator, bots: Sequence[Generator]
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
        if 0 < len(words.noise) < counters[NOISE] + NOISE_WORDS:
            words = words._replace(noise=np.append(words.noise, _words(noises, MORE_WORDS)))
        if counters[CHOSEN:].max() == words.bots.shape[1]:
            more = np.stack([_words(bot, MORE_WORDS) for bot in bots])
            words = words._replace(bots=np.concatenate([words.bots, more], axis=1))
        return words


def _new_log(variant: Variant, length: int) -> GameLog:
    states = allocate(variant.opening.dtype, length + 1)
    return GameLog(states, np.zeros(length, np.int32), np.zeros(length, np.bool_))


def _words(rng: Generator, count: int) -> np.ndarray:
    return np.frombuffer(rng.words(count), ">u8").astype(np.uint64)


@lru_cache(8)
def bulk_games(variant: Variant) -> BulkGames:
    """Return the player of whole games of a variant in this process."""
    return BulkGames(variant)


@lru_cache(1024)
def policies_of(specs: tuple[str, ...]) -> np.ndarray | None:
    """Return a row for each player: its policy and its number of samples.

    Args:
        specs: the spec of the player on each seat.

    Returns:
        The policies, or `None` unless all players are simple bots.
    """
    rows = [None if spec.startswith(PREFIX) else _policy_of(parse_player(spec)) for spec in specs]
    known = [row for row in rows if row]
    return np.array(known, np.int64) if len(known) == len(specs) else None


def _policy_of(player: Player) -> tuple[int, int] | None:
    """Return the policy of a simple bot and its number of samples, `None` for any other player."""
    inner = player.player if isinstance(player, FixedBudget) else player
    if type(inner) is SampledMoves and not inner.one_ply:
        return SAMPLED, inner.moves
    policy = POLICIES.get(type(inner))
    return None if policy is None else (policy, 0)
