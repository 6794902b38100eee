"""Make the golden files: records, counts of moves and their order, for each game."""

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
TABLES = (("greedy",), ("greedy", "balanced"), ("balanced", "greedy", "random"), ("balanced",) * 4)


def records(name: str) -> str:
    """Whole games for one to four players, and one with all options, as lines."""
    plays: list[tuple[tuple[str, ...], dict[str, bool]]] = [(players, {}) for players in TABLES]
    if options := {option.name: True for option in game(name).options}:
        plays.append((TABLES[1], options))
    lines = []
    for players, chosen in plays:
        table = play_match(name, [player(p) for p in players], "golden", options=chosen)
        lines.append(record_of(table, players).to_json() + "\n")
    return "".join(lines)


def counts(name: str) -> dict[str, Any]:
    """How many moves there are one, two and (for one line of play) many plies deep, and in which order."""
    table = new_game(name, 2, seed="golden")
    first = [str(move) for move in table.legal_moves()]
    return {
        "moves": len(first),
        "first moves": first[:8],
        "order": hashlib.sha256("\n".join(first).encode()).hexdigest(),
        "two plies": sum(len(after.legal_moves()) for after in each_reply(table)),
        "along a game": along_a_game(name),
    }


def each_reply(table: Table) -> list[Table]:
    replies = []
    for move in table.legal_moves():
        after = table.copy()
        after.play(move)
        replies.append(after)
    return replies


def along_a_game(name: str) -> list[int]:
    """The number of legal moves at each ply of a game in which the middle one is always played."""
    table, numbers = new_game(name, 2, seed="golden"), []
    while moves := table.legal_moves():
        numbers.append(len(moves))
        table.play(moves[len(moves) // 2])
    return numbers


def files(name: str) -> dict[Path, str]:
    """The golden files of a game."""
    return {
        FOLDER / f"{name}.jsonl": records(name),
        FOLDER / f"{name}.json": json.dumps(counts(name), indent=1) + "\n",
    }


if __name__ == "__main__":
    for each in GAMES:
        for path, text in files(each).items():
            path.write_text(text, encoding="utf-8")
            print(path)
