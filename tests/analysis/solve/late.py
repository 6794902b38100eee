"""Late positions of solo games, and the best of them by trying everything, without any code of the solver."""

from __future__ import annotations

from functools import cache

from axiogames.model.record import Record, record_of
from axiogames.model.table import Table, new_game
from axiogames.players import player
from axiogames.players.match import play_match

Points = tuple[int, ...]


@cache
def solo_record(name: str, seed: int = 1, *, with_seed: bool = True, by: str = "greedy") -> Record:
    """A whole game of one player."""
    return record_of(play_match(name, [player(by)], seed), ["Ada"], with_seed=with_seed)


def late_table(name: str, seed: int, tiles: int) -> Table:
    """A game of one player that deals, so many moves before the end it came to."""
    moves = [str(move) for move in play_match(name, [player("greedy")], seed).moves]
    return new_game(name, 1, seed=seed, moves=moves[: len(moves) - tiles])


def sorted_points(table: Table) -> Points:
    """The result of one player, as results are compared."""
    return tuple(sorted(table.scores[0].values()))


def best_of_all(table: Table) -> tuple[Points, int]:
    """The best sorted points of any play from here at a table that deals, and the most points together."""
    if table.over:
        return sorted_points(table), sum(sorted_points(table))
    best: Points = ()
    most = 0
    for action in table.legal_moves().actions.tolist():
        after = table.copy()
        after.play_unchecked(action)
        points, total = best_of_all(after)
        best, most = max(best, points), max(most, total)
    return best, most
