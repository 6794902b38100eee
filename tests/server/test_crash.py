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

from tests.server.crash.arena import run
from tests.server.crash.audit import Book, Lost
from tests.server.crash.kept import Kept, read
from tests.server.crash.ledger import Counts, Json, Ledger, Sent
from tests.server.in_process import running_app
from tests.server.postgres import Postgres

ON_SQLITE, ON_POSTGRESQL = 36, 16  # number of kills


def check(counts: Counts, kills: int) -> None:
    """Check that a run covered the relevant situations."""
    assert counts.kills == kills
    assert counts.acknowledged > 0
    assert counts.told > counts.acknowledged
    assert counts.cut_off > counts.kept


def test_kill_loses_no_acknowledged_move_on_sqlite() -> None:
    check(run(ON_SQLITE, seed=1), ON_SQLITE)


def test_kill_loses_no_acknowledged_move_on_postgresql(postgres: Postgres) -> None:
    check(run(ON_POSTGRESQL, [postgres.create(), postgres.create()], seed=2), ON_POSTGRESQL)


# ---------------------------------------------------------------- whoever compares is compared


def a_game(folder: Path) -> tuple[Kept, Ledger]:
    """Return the stored log of a short game against a bot, and the player's ledger."""

    async def play() -> tuple[Kept, Ledger]:
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
            refused = Sent("late", 0, 1, "move", pick=0)
            ledger.sent[0, refused.id] = refused
            refused.refused = (await socket.request(**refused.message))["code"]
            for text in await socket.drain():
                message = json.loads(text)
                if message["type"] in ("view", "step"):
                    ledger.hear(message)
            return (await read(app.server.database.engine, [table]))[table], ledger

    return asyncio.run(play())


def edit(kept: Kept, which: Callable[[Json], bool], change: Callable[[Json], object]) -> None:
    """Change the first entry that matches."""
    acts = [json.loads(body) for _, _, body in kept.entries]
    index = next(index for index, act in enumerate(acts) if which(act))
    change(acts[index])
    kept.entries[index] = *kept.entries[index][:2], json.dumps(acts[index])


def with_a_draw(act: Json) -> bool:
    return act["a"] == "move" and bool(act.get("drawn"))


def losing_the_last_entry(kept: Kept, _: Ledger) -> None:
    at = kept.entries[-2][1]
    kept.entries.pop()
    kept.row.update(number=len(kept.entries), moves=kept.row["moves"] - 1, turn=1, updated=at, due=at)


def losing_an_entry_in_the_middle(kept: Kept, _: Ledger) -> None:
    del kept.entries[4]


def losing_what_was_drawn(kept: Kept, _: Ledger) -> None:
    edit(kept, with_a_draw, lambda act: act.pop("drawn"))


def drawing_something_else(kept: Kept, _: Ledger) -> None:
    edit(kept, with_a_draw, lambda act: act.update(drawn=["GG" if act["drawn"] == ["RR"] else "RR"]))


def making_another_move(kept: Kept, ledger: Ledger) -> None:
    ledger.sent[0, "a2"].pick = 17


def making_a_move_twice(kept: Kept, _: Ledger) -> None:
    edit(kept, lambda act: act.get("id") == "a2", lambda act: act.update(id="a0"))


def losing_whose_message_it_was(kept: Kept, _: Ledger) -> None:
    edit(kept, lambda act: act.get("id") == "a1", lambda act: act.pop("id"))


def carrying_out_what_was_refused(kept: Kept, ledger: Ledger) -> None:
    ledger.sent[0, "a1"].refused = "stale"


def a_row_that_lags_behind(kept: Kept, _: Ledger) -> None:
    kept.row["number"] -= 1


def a_row_without_its_turn(kept: Kept, _: Ledger) -> None:
    kept.row["turn"] = None


def a_seat_that_is_not_repeated(kept: Kept, _: Ledger) -> None:
    kept.seats[1]["bot"] = None


def somebody_who_does_not_sit_there(_: Kept, ledger: Ledger) -> None:
    ledger.seated.add("Bob")


def being_told_of_other_points(_: Kept, ledger: Ledger) -> None:
    ledger.told[-1].message["now"]["scores"][0][0] += 1


def being_told_of_other_events(_: Kept, ledger: Ledger) -> None:
    ledger.told[1].message["events"].pop()


def being_told_more_than_there_is(_: Kept, ledger: Ledger) -> None:
    ledger.told[-1].message["n"] += 1


WRONG = [
    losing_the_last_entry,
    losing_an_entry_in_the_middle,
    losing_what_was_drawn,
    drawing_something_else,
    making_another_move,
    making_a_move_twice,
    losing_whose_message_it_was,
    carrying_out_what_was_refused,
    a_row_that_lags_behind,
    a_row_without_its_turn,
    a_seat_that_is_not_repeated,
    somebody_who_does_not_sit_there,
    being_told_of_other_points,
    being_told_of_other_events,
    being_told_more_than_there_is,
]


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> tuple[Kept, Ledger]:
    return a_game(tmp_path_factory.mktemp("game"))


def test_audit_accepts_a_consistent_log(game: tuple[Kept, Ledger]) -> None:
    kept, ledger = copy.deepcopy(game)
    Book(kept, ledger).compare(kept)
    assert len(kept.entries) >= 10


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_audit_detects_inconsistencies(
    game: tuple[Kept, Ledger], wrong: Callable[[Kept, Ledger], None]
) -> None:
    kept, ledger = copy.deepcopy(game)
    wrong(kept, ledger)
    with pytest.raises(Lost):
        Book(kept, ledger).compare(kept)


def test_audit_detects_changed_entries(game: tuple[Kept, Ledger]) -> None:
    kept, ledger = copy.deepcopy(game)
    book = Book(kept, ledger)
    book.compare(kept)
    number, at, body = kept.entries[-1]
    kept.entries[-1] = number, at + 1, body
    with pytest.raises(Lost, match="have changed"):
        book.compare(kept)
