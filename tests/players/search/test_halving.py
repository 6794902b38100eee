"""How long moves are compared: as long as was agreed, and no longer than thought can change anything."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from axiogames import new_game
from axiogames.games import GAMES
from axiogames.players.evaluation.weights import untrained_weights
from axiogames.players.search.analysis import analyse
from axiogames.players.search.halving import ENOUGH, Deadline, sequential_halving
from axiogames.players.search.rollouts import CHUNK, Rollouts, RolloutStats
from tests.clock import Clock
from tests.players.search.positions import played

AGES = 90.0  # seconds: who waits for them has not stopped early
SOON = 30.0  # seconds
STEP = 0.001  # seconds between two looks at the clock


class Planted(Rollouts):
    """Rollouts of which is known what they come to: some worth, more or less by the same amount in turns."""

    def __init__(self, worth: Sequence[float], spread: float) -> None:
        view = new_game(GAMES[0], 2, seed=1).view(0)
        super().__init__(view, untrained_weights(view.variant), 0)
        self.worth, self.spread = np.array(worth), spread

    def run(
        self, actions: np.ndarray, first: int, guesses: int, turns: int, chunk: int = CHUNK
    ) -> Iterator[RolloutStats]:
        """As many guesses as were asked for, at once."""
        numbers = np.arange(first, first + guesses)[:, None]
        values = self.worth[actions] + np.where(numbers % 2, self.spread, -self.spread)
        tally = RolloutStats(len(actions), self.variant.players, len(self.variant.tracks))
        tally.count += guesses
        tally.sums += values.sum(axis=0)
        tally.squares += (values**2).sum(axis=0)
        yield tally


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(STEP)
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


def compared(worth: Sequence[float], spread: float, meter: Deadline) -> tuple[RolloutStats, float]:
    """What came of moves of such worth, and the seconds that it took."""
    moves = np.arange(len(worth))
    tally = sequential_halving(Planted(worth, spread), moves, 1, meter, np.full(len(worth), 0.5), 0.0)
    return tally, time.perf_counter() - meter.begun


@pytest.mark.parametrize(
    ("worth", "spread"),
    [
        ([0.3, 0.9, 0.4, 0.2], 0.05),  # one is better beyond doubt
        ([1.0, 1.0, 1.0, 1.0, 1.0], 0.0),  # all win
        ([0.5, 0.5015], 0.0),  # what one is better by is not worth waiting for
        ([0.7], 0.3),  # there is nothing to choose
    ],
)
def test_where_thought_changes_nothing_the_rest_of_the_time_is_given_back(
    worth: list[float], spread: float, clock: Clock
) -> None:
    tally, seconds = compared(worth, spread, Deadline(AGES, None))
    assert seconds < SOON
    assert tally.count.min() >= ENOUGH  # errors of few rollouts are not believed
    assert tally.means.argmax() == np.argmax(worth)


@pytest.mark.parametrize(
    ("worth", "spread"),
    [
        ([0.5, 0.5], 0.5),  # either may be better
        ([0.6, 0.6, 0.6], 0.4),
    ],
)
def test_while_thought_could_change_something_all_the_time_is_used(
    worth: list[float], spread: float, clock: Clock
) -> None:
    _, seconds = compared(worth, spread, Deadline(0.5, None))
    assert 0.5 <= seconds < 0.5 + 10 * STEP


@pytest.mark.parametrize("rollouts", [3000, 20_000])
def test_rollouts_that_are_counted_are_all_played(rollouts: int) -> None:
    """Whoever asks for so many gets so many, and so the same again on any machine."""
    tally, _ = compared([0.0, 1.0, 0.0, 0.0], 0.0, Deadline(AGES, rollouts))
    assert 0.99 * rollouts <= tally.count.sum() <= rollouts
    assert tally.count.max() > ENOUGH


@pytest.mark.parametrize("game", GAMES)
def test_a_decided_game_is_not_thought_about_for_long(game: str, clock: Clock) -> None:
    """Before the last move there is nothing left to guess, and a clock is not waited for; a count is."""
    table = played(game, 2, 500)
    assert table.turn is not None
    view = table.view(table.turn)
    assert len(view.legal_moves()) > 1
    begun = clock.now
    found = analyse(view, seed=1, seconds=AGES)
    assert clock.now - begun < SOON
    counted = analyse(view, seed=1, rollouts=6000)
    assert 0.95 * 6000 <= counted.rollouts <= 6000
    assert min(line.rollouts for line in found.lines) >= ENOUGH
    assert found.best.move == counted.best.move
