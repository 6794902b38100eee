"""Late positions of one-player games, and their optimum by exhaustive search without code of the solver."""

from __future__ import annotations

from functools import cache

from axiogames.model.record import Record, record_of
from axiogames.model.table import Table, new_game
from axiogames.players import player
from axiogames.players.match import play_match

Points = tuple[int, ...]


@cache
def solo_record(name: str, seed: int = 1, *, with_seed: bool = True, by: str = "greedy") -> Record:
    """Return a whole one-player game."""
    return record_of(play_match(name, [player(by)], seed), ["Ada"], with_seed=with_seed)


def late_table(name: str, seed: int, tiles: int) -> Table:
    """Return a one-player table with a seed, `tiles` moves before the end of a greedy game."""
    moves = [str(move) for move in play_match(name, [player("greedy")], seed).moves]
    return new_game(name, 1, seed=seed, moves=moves[: len(moves) - tiles])


def sorted_points(table: Table) -> Points:
    """Return the points of a one-player game in ascending order, as results are compared."""
    return tuple(sorted(table.scores[0].values()))


def exhaustive_search(table: Table) -> tuple[Points, int]:
    """Return the best sorted points of all lines from here, and the largest total."""
    if table.over:
        return sorted_points(table), sum(sorted_points(table))
    best: Points = ()
    largest = 0
    for action in table.legal_moves().actions.tolist():
        after = table.copy()
        after.play_unchecked(action)
        points, total = exhaustive_search(after)
        best, largest = max(best, points), max(largest, total)
    return best, largest
