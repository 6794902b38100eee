"""The oracle: an independent, literal referee for the four games that the package is compared with.

`referee(...)` starts a game; `replay(record)` checks a complete `axio-record/1` record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.games.oracle.base import Move, OracleError, Referee, check
from tests.games.oracle.dominoes import Axio, Hex
from tests.games.oracle.rota import Rota
from tests.games.oracle.trio import Trio

__all__ = ["Move", "OracleError", "Referee", "referee", "replay"]


def referee(game: str, players: int, options: Mapping[str, bool], setup: Mapping[str, Any]) -> Referee:
    classes: dict[str, type[Referee]] = {"axio": Axio, "hex": Hex, "rota": Rota, "trio": Trio}
    check(isinstance(game, str) and game in classes, f"unknown game {game!r}")
    check(isinstance(options, Mapping) and isinstance(setup, Mapping), "options and setup are objects")
    return classes[game](players, options, setup)


def replay(record: Mapping[str, Any]) -> Referee:
    """Replay a complete record; the error names the first invalid event."""
    check(isinstance(record, Mapping), "a record is an object")
    check(record.get("format") == "axio-record/1", f"unknown format {record.get('format')!r}")
    names = record.get("players")
    check(isinstance(names, list), "players must be a list of names")
    assert isinstance(names, list)
    check(all(isinstance(name, str) for name in names), "players must be a list of names")
    ref = referee(record.get("game", ""), len(names), record.get("options", {}), record.get("setup", {}))
    events = record.get("events")
    check(isinstance(events, list), "events must be a list")
    assert isinstance(events, list)
    for index, e in enumerate(events):
        try:
            ref.event(e)
        except OracleError as error:
            raise OracleError(f"event {index}: {error}") from error
    check(ref.over == ("result" in record), f"result present: {'result' in record}, game over: {ref.over}")
    if ref.over:
        result = record["result"]
        check(isinstance(result, Mapping), "result must be an object")
        for key, value in ref.result().items():
            check(result.get(key) == value, f"result: {key} is {result.get(key)!r}, not {value!r}")
    return ref
