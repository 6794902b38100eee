"""Generating a dataset: playing its games, in one process or several, and collecting a row per decision."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from time import perf_counter

import numpy as np

from ...model.events import Result
from ...model.position import Position
from ...model.table import Table
from ...model.view import View
from ...moves import Action
from ...parallel import map_unordered
from ...players.bulk.games import bulk_games, policies_of
from ...players.engines.specs import open_players, warm_up
from ...rng import Generator as RandomGenerator
from .parts import DatasetPart, PartRange, PartStore, encode_part, open_parts
from .schema import DatasetMetadata, Row
from .settings import DatasetSettings, budget_of

SECONDS_PER_PART = 2.0  # at most this much work is lost if the process is killed
MAX_GAMES_PER_PART = 256


def write_dataset(settings: DatasetSettings, path: str | Path, *, jobs: int = 1, force: bool = False) -> int:
    """Write a dataset, or resume one that was interrupted, and return its number of rows.

    Args:
        settings: settings of the dataset.
        path: the Parquet file to write.
        jobs: number of processes.
        force: whether to replace an existing file.

    Raises:
        InvalidFile: the file exists, or cannot be written.
        SettingsMismatch: the interrupted dataset has different settings.
        MissingDependency: pyarrow is not installed.
    """
    with open_parts(settings, path, force=force) as store:
        with closing(generate_parts(store, jobs)) as parts:
            for part in parts:
                store.add(part)
        store.join()
        return store.positions


def generate_parts(store: PartStore, jobs: int = 1) -> Generator[DatasetPart, None, None]:
    """Play the missing games and yield each part when it is complete.

    The caller adds it to the store. Close the generator to stop early.
    """
    missing = list(store.missing())
    if not missing:
        return
    settings = store.metadata.settings
    warm_up_bots(settings)  # fills the compile cache, which other processes use
    start = perf_counter()
    first = missing[0].first
    yield generate_part(settings, PartRange(first, first + 1))
    size = max(1, min(MAX_GAMES_PER_PART, int(SECONDS_PER_PART / (perf_counter() - start))))
    missing[0] = missing[0]._replace(first=first + 1)
    ranges = [part_range for games in missing for part_range in split_range(games, size)]
    with closing(map_unordered(partial(generate_part, settings), ranges, jobs)) as parts:
        yield from parts


def split_range(games: PartRange, size: int) -> Iterator[PartRange]:
    """Yield consecutive ranges of `size` games; the last one may be shorter.

    >>> list(split_range(PartRange(3, 8), 2))
    [PartRange(first=3, end=5), PartRange(first=5, end=7), PartRange(first=7, end=8)]
    """
    for first in range(games.first, games.end, size):
        yield PartRange(first, min(first + size, games.end))


def generate_part(settings: DatasetSettings, games: PartRange) -> DatasetPart:
    """Play a range of games and return their rows as a part."""
    warm_up_bots(settings)
    rows = [row for game in range(*games) for row in game_rows(settings, game)]
    return encode_part(DatasetMetadata.of(settings), games, rows)


@cache
def warm_up_bots(settings: DatasetSettings) -> None:
    """Let every bot choose a move once in this process, so that compiling and loading are not timed."""
    policies = policies_of(settings.seats(0))
    if policies is not None:
        bulk_games(settings.variant).play("warm-up", policies)
    if policies_of(settings.bots) is None:
        warm_up(settings.variant, list(dict.fromkeys(settings.bots)))


# ---------------------------------------------------------------- rows


def observation_columns(view: View, legal: bool) -> Row:
    """Return the columns that describe the position, as the seat to move sees it.

    Args:
        view: view of the seat to move.
        legal: whether to include the legal actions.
    """
    actions = view.legal_moves().actions
    row: Row = {
        "seat": view.turn,
        "position": view.position,
        "state": view.state.tobytes(),
        "scores": view.state["scores"][0, : view.players].tolist(),
        "legal_count": len(actions),
    }
    return {**row, "legal": actions} if legal else row


def game_rows(settings: DatasetSettings, game: int) -> list[Row]:
    """Play a game and return its rows, which depend only on the settings and the index of the game.

    The game has the seed SEED/game, and its seats have the same random generators as in a match. Without
    noise, it is therefore the match of these bots on this seed. Noise has a separate random generator.
    """
    policies = policies_of(settings.seats(game))
    return rows_at_table(settings, game) if policies is None else rows_in_bulk(settings, game, policies)


def rows_in_bulk(settings: DatasetSettings, game: int, policies: np.ndarray) -> list[Row]:
    """Play a game of simple bots in compiled code and return its rows."""
    variant, bots = settings.variant, settings.seats(game)
    played = bulk_games(variant).play(f"{settings.seed}/{game}", policies, settings.noise)
    seats, gains = played.states["seat"].tolist(), played.states["gain"].tolist()
    actions, noisy = played.actions.tolist(), played.noisy.tolist()
    rows: list[Row] = []
    for ply, n in enumerate(played.moves.tolist()):
        seat, action = seats[n], actions[n]
        view = View(variant, variant.redact(played.states[n : n + 1], seat), seat, ())
        row = observation_columns(view, settings.legal)
        row |= {"game": game, "ply": ply, "bot": bots[seat], "lot": noisy[n]}
        gain = gains[n + 1] if action < variant.placements else [0] * len(variant.tracks)
        rows.append(row | _move_columns(view, action, gain))
    return _with_result(rows, Position(variant, played.states[-1:]).result)


def rows_at_table(settings: DatasetSettings, game: int) -> list[Row]:
    """Play a game of any players and return its rows."""
    seed = f"{settings.seed}/{game}"
    table = Table(settings.variant, seed)
    rng = [RandomGenerator(f"{seed}/player {seat}") for seat in range(settings.players)]
    noise = RandomGenerator(f"{seed}/noise")
    bots = settings.seats(game)
    rows: list[Row] = []
    with open_players(bots) as players:
        budgets = [budget_of(player) for player in players]
        while (seat := table.turn) is not None:
            view = table.view(seat)
            row = observation_columns(view, settings.legal)
            noisy = noise.bits() < settings.noise * 2**64
            if noisy:
                moves = view.legal_moves()
                move = moves[noise.randint(len(moves))]
            else:
                move = players[seat].choose(view, budgets[seat], rng[seat]).move
            row |= {"game": game, "ply": table.plies, "bot": bots[seat], "lot": noisy}
            gain = table.play(move, deal=False)  # without the tiles drawn afterwards
            points = [gain.get(track, 0) for track in view.variant.tracks]
            rows.append(row | _move_columns(view, table.actions[-1], points))
            table.deal()
    return _with_result(rows, table.result)


def _move_columns(view: View, action: Action, gain: Sequence[int]) -> Row:
    """Return the columns that describe a move in a position."""
    return {"action": action, "move": str(view.variant.decode(view.state, action)), "gain": gain}


def _with_result(rows: list[Row], result: Result | None) -> list[Row]:
    """Add the columns of the result to the rows of a game."""
    assert result is not None, "a game is played to its end"
    end: Row = {"final_scores": [list(points.values()) for points in result.scores], "places": result.place}
    for row in rows:
        place = result.place[row["seat"]]
        row |= end | {"place": place, "won": place == 1}
    return rows
