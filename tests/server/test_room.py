"""Actions of the server in a room: held draws, moves of the clock, bots."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest

from axiogames.model.events import Place
from axiogames.server.domain import refusals
from axiogames.server.domain.bots import DEFAULT_LEVEL
from axiogames.server.domain.entries import BotSeated, MovePlayed, SeatTaken, TableEntry, TilesDrawn
from axiogames.server.domain.game_state import deadline
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.domain.refusals import Refused
from axiogames.server.transport.commands import handle
from tests.server.rooms import Listener, entries, run, running, table_config, until


def test_held_draw_happens_after_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.domain.game_state.HOLD_SECONDS", 0.05)

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            hers, his = Listener(room, "ann"), Listener(room, "bob")
            number = await room.move(SeatCommand(0), 0, hold=True)
            assert room.game.pending_draw == 0
            await until(lambda: room.game.pending_draw is None)
            await until(lambda: len(his.received) >= 2)
            assert room.game.number == number + 1
            assert room.game.turn == 1
            steps = [message for message in his.received if message["type"] == "step"]
            assert [message["n"] for message in steps] == [number, number + 1]
            assert steps[-1]["events"][0]["t"] == "draw"
            assert hers.received[-1]["now"]["held"] is False
            with pytest.raises(Refused, match="before a tile is drawn"):
                await room.take_back(SeatCommand(0))

    run(work)


def test_held_draw_of_an_unloaded_table_happens_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("axiogames.server.domain.game_state.HOLD_SECONDS", 0.05)

    async def before() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            await room.move(SeatCommand(0), 0, hold=True)
            room.close()

    async def after() -> None:
        async with running(tmp_path) as server:
            sweeping = asyncio.create_task(server.rooms.sweep())
            room = await server.rooms.get("table")
            await until(lambda: room.game.pending_draw is None)
            sweeping.cancel()
            assert isinstance(room.game.last_entry, TilesDrawn)

    run(before)
    run(after)


def test_clock_moves_for_idle_players(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            seated: list[TableEntry] = [
                SeatTaken(0, "ann", "Ann"),
                SeatTaken(1, "bob", "Bob"),
                BotSeated(2, "random"),
            ]
            room = await server.rooms.open(table_config(3, move_time=0), seated)
            listener = Listener(room, "ann")
            await until(lambda: any(message["now"]["phase"] == "over" for message in listener.received))
            moves = [entry for entry in await entries(server, room) if isinstance(entry, MovePlayed)]
            assert {entry.by for entry in moves if entry.seat < 2} == {"clock"}
            assert {entry.by for entry in moves if entry.seat == 2} == {""}
            numbers = [message["n"] for message in listener.received if message["type"] == "step"]
            assert numbers == list(range(5, 5 + len(moves)))

    run(work)


def test_deadline_counts_from_the_last_entry(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(move_time=600), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            assert deadline(room.game) == room.game.updated + 600_000
            before = room.game.updated
            await asyncio.sleep(0.01)
            await room.move(SeatCommand(0), 0)
            assert room.game.updated > before
            assert deadline(room.game) == room.game.updated + 600_000
            listener = Listener(room, "bob")
            await room.move(SeatCommand(1), 0)
            await until(lambda: bool(listener.received))
            assert listener.received[-1]["now"]["deadline"] == deadline(room.game)
            row = await server.store.find("table")
            assert row is not None
            assert row["due"] == deadline(room.game)

    run(work)


def test_placement_by_the_clock_cannot_be_taken_back(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            await room.move(SeatCommand(0), 0, by="clock", hold=True)
            assert room.game.pending_draw == 0
            with pytest.raises(Refused, match="only by its player"):
                await room.take_back(SeatCommand(0))

    run(work)


def test_bot_can_replace_a_person_absent_for_two_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            bob = Listener(room, "bob")
            monkeypatch.setattr("axiogames.server.domain.subscribers.ABSENT_SECONDS", 0.0)
            with pytest.raises(Refused, match="two minutes"):
                await room.seat_bot(1, "greedy", "ann")  # Bob is connected
            room.disconnect(bob.client)
            monkeypatch.setattr("axiogames.server.domain.subscribers.ABSENT_SECONDS", 120.0)
            with pytest.raises(Refused, match="two minutes"):
                await room.seat_bot(1, "greedy", "ann")  # Bob has just left
            monkeypatch.setattr("axiogames.server.domain.subscribers.ABSENT_SECONDS", 0.0)
            with pytest.raises(Refused, match="only those who play"):
                await room.seat_bot(1, "greedy", "eve")
            await room.seat_bot(1, "greedy", "ann")
            assert (room.game.seats[1].bot, room.game.seats[1].person) == (DEFAULT_LEVEL, "bob")
            with pytest.raises(Refused, match="nobody has left"):
                await room.seat_bot(1, "greedy", "ann")
            number = await room.move(SeatCommand(0), 0)
            await until(lambda: room.game.number > number)  # the bot moves
            await room.take_seat_back("bob", 1)
            assert room.game.seats[1].bot is None

    run(work)


def test_failing_bot_plays_a_random_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("axiogames.players.bots.simple.Greedy.choose", broken)

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), BotSeated(1, "greedy")]
            )
            number = await room.move(SeatCommand(0), 0)
            await until(lambda: room.game.number > number)
            assert room.game.turn == 0

    run(work)


def test_bot_move_is_played_by_its_action_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the move was encoded again")

    monkeypatch.setattr("axiogames.model.table.Table.play", fail)

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [BotSeated(0, "greedy"), SeatTaken(1, "bob", "Bob")]
            )
            moves: list[MovePlayed] = []
            while not moves:  # played, and then committed
                await asyncio.sleep(0.01)
                moves = [entry for entry in await entries(server, room) if isinstance(entry, MovePlayed)]
            (entry,) = moves
            assert room.game.table is not None
            (placed,) = [event for event in room.game.table.events if isinstance(event, Place)]
            assert entry.move.split(" ")[0] == placed.tile

    run(work)


def test_person_who_left_cannot_move_before_returning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never_choose(*_: object) -> None:
        await asyncio.sleep(3600)

    monkeypatch.setattr("axiogames.server.domain.bots.Bots.choose", never_choose)

    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            await room.leave_table("ann")
            ann = Listener(room, "ann")
            command = {"do": "move", "id": "m", "n": room.game.number, "pick": 0}
            await handle(room, ann.client, json.dumps(command), server.hints)
            await until(lambda: any(message["type"] in ("refused", "step") for message in ann.received))
            assert [message.get("code") for message in ann.received] == ["not_allowed"]
            await room.take_seat_back("ann", 0)
            command = {**command, "n": room.game.number}
            await handle(room, ann.client, json.dumps(command), server.hints)
            await until(lambda: ann.received[-1]["type"] == "step")

    run(work)


def test_repeatable_actions_are_refused_once_the_log_is_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "MAX_ENTRIES", 40)
    refused = partial(pytest.raises, Refused, match="too much has been done and undone")

    async def work() -> None:
        async with running(tmp_path) as server:
            seated: list[TableEntry] = [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            room = await server.rooms.open(table_config(), seated)
            while room.game.number < 39:
                await room.move(SeatCommand(0), 0, hold=True)
                await room.take_back(SeatCommand(0))
            await room.move(SeatCommand(0), 0, hold=True)
            with refused():
                await room.take_back(SeatCommand(0))
            await room.draw(SeatCommand(0))
            await room.leave_table("bob")
            with refused():
                await room.take_seat_back("bob", 1)
            while room.game.status == "playing":  # a game in progress can be finished
                if room.game.turn == 0:
                    await room.move(SeatCommand(0), 0)
                await asyncio.sleep(0.001)
            assert room.game.status == "over"

            room = await server.rooms.open(table_config(3, id="other"), [SeatTaken(0, "ann", "Ann")])
            while room.game.number < 37:
                await room.take_seat("bob", "Bob")
                await room.leave_table("bob")
                await room.seat_bot(1, "random", "ann")
                await room.remove_player(1, "ann")
            await room.take_seat("bob", "Bob")
            await room.leave_table("bob")
            await room.seat_bot(1, "random", "ann")
            with refused():
                await room.take_seat("bob", "Bob")
            with refused():
                await room.seat_bot(2, "random", "ann")
            await room.remove_player(1, "ann")
            await room.leave_table("ann")
            assert room.game.status == "closed"

    run(work)
