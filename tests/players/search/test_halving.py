"""Sequential halving: it uses its budget, and stops early where more rollouts cannot change the result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from axiogames import new_game
from axiogames.games import GAMES
from axiogames.players.evaluation.weights import untrained_weights
from axiogames.players.search.analysis import analyse
from axiogames.players.search.halving import Deadline, sequential_halving
from axiogames.players.search.rollouts import CHUNK, Rollouts, RolloutStats
from axiogames.players.search.search_loops import MIN_SAMPLES, begin_search
from tests.clock import Clock
from tests.players.search.positions import played
from tests.players.search.searches import new_search

LONG = 90.0  # seconds; a search that takes as long has not stopped early
SOON = 30.0  # seconds
STEP = 0.001  # seconds between two readings of the clock


class FakeRollouts(Rollouts):
    """Rollouts with known results: `means`, plus and minus `deviation` in turn."""

    def __init__(self, means: Sequence[float], deviation: float) -> None:
        view = new_game(GAMES[0], 2, seed=1).view(0)
        super().__init__(view, untrained_weights(view.variant), 0)
        self.means, self.deviation = np.array(means), deviation

    def run(
        self, actions: np.ndarray, start: int, samples: int, turns: int, chunk: int = CHUNK
    ) -> Iterator[RolloutStats]:
        """Yield all samples in one chunk."""
        indices = np.arange(start, start + samples)[:, None]
        values = self.means[actions] + np.where(indices % 2, self.deviation, -self.deviation)
        stats = RolloutStats(len(actions), self.variant.players, len(self.variant.tracks))
        stats.samples += samples
        stats.sums += values.sum(axis=0)
        stats.squares += (values**2).sum(axis=0)
        yield stats


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(STEP)
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


def compare(means: Sequence[float], deviation: float, deadline: Deadline) -> tuple[np.ndarray, float]:
    """Compare moves with known results; return their numbers of rollouts and the seconds taken."""
    runner, n = FakeRollouts(means, deviation), len(means)
    search = new_search(n, deadline.rollouts)
    runner.variant.kernels[begin_search](search, np.arange(n, dtype=np.int32), np.full(n, 0.5), n)
    sequential_halving(runner, search, 1, deadline)
    return search[0], time.perf_counter() - deadline.started


@pytest.mark.parametrize(
    ("means", "deviation"),
    [
        ([0.3, 0.9, 0.4, 0.2], 0.05),  # one is clearly better
        ([1.0, 1.0, 1.0, 1.0, 1.0], 0.0),  # all win
        ([0.5, 0.5015], 0.0),  # the difference is negligible
        ([0.7], 0.3),  # there is nothing to choose
    ],
)
def test_search_stops_early_when_more_rollouts_cannot_change_the_result(
    means: list[float], deviation: float, clock: Clock
) -> None:
    search, seconds = compare(means, deviation, Deadline(LONG, None))
    assert seconds < SOON
    counts, sums = search["counts"][: len(means)], search["sums"][: len(means)]
    assert counts.min() >= MIN_SAMPLES  # standard errors of fewer rollouts are not trusted
    assert (sums / counts).argmax() == np.argmax(means)


@pytest.mark.parametrize(
    ("means", "deviation"),
    [
        ([0.5, 0.5], 0.5),  # either may be the best
        ([0.6, 0.6, 0.6], 0.4),
    ],
)
def test_search_uses_all_its_time_while_the_result_is_open(
    means: list[float], deviation: float, clock: Clock
) -> None:
    _, seconds = compare(means, deviation, Deadline(0.5, None))
    assert 0.5 <= seconds < 0.5 + 10 * STEP


@pytest.mark.parametrize("rollouts", [3000, 20_000])
def test_all_counted_rollouts_are_run(rollouts: int) -> None:
    """A counted search does not stop early, so that it gives the same result on every machine."""
    search, _ = compare([0.0, 1.0, 0.0, 0.0], 0.0, Deadline(LONG, rollouts))
    assert 0.99 * rollouts <= search["counts"].sum() <= rollouts
    assert search["counts"].max() > MIN_SAMPLES


@pytest.mark.parametrize("game", GAMES)
def test_search_of_a_last_move_stops_early(game: str, clock: Clock) -> None:
    """Before the last move nothing is random. A time limit is not used up; counted rollouts are all run."""
    table = played(game, 2, 500)
    assert table.turn is not None
    view = table.view(table.turn)
    assert len(view.legal_moves()) > 1
    started = clock.now
    found = analyse(view, seed=1, seconds=LONG)
    assert clock.now - started < SOON
    counted = analyse(view, seed=1, rollouts=6000)
    assert 0.95 * 6000 <= counted.rollouts <= 6000
    assert min(line.rollouts for line in found.lines) >= MIN_SAMPLES
    assert found.best.move == counted.best.move
