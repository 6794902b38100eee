"""Write the golden files: records, numbers of legal moves, and the order of moves, for each game."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from axiogames.games import GAMES, game
from axiogames.model.record import record_of
from axiogames.model.table import Table, new_game
from axiogames.players import player
from axiogames.players.match import play_match

FOLDER = Path(__file__).parent
LINE_UPS = (("greedy",), ("greedy", "balanced"), ("balanced", "greedy", "random"), ("balanced",) * 4)


def records(name: str) -> str:
    """Return whole games for one to four players, and one with all options, as lines of records."""
    plays: list[tuple[tuple[str, ...], dict[str, bool]]] = [(players, {}) for players in LINE_UPS]
    if options := {option.name: True for option in game(name).options}:
        plays.append((LINE_UPS[1], options))
    lines = []
    for players, chosen in plays:
        table = play_match(name, [player(p) for p in players], "golden", options=chosen)
        lines.append(record_of(table, players).to_json() + "\n")
    return "".join(lines)


def counts(name: str) -> dict[str, Any]:
    """Return numbers of legal moves one ply, two plies and (in one game) many plies deep, and their order."""
    table = new_game(name, 2, seed="golden")
    moves = [str(move) for move in table.legal_moves()]
    return {
        "moves": len(moves),
        "first moves": moves[:8],
        "order": hashlib.sha256("\n".join(moves).encode()).hexdigest(),
        "two plies": sum(len(after.legal_moves()) for after in replies(table)),
        "along a game": counts_along_a_game(name),
    }


def replies(table: Table) -> list[Table]:
    """Return copies of a table after each legal move."""
    found = []
    for move in table.legal_moves():
        after = table.copy()
        after.play(move)
        found.append(after)
    return found


def counts_along_a_game(name: str) -> list[int]:
    """Return the number of legal moves at each ply of a game in which the middle move is always played."""
    table, numbers = new_game(name, 2, seed="golden"), []
    while moves := table.legal_moves():
        numbers.append(len(moves))
        table.play(moves[len(moves) // 2])
    return numbers


def files(name: str) -> dict[Path, str]:
    """Return the golden files of a game and their content."""
    return {
        FOLDER / f"{name}.jsonl": records(name),
        FOLDER / f"{name}.json": json.dumps(counts(name), indent=1) + "\n",
    }


if __name__ == "__main__":
    for each in GAMES:
        for path, text in files(each).items():
            path.write_text(text, encoding="utf-8")
            print(path)
