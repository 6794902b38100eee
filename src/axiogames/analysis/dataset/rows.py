"""Playing the games of a dataset: one row for each decision of a player."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...model.table import Table
from ...model.view import View
from ...players.engines.specs import open_players, warm_up
from ...rng import Generator
from .settings import DatasetSettings, budget_of

Row = dict[str, Any]  # column name (see `schema.arrow_schema`) to value


def observation_columns(view: View, legal: bool) -> Row:
    """Return the columns that describe the position, from what the seat to move knows.

    Args:
        view: view of the seat to move.
        legal: whether the legal actions are included.
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


def _move_columns(table: Table, view: View, gain: dict[str, int]) -> Row:
    """Return the columns that describe the last move, before any draw after it."""
    action = table.actions[-1]
    return {
        "action": action,
        "move": str(view.variant.decode(view.state, action)),
        "gain": [gain.get(track, 0) for track in view.variant.tracks],
    }


def game_rows(settings: DatasetSettings, game: int) -> list[Row]:
    """Play a game and return its rows, which are determined by the settings and the number of the game.

    The game has the seed SEED/game and its seats the random generators of a match, so without noise it is the
    match of these players on this seed. Noise has a random generator of its own.
    """
    seed = f"{settings.seed}/{game}"
    table = Table(settings.variant, seed)
    rng = [Generator(f"{seed}/player {seat}") for seat in range(settings.players)]
    noise = Generator(f"{seed}/noise")
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
            rows.append(row | _move_columns(table, view, table.play(move, deal=False)))
            table.deal()
    result = table.result
    assert result is not None, "a game is played to its end"
    end: Row = {"final_scores": [list(points.values()) for points in result.scores], "places": result.place}
    for row in rows:
        place = result.place[row["seat"]]
        row |= end | {"place": place, "won": place == 1}
    return rows


@cache
def warm_up_bots(settings: DatasetSettings) -> None:
    """Compile and load in this process what the games need."""
    warm_up(settings.variant, list(dict.fromkeys(settings.bots)))
