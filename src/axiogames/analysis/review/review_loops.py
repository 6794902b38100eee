"""The arithmetic of reviews in compiled code: values of compared moves, values of results, luck and skill.

The loops take plain arrays and call no rules, so that other programs than Python can run them, too.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from ...games.runtime.compile import rule
from ...games.runtime.signatures import Bool, Float64s, Int, Int64s, array, loop

Float64Rows = Annotated[Any, array(np.float64, 2)]

NEXT_TRACK_WEIGHT = 0.02  # relative to the track before it, in one-player games

VALUE, ERROR = 0, 1  # columns of estimates and of luck: a value and its standard error
# Rows of `MoveValues.estimates`, and thirds of a row of `DecisionArrays.estimates`.
POLICY_VALUE, CHOICE, MARGIN = 0, 1, 2
ESTIMATES = 3
# Columns of accounts, see `accounts.Account`. The error is that of the luck.
START, LUCK, CHOICES, OTHERS, RESULT, LUCK_ERROR = 0, 1, 2, 3, 4, 5
ACCOUNT_COLUMNS = 6


class ChunkSums(NamedTuple):
    """Sums over rollouts, a row for each chunk. The variance between chunks gives standard errors."""

    values: Float64Rows  # by move
    expected: Float64Rows  # one column: of the position as the seat's previous decision expected it
    points: Float64Rows  # by move, seat and track; may have other chunks


class MoveValues(NamedTuple):
    """The values of compared moves, and the standard errors of these values."""

    order: Int64s  # indices of the moves, the best first
    values: Float64s
    errors: Float64s
    behind: Float64s  # the value of the best move minus that of the move
    behind_errors: Float64s
    points: Float64s  # expected final points by move, seat and track
    point_errors: Float64s  # of their differences from those of the best move
    estimates: Float64Rows  # `ESTIMATES` rows, see `judging.Judgement`


class DecisionArrays(NamedTuple):
    """The decisions of a game, in order."""

    seats: Int64s
    estimates: Float64Rows  # value and error of `POLICY_VALUE`, of `CHOICE` and of `MARGIN`


class AccountArrays(NamedTuple):
    """Luck and skill."""

    accounts: Float64Rows  # by seat; the caller writes `START`, `RESULT` if it is known, and zeros
    luck_before: Float64Rows  # by decision
    luck_after: Float64Rows  # by seat, after its last decision
    pending: Float64Rows  # scratch by seat, see `PENDING_COLUMNS`


# Columns of `AccountArrays.pending`: value after the last decision, its squared error, losses to other seats
# since then, and the squared error of these.
NOW, NOW_ERROR, LOST, LOST_ERROR = 0, 1, 2, 3
PENDING_COLUMNS = 4


@rule
def _mean_of_difference(first, i, second, k, sign):
    """Return the mean over rows of column `i` of `first` minus `sign` times column `k` of `second`."""
    total = 0.0
    for row in range(len(first)):
        total += first[row, i] - sign * second[row, k]
    return total / len(first)


@rule
def _error_of_difference(first, i, second, k, sign):
    """Return the standard error of `_mean_of_difference`."""
    n = len(first)
    mean = _mean_of_difference(first, i, second, k, sign)
    squares = 0.0
    for row in range(n):
        deviation = first[row, i] - sign * second[row, k] - mean
        squares += deviation * deviation
    return np.sqrt(squares / (n - 1)) / np.sqrt(np.float64(n))


@rule
def _write_estimate(estimates, row, first, i, second, k, sign):
    """Write a row of estimates: the mean of a difference and its standard error."""
    estimates[row, VALUE] = _mean_of_difference(first, i, second, k, sign)
    estimates[row, ERROR] = _error_of_difference(first, i, second, k, sign)


@rule
def _average(rows, samples, unbounded):
    """Replace sums over `samples` rollouts by means, on the scale of `compare_moves`."""
    for row in range(len(rows)):
        for column in range(rows.shape[1]):
            mean = rows[row, column] / samples
            rows[row, column] = mean / (1.0 - mean) if unbounded else mean


@rule
def _settle(accounts, pending, seat, value, squared_error, luck, row):
    """Write the luck of a seat up to a new value of its position, and charge it what others took from it."""
    change = value - pending[seat, NOW] + pending[seat, LOST]
    accounts[seat, LUCK] += change
    accounts[seat, OTHERS] -= pending[seat, LOST]
    accounts[seat, LUCK_ERROR] += pending[seat, LOST_ERROR]
    luck[row, VALUE] = change
    luck[row, ERROR] = np.sqrt(pending[seat, NOW_ERROR] + squared_error + pending[seat, LOST_ERROR])
    pending[seat, LOST] = pending[seat, LOST_ERROR] = 0.0


@loop(bound=False)
def compare_moves(
    sums: ChunkSums, samples: Int, unbounded: Bool, chosen: Int, policy: Int, found: MoveValues
):
    """Write the values of moves from at least two chunks of `samples` rollouts each.

    Args:
        sums: The sums over each chunk, which are replaced by means.
        samples: Rollouts of each move in a chunk.
        unbounded: Whether the search maps points to values below 1 by v = x / (x + 1), as in one-player games
            without a cap. The values written are those of x, and proportional to points.
        chosen: The index of the chosen move, -1 if there is none.
        policy: The index of the move of the rollout policy.
        found: The result.
    """
    values, expected, points = sums.values, sums.expected, sums.points
    _average(values, samples, unbounded)
    _average(expected, samples, unbounded)
    _average(points, samples, False)
    moves = values.shape[1]
    for move in range(moves):
        found.values[move] = _mean_of_difference(values, move, values, move, 0.0)
        found.errors[move] = _error_of_difference(values, move, values, move, 0.0)
        at = move
        while at > 0 and found.values[found.order[at - 1]] < found.values[move]:
            found.order[at] = found.order[at - 1]
            at -= 1
        found.order[at] = move
    best = found.order[0]
    cells = points.shape[1] // moves  # seats and tracks
    for move in range(moves):
        found.behind[move] = found.values[best] - found.values[move]
        found.behind_errors[move] = _error_of_difference(values, best, values, move, 1.0)
        for cell in range(cells):
            column, same_cell = move * cells + cell, best * cells + cell
            found.points[column] = _mean_of_difference(points, column, points, column, 0.0)
            found.point_errors[column] = _error_of_difference(points, same_cell, points, column, 1.0)
    own, own_column = (values, chosen) if chosen >= 0 else (expected, np.int64(0))
    _write_estimate(found.estimates, POLICY_VALUE, expected, 0, expected, 0, 0.0)
    _write_estimate(found.estimates, CHOICE, own, own_column, expected, 0, 1.0)
    _write_estimate(found.estimates, MARGIN, own, own_column, values, policy, 1.0)


@loop(bound=False)
def settle_seats(decisions: DecisionArrays, over: Bool, found: AccountArrays):
    """Compute the accounts of all seats.

    Args:
        decisions: The decisions.
        over: Whether the game has a result. Otherwise accounts end with each seat's last decision.
        found: The result.
    """
    accounts, pending = found.accounts, found.pending
    players = len(accounts)
    for seat in range(players):
        pending[seat, NOW] = accounts[seat, START]
        pending[seat, NOW_ERROR] = pending[seat, LOST] = pending[seat, LOST_ERROR] = 0.0
    for row in range(len(decisions.seats)):
        seat = decisions.seats[row]
        value = decisions.estimates[row, 2 * POLICY_VALUE + VALUE]
        value_error = decisions.estimates[row, 2 * POLICY_VALUE + ERROR]
        choice = decisions.estimates[row, 2 * CHOICE + VALUE]
        choice_error = decisions.estimates[row, 2 * CHOICE + ERROR]
        margin = decisions.estimates[row, 2 * MARGIN + VALUE]
        margin_error = decisions.estimates[row, 2 * MARGIN + ERROR]
        _settle(accounts, pending, seat, value, value_error * value_error, found.luck_before, row)
        pending[seat, NOW] = value + choice
        pending[seat, NOW_ERROR] = value_error * value_error
        accounts[seat, CHOICES] += choice
        accounts[seat, LUCK_ERROR] += choice_error * choice_error
        for opponent in range(players):
            if opponent != seat:
                share_error = margin_error / (players - 1)
                pending[opponent, LOST] += margin / (players - 1)
                pending[opponent, LOST_ERROR] += share_error * share_error
    for seat in range(players):
        if over:
            _settle(accounts, pending, seat, accounts[seat, RESULT], 0.0, found.luck_after, seat)
        else:
            found.luck_after[seat, VALUE] = found.luck_after[seat, ERROR] = 0.0
            accounts[seat, LUCK_ERROR] += pending[seat, NOW_ERROR]
            accounts[seat, RESULT] = pending[seat, NOW]
        accounts[seat, LUCK_ERROR] = np.sqrt(accounts[seat, LUCK_ERROR])


@loop(bound=False)
def write_result_values(ranks: Int64s, points: Float64Rows, full: Int, found: Float64s):
    """Write the value of a finished game for every seat.

    With several players, this is the share of opponents ranked lower; ties count half. In one-player games it
    is a weighted mean of the points: sorted in ascending order, each track has 1/50 of the weight of the
    track before it.

    Args:
        ranks: The rank of each seat, 1 the best.
        points: The points by seat and track. Those of one player are sorted.
        full: The number of points with a value of 1.
        found: The result.
    """
    players = len(ranks)
    for seat in range(players):
        found[seat] = 0.0
        for other in range(players):
            if other != seat and ranks[seat] <= ranks[other]:
                found[seat] += 1.0 if ranks[seat] < ranks[other] else 0.5
        found[seat] /= max(players - 1, 1)
    if players == 1:
        total, weights, weight = 0.0, 0.0, 1.0
        for track in range(points.shape[1]):
            at = track
            while at > 0 and points[0, at - 1] > points[0, at]:
                points[0, at - 1], points[0, at] = points[0, at], points[0, at - 1]
                at -= 1
        for track in range(points.shape[1]):
            total += weight * points[0, track]
            weights += weight
            weight *= NEXT_TRACK_WEIGHT
        found[0] = total / weights / full


LOOPS = (compare_moves, settle_seats, write_result_values)
