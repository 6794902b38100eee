"""A database that fails: nobody hears of what is not kept, and everybody can go on."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from axiogames.games import GAMES
from axiogames.server.domain import automation, game_state
from axiogames.server.domain.entries import UNDRAWN, MovePlayed
from tests.server.faults import FAILURES, Faults, company
from tests.server.in_process import PATIENCE, Guest, Json, inside

PATHS = ("/picture.svg", "/picture.png", "/record", "/replay")


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("game", GAMES)
def test_a_move_that_is_not_kept_is_told_to_nobody_and_can_be_made_again(
    tmp_path: Path, game: str, failure: str
) -> None:
    async def play() -> int:
        failed = 0
        async with company(tmp_path, game, failure) as here:
            here.faults.failure = FAILURES[failure]
            for _ in range(40):
                if here.game.turn is None:
                    break
                socket, order = here.order()
                if here.lots.random() < 0.5:
                    failed += 1
                    before, number = await here.heard(), here.game.number
                    here.faults.next = here.lots.choice(("before", "during"))
                    refused = await socket.ask(**order)
                    assert (refused["type"], refused["code"]) == ("refused", "unavailable")
                    after = await here.heard()
                    told = [len(new) - len(old) for new, old in zip(after, before, strict=True)]
                    assert told == [int(one is socket) for one in here.all]
                    assert here.game.number == number
                    await here.check()
                done = await socket.ask(**order)  # with the same id
                assert done["ack"] == order["id"]
                await here.check()
        return failed

    assert asyncio.run(play()) > 3


def test_a_move_that_is_kept_although_the_answer_is_lost_is_acknowledged(tmp_path: Path) -> None:
    async def play() -> None:
        async with company(tmp_path, "axio") as here:
            for _ in range(6):
                number = here.game.number
                socket, order = here.order()
                here.faults.next = "after"
                done = await socket.ask(**order)
                assert (done["ack"], done["n"]) == (order["id"], number + 1)
                for other in here.all:
                    if other is not socket:
                        await other.reach(number + 1)
                again = await socket.ask(**order)
                assert (again["ack"], again["n"]) == (order["id"], number + 1)
                await here.check()

    asyncio.run(play())


def test_a_number_that_somebody_else_has_taken_is_refused_with_a_fresh_view(tmp_path: Path) -> None:
    async def play() -> None:
        async with company(tmp_path, "axio") as here:
            for _ in range(5):
                socket, order = here.order(hold=False)
                elsewhere: Any = await here.made.server.rooms._load(here.table)
                move = str(elsewhere.table.legal_moves()[-1])
                act = elsewhere.apply(MovePlayed(elsewhere.turn, move, UNDRAWN, "elsewhere"))
                await here.made.server.journal.append(elsewhere.journal_entry(act))  # as another process does
                refused = await socket.ask(**order)
                assert refused["code"] == "stale"
                assert refused["view"]["n"] == here.game.number == elsewhere.number
                for other in here.all:
                    if other is not socket:
                        await other.reach(elsewhere.number)
                await here.check()

    asyncio.run(play())


def test_while_the_database_is_away_nothing_happens_and_afterwards_the_game_goes_on(tmp_path: Path) -> None:
    async def play() -> None:
        async with company(tmp_path, "axio") as here:
            for _ in range(5):
                socket, order = here.order(hold=False)
                number, before = here.game.number, await here.heard()
                here.faults.down = True
                for _ in range(3):
                    assert (await socket.ask(**order))["code"] == "unavailable"
                path = f"/api/tables/{here.table}"
                seat = here.sockets.index(socket)
                body = {name: order[name] for name in ("id", "n", "pick")}
                posted = await here.made.ask("POST", f"{path}/moves", here.people[seat].token, body)
                shown = await here.made.ask("GET", path, here.people[seat].token)
                assert [posted.status, shown.status] == [503, 503]
                here.faults.down = False
                done = await socket.ask(**order)
                assert (done["ack"], done["n"]) == (order["id"], number + 1)
                after = await here.heard()
                told = [len(new) - len(old) for new, old in zip(after, before, strict=True)]
                assert told == [4 if one is socket else 1 for one in here.all]
                await here.check()

    asyncio.run(play())


def test_nobody_is_shown_a_move_before_it_is_kept(tmp_path: Path) -> None:
    async def play() -> None:
        async with company(tmp_path, "axio", public=True) as here:
            targets = [f"/api/tables/{here.table}{path}" for path in ("", *PATHS)]
            targets += [f"/api/tables?which={which}" for which in ("live", "mine")]
            tokens = ["", *(person.token for person in here.people)]
            asked = [(target, token) for target in targets for token in tokens]
            for _ in range(2):
                before = [await here.made.ask("GET", target, token) for target, token in asked]
                await here.heard()
                told = [len(one.texts) for one in here.all]
                socket, order = here.order(hold=False)
                here.faults.hold = asyncio.Event()
                socket.send(**order)
                while here.game.number == order["n"]:  # until it is carried out in memory
                    await asyncio.sleep(0)
                asking = [asyncio.create_task(here.made.ask("GET", *one)) for one in asked]
                newcomer = asyncio.create_task(here.made.socket(here.table))
                await asyncio.wait(asking, timeout=0.3)
                for task, was in zip(asking, before, strict=True):
                    assert not task.done() or task.result() == was
                assert [len(one.texts) for one in here.all] == told
                assert not newcomer.done() or not newcomer.result().texts
                here.faults.hold.set()
                here.faults.hold = None
                await asyncio.gather(newcomer, *asking)
                await socket.reach(order["n"] + 1)

    asyncio.run(play())


def test_what_could_not_be_written_is_not_in_the_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> tuple[str, str]:
        async with company(tmp_path, "axio") as here:
            async with here.made.server.database.writing() as connection:
                await connection.execute(text("ALTER TABLE entries RENAME TO elsewhere"))
            socket, order = here.order(hold=False)
            refused = await socket.ask(**order)
            assert refused["code"] == "unavailable"
            async with here.made.server.database.writing() as connection:
                await connection.execute(text("ALTER TABLE elsewhere RENAME TO entries"))
            assert (await socket.ask(**order))["ack"] == order["id"]
            await here.check()
            return here.game.config.seed, order["id"]

    with caplog.at_level(logging.INFO):
        seed, message = asyncio.run(play())
    logged = "\n".join(logging.Formatter().format(record) for record in caplog.records)
    assert "no such table: entries" in logged
    assert seed not in logged
    assert message not in logged
    assert "drawn" not in logged


def test_a_table_that_is_left_while_a_draw_waits_is_closed_for_good(tmp_path: Path) -> None:
    async def play() -> None:
        async with inside(tmp_path) as made:
            ann: Guest = await made.guest("Ann")
            table = (await made.open(ann, "axio", [{"kind": "me"}]))["id"]
            socket = await made.socket(table, ann.token)
            view = await socket.until(lambda told: told["type"] == "view")
            await socket.ask(do="move", id="a", n=view["n"], pick=0, hold=True)
            await made.good("POST", f"/api/tables/{table}/leave", ann.token)
            row = await made.server.store.find(table)
            assert row is not None
            assert (row["status"], row["turn"], row["due"]) == ("closed", None, None)

    asyncio.run(play())


@pytest.mark.parametrize("waiting", ["a bot", "a draw"])
def test_what_the_server_does_by_itself_waits_for_the_database_and_goes_on(
    tmp_path: Path, waiting: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> None:
        async with inside(tmp_path) as made:
            faults, ann = Faults(made), await made.guest("Ann")
            seats: list[Json] = [{"kind": "me"}, {"kind": "bot", "level": "greedy"}]
            table = (await made.open(ann, "axio", seats))["id"]
            socket = await made.socket(table, ann.token)
            view = await socket.until(lambda told: told["type"] == "view")
            held = waiting == "a draw"
            order = {"do": "move", "id": "m", "n": view["n"], "pick": 0, "hold": held}
            thinking = asyncio.Event()
            choose = made.server.bots.choose

            async def slowly(*given: Any) -> Any:
                await thinking.wait()
                return await choose(*given)

            monkeypatch.setattr(made.server.bots, "choose", slowly)
            await socket.ask(**order)
            faults.down = True
            thinking.set()
            while len(tries(caplog)) < 2:  # it was tried, and tried again
                await asyncio.sleep(0.01)
            faults.down = False
            await socket.until(lambda told: told.get("n", 0) > view["n"] + 1 and told["moves"] is not None)

    monkeypatch.setattr(automation, "RETRY_SECONDS", 0.3)
    monkeypatch.setattr(game_state, "HOLD_SECONDS", 0.1)
    asyncio.run(asyncio.wait_for(play(), PATIENCE))
    assert len(tries(caplog)) < 100  # not as fast as it can


def tries(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if " could not be reloaded" in record.message]
