"""Invitations to a rematch: seats are reserved until all players have joined; then the game starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from axiogames.server.domain.entries import SeatReserved, SeatTaken, decode_entry, encode_entry
from axiogames.server.domain.game_state import deadline, now
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.domain.room import Room
from tests.server.in_process import App, Guest, Response, running_app
from tests.server.rooms import Listener, run, until


class Rematch:
    """A finished game and requests for its rematch."""

    def __init__(self, app: App, people: list[Guest], old: str) -> None:
        self.app, self.people, self.old = app, people, old

    async def request(self, player: int) -> str:
        """Request the rematch as a player, and return its table id."""
        response = await self.app.call("POST", f"/api/tables/{self.old}/rematch", self.people[player].token)
        return str(response["id"])

    async def room(self) -> Room:
        """Return the room of the rematch."""
        table = (await self.app.server.rooms.get(self.old)).game.rematch
        assert table is not None
        return await self.app.server.rooms.get(table)

    async def post(self, player: int, path: str, body: object = None) -> Response:
        """Send a request to the table of the rematch as a player."""
        room = await self.room()
        return await self.app.request("POST", f"/api/tables/{room.id}{path}", self.people[player].token, body)


async def finish_game(app: App, *kinds: str, **more: object) -> Rematch:
    """Play a game to its end and return its `Rematch`. Each `open` seat belongs to another person."""
    people = [await app.guest("Ann")]
    seats = [{"kind": "bot", "level": "random"} if kind == "bot" else {"kind": kind} for kind in kinds]
    table = (await app.open(people[0], "rota", seats, public=True, **more))["id"]
    for name in ("Bob", "Cid")[: kinds.count("open")]:
        people.append(await app.guest(name))
        await app.call("POST", f"/api/tables/{table}/join", people[-1].token, {})
    room = await app.server.rooms.get(table)
    while (turn := room.game.turn) is not None:
        if room.game.bot_to_move is not None:
            number = room.game.number
            await until(lambda number=number: room.game.number > number)  # type: ignore[misc]
        else:
            await room.move(SeatCommand(turn), 0)
    return Rematch(app, people, table)


def test_clock_starts_when_the_invited_person_joins(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            rematch = await finish_game(app, "me", "open", move_time=60)
            table = await rematch.request(0)
            room = await rematch.room()
            listener = Listener(room, rematch.people[0].id)
            bob = rematch.people[1]
            row = await app.server.store.find(table)
            assert row is not None
            assert (room.game.status, room.game.turn, deadline(room.game)) == ("open", None, None)
            assert (row["status"], row["due"], room._automation._timer) == ("open", None, None)
            # The reserved seat is neither listed in the lobby nor available to other people.
            assert await app.call("GET", "/api/tables?which=open", bob.token) == []
            eve = await app.guest("Eve")
            body = {"invite": room.game.config.invite, "seat": 0}
            refused = await app.request("POST", f"/api/tables/{table}/join", eve.token, body)
            assert (refused.status, refused.json["code"]) == (409, "seat_taken")
            refused = await app.request("POST", f"/api/tables/{table}/join", eve.token, {})
            assert (refused.status, refused.json["code"]) == (409, "seat_taken")
            # Listing, viewing and watching the table does not accept the invitation.
            mine = await app.call("GET", "/api/tables?which=mine", bob.token)
            assert table in {row["id"] for row in mine}
            view = await app.call("GET", f"/api/tables/{table}", bob.token)
            assert (view["yours"], view["seats"][0]["invited"]) == ([0], True)
            socket = await app.socket(table, bob.token)
            await socket.drain()
            assert await rematch.request(0) == table  # a repeated request
            assert room.game.unfilled_seats() == [0]

            assert await rematch.request(1) == table
            assert room.game.status == "playing"
            message = await socket.until(lambda message: message.get("now", {}).get("phase") == "place")
            assert message["now"]["deadline"] == deadline(room.game)
            assert message["moves"] is not None
            assert not any("invited" in seat for seat in message["seats"])
            assert listener.received[-1]["table"]["status"] == "playing"
            assert await rematch.request(1) == table  # a repeated request

    run(work)


def test_rematch_of_three_waits_for_all(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            rematch = await finish_game(app, "open", "me", "open")
            await rematch.request(2)  # not the owner of the game
            room = await rematch.room()
            assert room.game.config.owner == rematch.people[2].id
            joined = await rematch.post(0, "/join", {})
            assert joined.json["table"]["status"] == "open"
            assert room.game.unfilled_seats() == [2]
            await rematch.request(1)
            assert room.game.status == "playing"
            people = [seat.person for seat in room.game.seats]
            assert people == [rematch.people[number].id for number in (0, 2, 1)]

    run(work)


@pytest.mark.parametrize("kinds", [("me", "bot"), ("me",), ("me", "me")])
def test_rematch_without_other_people_starts_at_once(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            rematch = await finish_game(app, *kinds)
            await rematch.request(0)
            assert (await rematch.room()).game.status == "playing"

    run(work)


def test_concurrent_rematch_requests_seat_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            rematch = await finish_game(app, "me", "open")
            open_room = app.server.rooms.open

            async def open_after_other_request(*args: Any) -> Any:
                monkeypatch.setattr(app.server.rooms, "open", open_room)
                await rematch.request(1)
                return await open_room(*args)

            monkeypatch.setattr(app.server.rooms, "open", open_after_other_request)
            await rematch.request(0)
            assert (await rematch.room()).game.status == "playing"

    run(work)


def test_invitation_survives_a_restart(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path / "data") as app:
            rematch = await finish_game(app, "me", "open")
            table = await rematch.request(0)
        async with running_app(tmp_path / "data") as app:
            rematch.app = app
            room = await app.server.rooms.get(table)
            assert [seat.invited for seat in room.game.seats] == [True, False]
            await rematch.request(1)
            assert room.game.status == "playing"

    run(work)


def test_declining_frees_a_seat_and_the_host_can_leave(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            rematch = await finish_game(app, "me", "open")
            table = await rematch.request(0)
            room = await rematch.room()
            declined = await rematch.post(1, "/leave")
            assert declined.json["seats"][0]["kind"] == "open"
            assert [row["id"] for row in await app.call("GET", "/api/tables?which=open")] == [table]
            left = await rematch.post(0, "/leave")
            assert left.json["table"]["status"] == "closed"
            assert room.game.status == "closed"
            assert await rematch.request(1) != table  # the first one is closed, so another is opened

    run(work)


def test_table_with_only_invited_people_is_closed(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            rematch = await finish_game(app, "me", "open")
            await rematch.request(0)
            left = await rematch.post(0, "/leave")
            assert left.json["table"]["status"] == "closed"

    run(work)


def test_reserved_seat_can_go_to_a_bot_after_two_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            rematch = await finish_game(app, "me", "open", "open")
            await rematch.request(0)
            room = await rematch.room()
            await rematch.post(1, "/join", {})
            seat = room.game.unfilled_seats()[0]
            for player, code in ((0, "seat_taken"), (1, "not_allowed")):
                refused = await rematch.post(player, f"/seats/{seat}/bot", {"level": "random"})
                assert refused.json["code"] == code
            monkeypatch.setattr("axiogames.server.domain.subscribers.ABSENT_SECONDS", 0.0)
            refused = await rematch.post(1, f"/seats/{seat}/bot", {"level": "random"})
            assert refused.json["code"] == "not_allowed"
            # Time during which the server was down does not count.
            monkeypatch.setattr("axiogames.server.domain.subscribers.ABSENT_SECONDS", 120.0)
            room.game.config = replace(room.game.config, created=now() - 3_600_000)
            await app.server.rooms.resume()
            refused = await rematch.post(0, f"/seats/{seat}/bot", {"level": "random"})
            assert refused.json["code"] == "seat_taken"
            app.server.rooms._services.uptime.resumed_at -= 3_600_000
            started = await rematch.post(0, f"/seats/{seat}/bot", {"level": "random"})
            assert started.json["table"]["status"] == "playing"
            table = await rematch.request(2)  # too late: the game can be watched
            view = await app.call("GET", f"/api/tables/{table}", rematch.people[2].token)
            assert (view["yours"], view["table"]["status"]) == ([], "playing")

    run(work)


def test_invitation_has_its_own_entry_type() -> None:
    entry = SeatReserved(1, "bob", "Bob")
    assert encode_entry(entry) == '{"a":"invite","seat":1,"person":"bob","name":"Bob"}'
    assert decode_entry(encode_entry(entry)) == entry
    assert decode_entry('{"a":"sit","seat":1,"person":"bob","name":"Bob"}') == SeatTaken(1, "bob", "Bob")
