"""A table deleted by another process is dropped from memory, and its clients are disconnected."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import delete

from axiogames.server.domain.entries import BotSeated, SeatTaken
from axiogames.server.domain.refusals import NoSuchTable, Refused
from axiogames.server.domain.room import Room
from axiogames.server.lifespan import Server
from axiogames.server.storage.schema import entries, seats, tables
from axiogames.server.transport.client import NO_SUCH_TABLE, Client
from tests.server.rooms import run, running, table_config


async def remove(server: Server, table: str) -> None:
    """Delete a table as another process would."""
    async with server.database.writing() as connection:
        for relation, column in (
            (entries, entries.c.table_id),
            (seats, seats.c.table_id),
            (tables, tables.c.id),
        ):
            await connection.execute(delete(relation).where(column == table))


class RecordingClient:
    """In-memory client that records its close code."""

    def __init__(self, room: Room, person: str) -> None:
        self.closed: list[int] = []
        self.connection = Client(self._take, person, None, self._close)
        room.connect(self.connection)

    async def _take(self, text: str) -> None:
        pass

    async def _close(self, code: int, reason: str) -> None:
        assert reason
        self.closed.append(code)


@pytest.mark.parametrize("trigger", ["sweep", "refresh"])
def test_clients_are_disconnected_and_room_is_dropped(tmp_path: Path, trigger: str) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(move_time=60), [SeatTaken(0, "ann", "Ann"), SeatTaken(1, "bob", "Bob")]
            )
            ann, spectator = RecordingClient(room, "ann"), RecordingClient(room, "spectator")
            await server.rooms.sweep()
            assert (ann.closed, len(server.rooms)) == ([], 1)
            await remove(server, room.id)
            await (server.rooms.sweep() if trigger == "sweep" else server.rooms.refresh(room.id))
            await asyncio.sleep(0)
            assert (ann.closed, spectator.closed) == ([NO_SUCH_TABLE], [NO_SUCH_TABLE])
            assert len(server.rooms) == 0
            with pytest.raises(NoSuchTable):
                await server.rooms.get(room.id)
            late = RecordingClient(room, "late")  # holds a reference to the dropped room
            await asyncio.sleep(0)
            assert late.closed == [NO_SUCH_TABLE]

    run(work)


def test_pending_change_is_refused_without_endless_retries(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            room = await server.rooms.open(
                table_config(), [SeatTaken(0, "ann", "Ann"), BotSeated(1, "random")]
            )
            await remove(server, room.id)
            with pytest.raises(Refused):
                await room.leave_table("ann")
            server.rooms.drop(room.id)
            room.wake()
            assert room._automation._timer is None

    run(work)
