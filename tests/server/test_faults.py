"""Failures of the database: uncommitted changes are not broadcast, and games resume afterwards."""

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
from tests.server.faults import FAILURES, Faults, game_session
from tests.server.in_process import TIMEOUT, Guest, Json, running_app

PATHS = ("/picture.svg", "/picture.png", "/record", "/replay")


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("game", GAMES)
def test_uncommitted_move_is_not_broadcast_and_can_be_repeated(
    tmp_path: Path, game: str, failure: str
) -> None:
    async def play() -> int:
        failed = 0
        async with game_session(tmp_path, game, failure) as session:
            session.faults.failure = FAILURES[failure]
            for _ in range(40):
                if session.game.turn is None:
                    break
                socket, command = session.next_command()
                if session.rng.random() < 0.5:
                    failed += 1
                    before, number = await session.drain(), session.game.number
                    session.faults.next = session.rng.choice(("before", "during"))
                    refused = await socket.request(**command)
                    assert (refused["type"], refused["code"]) == ("refused", "unavailable")
                    after = await session.drain()
                    received = [len(new) - len(old) for new, old in zip(after, before, strict=True)]
                    assert received == [int(other is socket) for other in session.all_sockets]
                    assert session.game.number == number
                    await session.check()
                done = await socket.request(**command)  # with the same id
                assert done["ack"] == command["id"]
                await session.check()
        return failed

    assert asyncio.run(play()) > 3


def test_committed_move_is_acknowledged_if_its_confirmation_was_lost(tmp_path: Path) -> None:
    async def play() -> None:
        async with game_session(tmp_path, "axio") as session:
            for _ in range(6):
                number = session.game.number
                socket, command = session.next_command()
                session.faults.next = "after"
                done = await socket.request(**command)
                assert (done["ack"], done["n"]) == (command["id"], number + 1)
                for other in session.all_sockets:
                    if other is not socket:
                        await other.until_entry(number + 1)
                again = await socket.request(**command)
                assert (again["ack"], again["n"]) == (command["id"], number + 1)
                await session.check()

    asyncio.run(play())


def test_conflicting_entry_number_is_refused_with_a_fresh_view(tmp_path: Path) -> None:
    async def play() -> None:
        async with game_session(tmp_path, "axio") as session:
            for _ in range(5):
                socket, command = session.next_command(hold=False)
                elsewhere: Any = await session.app.server.rooms._load(session.table)
                move = str(elsewhere.table.legal_moves()[-1])
                entry = elsewhere.apply(MovePlayed(elsewhere.turn, move, UNDRAWN, "elsewhere"))
                # Append it as another process would.
                await session.app.server.journal.append(elsewhere.journal_entry(entry))
                refused = await socket.request(**command)
                assert refused["code"] == "stale"
                assert refused["view"]["n"] == session.game.number == elsewhere.number
                for other in session.all_sockets:
                    if other is not socket:
                        await other.until_entry(elsewhere.number)
                await session.check()

    asyncio.run(play())


def test_game_stops_without_the_database_and_resumes(tmp_path: Path) -> None:
    async def play() -> None:
        async with game_session(tmp_path, "axio") as session:
            for _ in range(5):
                socket, command = session.next_command(hold=False)
                number, before = session.game.number, await session.drain()
                session.faults.down = True
                for _ in range(3):
                    assert (await socket.request(**command))["code"] == "unavailable"
                path = f"/api/tables/{session.table}"
                seat = session.sockets.index(socket)
                body = {name: command[name] for name in ("id", "n", "pick")}
                posted = await session.app.request("POST", f"{path}/moves", session.people[seat].token, body)
                read = await session.app.request("GET", path, session.people[seat].token)
                assert [posted.status, read.status] == [503, 503]
                session.faults.down = False
                done = await socket.request(**command)
                assert (done["ack"], done["n"]) == (command["id"], number + 1)
                after = await session.drain()
                received = [len(new) - len(old) for new, old in zip(after, before, strict=True)]
                assert received == [4 if other is socket else 1 for other in session.all_sockets]
                await session.check()

    asyncio.run(play())


