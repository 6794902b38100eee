"""Guests of one address cannot use up the server or fill the lobby."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from axiogames.server.domain.game_state import now
from axiogames.server.domain.journaled_game import SeatCommand
from axiogames.server.routes.tables import LOBBY_LENGTH
from axiogames.server.storage.schema import seats, tables
from axiogames.server.transport.rate_limits import RateLimit, RateLimits
from tests.server.abandoned import ANN, BOB, put_table, set_columns
from tests.server.in_process import App, running_app
from tests.server.rooms import Listener, run, running

OPEN = [{"kind": "me"}, {"kind": "open"}]
TWO_REQUESTS = RateLimit(2, 1e-9)


async def lobby(app: App, which: str = "open") -> list[str]:
    """Return the ids of the listed tables."""
    return [table["id"] for table in await app.call("GET", f"/api/tables?which={which}")]


def test_lobby_lists_one_table_per_guest(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            honest = await app.open(ann, "rota", OPEN, public=True)
            crowd = [await app.guest("Crowd") for _ in range(2)]
            last = {}
            for guest in crowd:
                for _ in range(LOBBY_LENGTH):
                    last[guest.id] = (await app.open(guest, "rota", OPEN, public=True))["id"]
            assert set(await lobby(app)) == {honest["id"], *last.values()}

    run(work)


def test_one_game_in_play_is_listed_per_guest(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            seats = [{"kind": "me"}, {"kind": "me"}]
            ann, crowd = await app.guest("Ann"), await app.guest("Crowd")
            honest = await app.open(ann, "rota", seats, public=True)
            for _ in range(LOBBY_LENGTH):
                last = await app.open(crowd, "rota", seats, public=True)
            assert await lobby(app, "live") == [last["id"], honest["id"]]

    run(work)


def test_tables_with_a_present_host_are_listed_first(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            for number, table in enumerate(("here", "elsewhere", "gone", "watched")):
                await put_table(server, table, [ANN if table != "watched" else BOB], 0, public=True)
                await set_columns(server.database, tables, table, owner=f"host{number}", created=number)
            await put_table(server, "unreadable", [ANN], 0, public=True, quarantined="BadText", owner="x")
            async with server.database.writing() as connection:
                presence = update(seats).where(seats.c.table_id == "elsewhere", seats.c.seat == 0)
                await connection.execute(presence.values(here_until=now() + 60_000, person="host1"))
            Listener(await server.rooms.get("here"), "host0")
            Listener(await server.rooms.get("watched"), "somebody")
            assert server.rooms.waiting_for_players() == ["here"]
            found = await server.store.list_open(50, server.rooms.waiting_for_players(), now())
            assert [row["id"] for row in found] == ["elsewhere", "here", "watched", "gone"]
            assert len(await server.store.list_open(2, server.rooms.waiting_for_players(), now())) == 2

    run(work)


async def refusals(app: App, tokens: list[str], path: str, body: Any = None) -> list[str]:
    """Send one request per person and return the error codes, empty for requests that succeed."""
    answers = [await app.request("POST", path, token, body) for token in tokens]
    return ["" if answer.status < 400 else answer.json["code"] for answer in answers]


@pytest.mark.parametrize(
    ("limit", "path", "body", "code"),
    [
        ("tables.TABLES_FROM_ADDRESS", "/api/tables", {"game": "rota", "seats": OPEN}, "too_many_tables"),
        (
            "tables.LISTED_FROM_ADDRESS",
            "/api/tables",
            {"game": "rota", "seats": OPEN, "public": True},
            "too_many_tables",
        ),
        ("daily.DAILY_FROM_ADDRESS", "/api/daily/rota", None, "too_fast"),
    ],
)
def test_guests_of_one_address_share_its_rate_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, limit: str, path: str, body: Any, code: str
) -> None:
    monkeypatch.setattr(f"axiogames.server.routes.{limit}", TWO_REQUESTS)

    async def work() -> None:
        async with running_app(tmp_path) as app:
            tokens = [(await app.guest("Guest")).token for _ in range(4)]
            app.server.limits.active = True
            assert await refusals(app, tokens, path, body) == ["", "", code, code]
            if limit.startswith("tables.LISTED"):  # a game without free seats does not count
                alone = {"game": "rota", "seats": [{"kind": "me"}], "public": True}
                assert await refusals(app, tokens[3:], path, alone) == [""]
            if limit.startswith("daily"):  # an attempt in progress continues
                assert await refusals(app, tokens[:1], path) == [""]

    run(work)


def test_rematch_counts_as_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            table = await app.open(ann, "rota", [{"kind": "me"}])
            room = await app.server.rooms.get(table["id"])
            while room.game.table is not None and room.game.status == "playing":
                await room.move(SeatCommand(0), 0)
            monkeypatch.setattr("axiogames.server.routes.tables.TABLES_FROM_ADDRESS", RateLimit(0.5, 1e-9))
            app.server.limits.active = True
            path = f"/api/tables/{table['id']}/rematch"
            assert await refusals(app, [ann.token], path) == ["too_many_tables"]

    run(work)


def test_new_guests_per_address_are_rate_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axiogames.server.routes.identity.NEW_GUESTS", TWO_REQUESTS)

    async def work() -> None:
        async with running_app(tmp_path) as app:
            ann = await app.guest("Ann")
            app.server.limits.active = True
            assert [(await app.request("GET", "/api/me")).status for _ in range(3)] == [200, 200, 429]
            assert (await app.request("GET", "/api/me", ann.token)).status == 200

    run(work)


def test_unreadable_tables_do_not_count_as_unfinished(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            for number in range(3):
                await put_table(server, f"table{number}", [ANN], 0)
            await set_columns(server.database, tables, "table0", quarantined="BadText")
            await set_columns(server.database, tables, "table1", status="closed")
            assert await server.store.count_unfinished() == 1
            assert await server.store.count_unfinished("ann") == 1

    run(work)


def test_equal_rate_limits_do_not_share_tokens() -> None:
    limits = RateLimits()
    first, second = RateLimit(1, 1e-9), RateLimit(1, 1e-9)
    assert [limits.allow(limit, "here") for limit in (first, second, first, second)] == [
        True,
        True,
        False,
        False,
    ]
