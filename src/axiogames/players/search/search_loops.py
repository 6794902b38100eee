"""Sequential halving in compiled code: all moves get rollouts, then the better half of the moves, and so on.

Every round has the same share of the budget. A search is one record, see `search_dtype`; the caller owns it,
and the clock, threads and all other memory:

    write the limits and the config into the record
    infer_hidden_tiles, list_legal
    run_rollouts                        of all legal moves, with no turns in determinization 0: their priors
    begin_search                        choose the moves to compare
    repeat for each round:
        until the share of the round is used up, or search_is_decided:
            run_rollouts                for the moves in `alive_actions`, from determinization `samples` on
            add_rollouts                add the results, chunk by chunk in order
        end_round                       drop the worse half of the moves
    rank_moves                          the result

Chunks of rollouts can run in any thread or process. Floats are added chunk by chunk, so that equal chunks
give equal results to the last bit.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ...games.runtime.compile import rule
from ...games.runtime.signatures import Actions, Argument, Float64s, Int, loop
from ...games.runtime.state import packed_dtype

MAX_COMPARED = 64  # moves in a search
MIN_ROLLOUTS = 40  # per move on average; with a smaller budget, fewer moves are compared
MIN_WIDTH = 4  # moves
FINALISTS = 2  # moves that the last round compares
CONFIDENCE = 3.0  # standard errors
NEGLIGIBLE = 0.001  # difference in value that is not worth more rollouts
MIN_SAMPLES = 100  # rollouts of each move before standard errors are trusted
NO_LIMIT = -1  # in place of a number of rollouts


def search_dtype() -> np.dtype[Any]:
    """Return the layout of a search."""
    return packed_dtype(
        # The caller writes these fields before the search begins.
        ("rollouts", np.int64),  # limit for all moves together, or `NO_LIMIT`
        ("width", np.int64),  # moves that are compared
        ("prior_weight", np.float64),  # rollouts that the one-ply value of a move counts as
        ("n_included", np.int64),
        ("included", np.int32, MAX_COMPARED),  # actions that are compared in any case
        # The moves that are compared, by action.
        ("moves", np.int64),
        ("actions", np.int32, MAX_COMPARED),
        ("priors", np.float64, MAX_COMPARED),  # the values of the moves before any rollout
        ("counts", np.int64, MAX_COMPARED),  # rollouts
        ("sums", np.float64, MAX_COMPARED),  # of their values
        ("squares", np.float64, MAX_COMPARED),
        # The current round.
        ("rounds", np.int64),  # of the whole search
        ("n_round", np.int64),  # counted from 1
        ("samples", np.int64),  # determinizations so far, in all rounds
        ("left", np.int64),  # determinizations that are left in this round if rollouts are limited
        ("n_alive", np.int64),
        ("alive", np.int64, MAX_COMPARED),  # indices of the moves that are still compared
        ("alive_actions", np.int32, MAX_COMPARED),
        # The result.
        ("order", np.int64, MAX_COMPARED),  # indices of the moves, the best first
        ("values", np.float64, MAX_COMPARED),  # the posterior value of each move
        ("errors", np.float64, MAX_COMPARED),  # the standard error of each value
    )


SearchArray = Annotated[Any, Argument(lambda game: np.zeros(1, search_dtype()))]


# ---------------------------------------------------------------- parts


@rule
def _posterior_value(record, move):
    """Return the mean value of a move, where its prior counts as `prior_weight` rollouts."""
    total = record.sums[move] + record.prior_weight * record.priors[move]
    return total / max(record.counts[move] + record.prior_weight, 1.0)


@rule
def _squared_error(record, move):
    """Return the squared standard error of the mean value of a move's rollouts."""
    count = max(record.counts[move], 1)
    mean = record.sums[move] / count
    return max(record.squares[move] / count - mean * mean, 0.0) / count


@rule
def _ranks_above(record, move, other):
    """Return whether a move has more rollouts than another one, or as many and a higher value."""
    if record.counts[move] != record.counts[other]:
        return record.counts[move] > record.counts[other]
    return record.values[move] > record.values[other]


@rule
def _insert_by_value(record, kept, keep, index, values):
    """Insert an index into `order`, the `keep` best by value; return the new length. Equals stay ahead."""
    if kept == keep and not values[index] > values[record.order[keep - 1]]:
        return kept
    at = min(kept, keep - 1)
    while at > 0 and values[record.order[at - 1]] < values[index]:
        record.order[at] = record.order[at - 1]
        at -= 1
    record.order[at] = index
    return min(kept + 1, keep)


@rule
def _sort_order(record, n):
    """Sort the first `n` indices in `order`, ascending."""
    for i in range(1, n):
        index = record.order[i]
        at = i
        while at > 0 and record.order[at - 1] > index:
            record.order[at] = record.order[at - 1]
            at -= 1
        record.order[at] = index


