"""Playing the games of a dataset: a row for each decision of a player."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...model.table import Table
from ...model.view import View
from ...players.engines.specs import seated, warm_up
from ...rng import Generator
from .settings import Settings, budget_of

Row = dict[str, Any]  # by the names of `columns.schema`


def seen(view: View, legal: bool) -> Row:
    """What a row holds of the position: nothing but what the seat to move knows."""
    actions = view.legal_moves().actions
    row: Row = {
        "seat": view.turn,
        "position": view.position,
        "state": view.state.tobytes(),
        "scores": view.state["scores"][0, : view.players].tolist(),
        "legal_count": len(actions),
    }
    return {**row, "legal": actions} if legal else row


def play(settings: Settings, game: int) -> list[Row]:
    """The rows of a game. They follow from the settings and its number, wherever it is played.

    The game has the seed SEED/game and its seats the lots that a match has, so that without noise it is the
    match of these players on this seed. Moves by lot have lots of their own.
    """
    seed = f"{settings.seed}/{game}"
    table = Table(settings.variant, seed)
    rng = [Generator(f"{seed}/player {seat}") for seat in range(settings.players)]
    noise = Generator(f"{seed}/noise")
    bots = settings.seats(game)
    rows: list[Row] = []
    with seated(bots) as players:
        budgets = [budget_of(player) for player in players]
        while (seat := table.turn) is not None:
            view = table.view(seat)
            row = seen(view, settings.legal)
            by_lot = noise.bits() < settings.noise * 2**64
            if by_lot:
                moves = view.legal_moves()
                move = moves[noise.randint(len(moves))]
            else:
                move = players[seat].choose(view, budgets[seat], rng[seat]).move
            row |= {"game": game, "ply": table.plies, "bot": bots[seat], "lot": by_lot}
            rows.append(row | _made(table, view, table.play(move, deal=False)))
            table.deal()
    result = table.result
    assert result is not None, "a game is played to its end"
    end: Row = {"final_scores": [list(points.values()) for points in result.scores], "places": result.place}
    for row in rows:
        place = result.place[row["seat"]]
        row |= end | {"place": place, "won": place == 1}
    return rows


def _made(table: Table, view: View, gain: dict[str, int]) -> Row:
    """What a row holds of the move that was just made, before any draw after it."""
    action = table.actions[-1]
    return {
        "action": action,
        "move": str(view.variant.decode(view.state, action)),
        "gain": [gain.get(track, 0) for track in view.variant.tracks],
    }


@cache
def warm(settings: Settings) -> None:
    """Have everything compiled in this process that its games need."""
    warm_up(settings.variant, list(dict.fromkeys(settings.bots)))
