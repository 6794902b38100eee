"""SIGKILL at random instants loses no acknowledged move and never applies half a move.

The long run is `python -m tests.server.crash`.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.crash.checker import Inconsistency, LogChecker
from tests.server.crash.crash_loop import run
from tests.server.crash.ledger import Counts, Json, Ledger, Sent
from tests.server.crash.stored import StoredTable, read
from tests.server.in_process import running_app
from tests.server.postgres import Postgres

ON_SQLITE, ON_POSTGRESQL = 36, 16  # number of kills


def check(counts: Counts, kills: int) -> None:
    """Check that a run covered the relevant situations."""
    assert counts.kills == kills
    assert counts.acknowledged > 0
    assert counts.delivered > counts.acknowledged
    assert counts.cut_off > counts.stored


def test_kill_loses_no_acknowledged_move_on_sqlite() -> None:
    check(run(ON_SQLITE, seed=1), ON_SQLITE)


def test_kill_loses_no_acknowledged_move_on_postgresql(postgres: Postgres) -> None:
    check(run(ON_POSTGRESQL, [postgres.create(), postgres.create()], seed=2), ON_POSTGRESQL)


# ---------------------------------------------------------------- the checker itself


def record_game(folder: Path) -> tuple[StoredTable, Ledger]:
    """Return the stored log of a short game against a bot, and the player's ledger."""

    async def play() -> tuple[StoredTable, Ledger]:
        async with running_app(folder) as app:
            ann = await app.guest("Ann")
            seats = [{"kind": "me"}, {"kind": "bot", "level": "greedy"}]
            table = (await app.open(ann, "axio", seats))["id"]
            ledger = Ledger(table, seated={ann.id})
            socket = await app.socket(table, ann.token)
            view = await socket.until(lambda message: message["moves"] is not None)
            for number in range(4):
                sent = Sent(f"a{number}", 0, view["n"], "move", pick=number)
                ledger.sent[0, sent.id] = sent
                sent.acknowledged, sent.exactly = (await socket.request(**sent.message))["n"], True
                view = await socket.until(lambda message: message.get("moves") is not None)
            late = Sent("late", 0, 1, "move", pick=0)
            ledger.sent[0, late.id] = late
            late.refused = (await socket.request(**late.message))["code"]
            for text in await socket.drain():
                message = json.loads(text)
                if message["type"] in ("view", "step"):
                    ledger.add(message)
            return (await read(app.server.database.engine, [table]))[table], ledger

    return asyncio.run(play())


def edit(stored: StoredTable, matches: Callable[[Json], bool], change: Callable[[Json], object]) -> None:
    """Change the first entry that matches."""
    entries = [json.loads(body) for _, _, body in stored.entries]
    index = next(index for index, entry in enumerate(entries) if matches(entry))
    change(entries[index])
    stored.entries[index] = *stored.entries[index][:2], json.dumps(entries[index])


def has_draw(entry: Json) -> bool:
    return entry["a"] == "move" and bool(entry.get("drawn"))


def drop_last_entry(stored: StoredTable, _: Ledger) -> None:
    at = stored.entries[-2][1]
    stored.entries.pop()
    stored.row.update(number=len(stored.entries), moves=stored.row["moves"] - 1, turn=1, updated=at, due=at)


def drop_middle_entry(stored: StoredTable, _: Ledger) -> None:
    del stored.entries[4]


def drop_drawn_tiles(stored: StoredTable, _: Ledger) -> None:
    edit(stored, has_draw, lambda entry: entry.pop("drawn"))


def change_drawn_tile(stored: StoredTable, _: Ledger) -> None:
    edit(stored, has_draw, lambda entry: entry.update(drawn=["GG" if entry["drawn"] == ["RR"] else "RR"]))


def change_picked_move(stored: StoredTable, ledger: Ledger) -> None:
    ledger.sent[0, "a2"].pick = 17


def repeat_message_id(stored: StoredTable, _: Ledger) -> None:
    edit(stored, lambda entry: entry.get("id") == "a2", lambda entry: entry.update(id="a0"))


def drop_message_id(stored: StoredTable, _: Ledger) -> None:
    edit(stored, lambda entry: entry.get("id") == "a1", lambda entry: entry.pop("id"))


def apply_refused_message(stored: StoredTable, ledger: Ledger) -> None:
    ledger.sent[0, "a1"].refused = "stale"


def outdated_table_row(stored: StoredTable, _: Ledger) -> None:
    stored.row["number"] -= 1


def table_row_without_turn(stored: StoredTable, _: Ledger) -> None:
    stored.row["turn"] = None


def outdated_seat_row(stored: StoredTable, _: Ledger) -> None:
    stored.seats[1]["bot"] = None


def unknown_seated_person(_: StoredTable, ledger: Ledger) -> None:
    ledger.seated.add("Bob")


def deliver_wrong_scores(_: StoredTable, ledger: Ledger) -> None:
    ledger.delivered[-1].message["now"]["scores"][0][0] += 1


def deliver_missing_event(_: StoredTable, ledger: Ledger) -> None:
    ledger.delivered[1].message["events"].pop()


def deliver_unknown_entry(_: StoredTable, ledger: Ledger) -> None:
    ledger.delivered[-1].message["n"] += 1


CORRUPTIONS = [
    drop_last_entry,
    drop_middle_entry,
    drop_drawn_tiles,
    change_drawn_tile,
    change_picked_move,
    repeat_message_id,
    drop_message_id,
    apply_refused_message,
    outdated_table_row,
    table_row_without_turn,
    outdated_seat_row,
    unknown_seated_person,
    deliver_wrong_scores,
    deliver_missing_event,
    deliver_unknown_entry,
]


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> tuple[StoredTable, Ledger]:
    return record_game(tmp_path_factory.mktemp("game"))


def test_checker_accepts_a_consistent_log(game: tuple[StoredTable, Ledger]) -> None:
    stored, ledger = copy.deepcopy(game)
    LogChecker(stored, ledger).compare(stored)
    assert len(stored.entries) >= 10


@pytest.mark.parametrize("corrupt", CORRUPTIONS, ids=lambda corrupt: corrupt.__name__)
def test_checker_detects_inconsistencies(
    game: tuple[StoredTable, Ledger], corrupt: Callable[[StoredTable, Ledger], None]
) -> None:
    stored, ledger = copy.deepcopy(game)
    corrupt(stored, ledger)
    with pytest.raises(Inconsistency):
        LogChecker(stored, ledger).compare(stored)


def test_checker_detects_changed_entries(game: tuple[StoredTable, Ledger]) -> None:
    stored, ledger = copy.deepcopy(game)
    checker = LogChecker(stored, ledger)
    checker.compare(stored)
    number, at, body = stored.entries[-1]
    stored.entries[-1] = number, at + 1, body
    with pytest.raises(Inconsistency, match="have changed"):
        checker.compare(stored)