@rule
def _start_round(record):
    """List the actions that are alive, and give them their share of the rollouts."""
    for i in range(record.n_alive):
        record.alive_actions[i] = record.actions[record.alive[i]]
    record.left = max(np.int64(1), record.rollouts // record.rounds // max(record.n_alive, np.int64(1)))


@rule
def _choose_moves(record, actions, priors, n):
    """Write the actions that are compared, and their priors."""
    keep = min(record.width, n)
    if record.rollouts != NO_LIMIT:
        keep = min(max(np.int64(MIN_WIDTH), min(record.width, record.rollouts // MIN_ROLLOUTS)), n)
    kept = np.int64(0)
    for i in range(n):
        kept = _insert_by_value(record, kept, keep, np.int64(i), priors)
    for i in range(n):
        for k in range(record.n_included):
            if actions[i] == record.included[k]:
                kept = _append(record, kept, np.int64(i))
    _sort_order(record, kept)
    record.moves = kept
    for i in range(kept):
        record.actions[i] = actions[record.order[i]]
        record.priors[i] = priors[record.order[i]]


@rule
def _append(record, kept, index):
    """Append an index to the first `kept` of `order`, unless it is one of them; return the new length."""
    for i in range(kept):
        if record.order[i] == index:
            return kept
    record.order[kept] = index
    return kept + 1


# ---------------------------------------------------------------- loops that Python calls


@loop(bound=False)
def begin_search(search: SearchArray, actions: Actions, priors: Float64s, n: Int):
    """Choose the moves that a search compares, and start its first round.

    Of the `n` legal moves in `actions`, these are the `width` best ones by their values in `priors`, and
    those in `included`. `width` and `n_included` add up to at most `MAX_COMPARED`.
    """
    record = search[0]
    _choose_moves(record, actions, priors, n)
    record.samples = 0
    record.n_round = 1
    record.rounds = 1
    size = FINALISTS
    while size < record.moves:  # as often as the moves can be halved
        size *= 2
        record.rounds += 1
    record.n_alive = record.moves
    for i in range(record.moves):
        record.alive[i] = i
        record.counts[i] = 0
        record.sums[i] = record.squares[i] = 0.0
    _start_round(record)


@loop(bound=False)
def add_rollouts(search: SearchArray, samples: Int, values: Float64s, squares: Float64s):
    """Add the results of rollouts of the moves that are alive, in the next `samples` determinizations.

    `values` and `squares` are sums over these rollouts, see `RolloutSums`.
    """
    record = search[0]
    for i in range(record.n_alive):
        move = record.alive[i]
        record.counts[move] += samples
        record.sums[move] += values[i]
        record.squares[move] += squares[i]
    record.samples += samples
    record.left -= samples


@loop(bound=False)
def search_is_decided(search: SearchArray):
    """Return whether no move can be better than the best one by more than `NEGLIGIBLE`."""
    record = search[0]
    best = record.alive[0]
    for i in range(record.n_alive):
        move = record.alive[i]
        if record.counts[move] < MIN_SAMPLES:
            return False
        if _posterior_value(record, move) > _posterior_value(record, best):
            best = move
    value, variance = _posterior_value(record, best), _squared_error(record, best)
    for i in range(record.n_alive):
        move = record.alive[i]
        bound = _posterior_value(record, move) + CONFIDENCE * np.sqrt(_squared_error(record, move) + variance)
        if move != best and not bound - value < NEGLIGIBLE:
            return False
    return True


@loop(bound=False)
def end_round(search: SearchArray):
    """Drop the worse half of the moves and start the next round. Return whether there is one."""
    record = search[0]
    if record.n_round >= record.rounds:
        return False
    keep = max(np.int64(FINALISTS), (record.n_alive + 1) // 2)
    for i in range(record.moves):
        record.values[i] = _posterior_value(record, i)
    kept = np.int64(0)
    for i in range(record.n_alive):
        kept = _insert_by_value(record, kept, keep, record.alive[i], record.values)
    _sort_order(record, kept)
    for i in range(kept):
        record.alive[i] = record.order[i]
    record.n_alive = kept
    record.n_round += 1
    _start_round(record)
    return True


@loop(bound=False)
def rank_moves(search: SearchArray):
    """Write the values of the moves, their errors and their order.

    Moves with more rollouts come first: those of the last round, then those of the round before. Within a
    round, moves are ordered by value.
    """
    record = search[0]
    for move in range(record.moves):
        record.values[move] = _posterior_value(record, move)
        record.errors[move] = np.sqrt(_squared_error(record, move))
        at = move
        while at > 0 and _ranks_above(record, move, record.order[at - 1]):
            record.order[at] = record.order[at - 1]
            at -= 1
        record.order[at] = move


LOOPS = (begin_search, add_rollouts, search_is_decided, end_round, rank_moves)