def test_move_is_not_broadcast_before_its_commit(tmp_path: Path) -> None:
    async def play() -> None:
        async with game_session(tmp_path, "axio", public=True) as session:
            targets = [f"/api/tables/{session.table}{path}" for path in ("", *PATHS)]
            targets += [f"/api/tables?which={which}" for which in ("live", "mine")]
            tokens = ["", *(person.token for person in session.people)]
            requests = [(target, token) for target in targets for token in tokens]
            for _ in range(2):
                before = [await session.app.request("GET", target, token) for target, token in requests]
                await session.drain()
                counts = [len(viewer.texts) for viewer in session.all_sockets]
                socket, command = session.next_command(hold=False)
                session.faults.hold = asyncio.Event()
                socket.send(**command)
                while session.game.number == command["n"]:  # until the move is applied in memory
                    await asyncio.sleep(0)
                tasks = [asyncio.create_task(session.app.request("GET", *request)) for request in requests]
                newcomer = asyncio.create_task(session.app.socket(session.table))
                await asyncio.wait(tasks, timeout=0.3)
                for task, earlier in zip(tasks, before, strict=True):
                    assert not task.done() or task.result() == earlier
                assert [len(viewer.texts) for viewer in session.all_sockets] == counts
                assert not newcomer.done() or not newcomer.result().texts
                session.faults.hold.set()
                session.faults.hold = None
                await asyncio.gather(newcomer, *tasks)
                await socket.until_entry(command["n"] + 1)

    asyncio.run(play())


def test_failed_write_does_not_appear_in_the_logs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> tuple[str, str]:
        async with game_session(tmp_path, "axio") as session:
            async with session.app.server.database.writing() as connection:
                await connection.execute(text("ALTER TABLE entries RENAME TO elsewhere"))
            socket, command = session.next_command(hold=False)
            refused = await socket.request(**command)
            assert refused["code"] == "unavailable"
            async with session.app.server.database.writing() as connection:
                await connection.execute(text("ALTER TABLE elsewhere RENAME TO entries"))
            assert (await socket.request(**command))["ack"] == command["id"]
            await session.check()
            return session.game.config.seed, command["id"]

    with caplog.at_level(logging.INFO):
        seed, message = asyncio.run(play())
    logged = "\n".join(logging.Formatter().format(record) for record in caplog.records)
    assert "no such table: entries" in logged
    assert seed not in logged
    assert message not in logged
    assert "drawn" not in logged


def test_table_left_with_a_held_draw_is_closed(tmp_path: Path) -> None:
    async def play() -> None:
        async with running_app(tmp_path) as app:
            ann: Guest = await app.guest("Ann")
            table = (await app.open(ann, "axio", [{"kind": "me"}]))["id"]
            socket = await app.socket(table, ann.token)
            view = await socket.until(lambda message: message["type"] == "view")
            await socket.request(do="move", id="a", n=view["n"], pick=0, hold=True)
            await app.call("POST", f"/api/tables/{table}/leave", ann.token)
            row = await app.server.store.find(table)
            assert row is not None
            assert (row["status"], row["turn"], row["due"]) == ("closed", None, None)

    asyncio.run(play())


@pytest.mark.parametrize("waiting", ["a bot", "a draw"])
def test_automation_waits_for_the_database_and_resumes(
    tmp_path: Path, waiting: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def play() -> None:
        async with running_app(tmp_path) as app:
            faults, ann = Faults(app), await app.guest("Ann")
            seats: list[Json] = [{"kind": "me"}, {"kind": "bot", "level": "greedy"}]
            table = (await app.open(ann, "axio", seats))["id"]
            socket = await app.socket(table, ann.token)
            view = await socket.until(lambda message: message["type"] == "view")
            held = waiting == "a draw"
            command = {"do": "move", "id": "m", "n": view["n"], "pick": 0, "hold": held}
            choosing = asyncio.Event()
            choose = app.server.bots.choose

            async def slow_choose(*args: Any) -> Any:
                await choosing.wait()
                return await choose(*args)

            monkeypatch.setattr(app.server.bots, "choose", slow_choose)
            await socket.request(**command)
            faults.down = True
            choosing.set()
            while len(failed_attempts(caplog)) < 2:  # after at least one retry
                await asyncio.sleep(0.01)
            faults.down = False
            await socket.until(
                lambda message: message.get("n", 0) > view["n"] + 1 and message["moves"] is not None
            )

    monkeypatch.setattr(automation, "RETRY_SECONDS", 0.3)
    monkeypatch.setattr(game_state, "HOLD_SECONDS", 0.1)
    asyncio.run(asyncio.wait_for(play(), TIMEOUT))
    assert len(failed_attempts(caplog)) < 100  # there is a pause between retries


def failed_attempts(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if " could not be reloaded" in record.message]
