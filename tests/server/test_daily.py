"""Daily deals: one attempt, the same tiles for everybody, and no information from other attempts."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import insert, update

from axiogames.games import GAMES
from axiogames.server.domain.entries import UNDRAWN, GameStarted, MovePlayed, SeatTaken
from axiogames.server.domain.game_state import GameState, TableConfig
from axiogames.server.identity.names import DELETED_NAME
from axiogames.server.identity.people import Person
from axiogames.server.routes.tables import may_see
from axiogames.server.settings import Settings
from axiogames.server.storage.database import Database
from axiogames.server.storage.schema import people, results, tables
from axiogames.server.storage.tables import NEW_PERSON_MS
from tests.server.driving import Client, Guest, Json, RunningServer

LONG_AGO = "2026-01-02"


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def deal(client: Client, game: str, day: str = "") -> Json:
    """Return the deal of a game on a day."""
    deals = client.get(f"/api/daily{f'?day={day}' if day else ''}")["deals"]
    return next(deal for deal in deals if deal["game"] == game)


def start(guest: Guest, game: str) -> str:
    """Start an attempt and return its table."""
    return str(guest.post(f"/api/daily/{game}")["id"])


def finish(guest: Guest, table: str) -> Json:
    """Finish an attempt by the first offered moves and return the result."""
    with guest.live(table) as live:
        return live.play_to_end(lambda moves: 0)


@pytest.mark.parametrize("game", GAMES)
def test_all_people_draw_the_same_tiles(server: RunningServer, game: str) -> None:
    ann, bob = server.guest("Ann"), server.guest("Bob")
    her_table, his_table = start(ann, game), start(bob, game)
    assert her_table != his_table
    with ann.live(her_table) as her_socket, bob.live(his_table) as his_socket:
        first, second = her_socket.recv(), his_socket.recv()
        assert first["table"]["commitment"] == second["table"]["commitment"]
        assert first["table"]["daily"] == today()
        assert first["now"]["hands"] == second["now"]["hands"]
        for _ in range(6):
            her_step, his_step = her_socket.play(0), his_socket.play(0)
            assert her_step["now"]["hands"] == his_step["now"]["hands"]
            assert her_step["events"] == his_step["events"]


def test_one_attempt_per_day(ann: Guest) -> None:
    assert deal(ann, "rota")["attempt"] is None
    table = start(ann, "rota")
    assert start(ann, "rota") == table
    begun = {"table": table, "status": "playing", "scores": None, "listed": False}
    assert deal(ann, "rota")["attempt"] == begun
    result = finish(ann, table)
    attempt = deal(ann, "rota")["attempt"]
    assert attempt["status"] == "over"
    assert attempt["scores"] == sorted(result["scores"][0].values())
    assert start(ann, "rota") == table
    assert ann.refused("POST", f"/api/tables/{table}/rematch").code == "not_yet"


def test_concurrent_requests_start_one_attempt(ann: Guest) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: start(ann, "trio"), range(4)))) == 1


def test_results_of_today_do_not_name_the_table(ann: Guest, bob: Guest) -> None:
    table = start(ann, "rota")
    scores = sorted(finish(ann, table)["scores"][0].values())
    ann.patch("/api/me", {"name": "Renamed"})
    mine = next(line for line in deal(ann, "rota")["best"] if line["you"])
    assert (mine["name"], mine["scores"], mine["table"]) == ("Renamed", scores, table)
    assert all(line["table"] is None and not line["you"] for line in deal(bob, "rota")["best"])


async def backdate_visit(server: RunningServer, guest: Guest, milliseconds: int) -> None:
    """Move a guest's first visit back in time."""
    database = Database(Settings(data=str(server.data), database=server.database).url)
    async with database.writing() as connection:
        earlier = (
            update(people).where(people.c.id == guest.id).values(created=people.c.created - milliseconds)
        )
        await connection.execute(earlier)
    await database.close()


def test_results_of_new_guests_are_listed_only_for_themselves(server: RunningServer, bob: Guest) -> None:
    """A new guest may belong to a person who has seen the tiles as another guest."""
    fresh, known = server.guest("Fresh"), server.guest("Known")
    asyncio.run(backdate_visit(server, known, NEW_PERSON_MS))
    asyncio.run(backdate_visit(server, fresh, NEW_PERSON_MS - 3600_000))
    tables = {guest.id: start(guest, "trio") for guest in (fresh, known)}
    for guest in (fresh, known):
        finish(guest, tables[guest.id])
    names = [line["name"] for line in deal(bob, "trio")["best"]]
    assert ("Known" in names, "Fresh" in names) == (True, False)
    assert [line["you"] for line in deal(fresh, "trio")["best"] if line["name"] == "Fresh"] == [True]
    assert [deal(guest, "trio")["attempt"]["listed"] for guest in (fresh, known)] == [False, True]
    fresh.post("/api/me/phrase")  # a phrase does not make a guest known
    assert "Fresh" not in [line["name"] for line in deal(bob, "trio")["best"]]


def test_deletion_does_not_list_unlisted_results(server: RunningServer, bob: Guest) -> None:
    """The list must not show results of a deleted guest that were hidden before."""
    fresh, known = server.guest("Fresh"), server.guest("Known")
    asyncio.run(backdate_visit(server, known, NEW_PERSON_MS))
    tables = {guest.id: start(guest, "hex") for guest in (fresh, known)}
    for guest in (fresh, known):
        finish(guest, tables[guest.id])
    before = deal(bob, "hex")["best"]
    for guest in (fresh, known):
        assert guest.request("DELETE", "/api/me", {"confirm": True}).status == 200
    after = deal(bob, "hex")["best"]
    assert [line["scores"] for line in after] == [line["scores"] for line in before]
    assert "Known" not in [line["name"] for line in after]
    assert DELETED_NAME in [line["name"] for line in after]


def test_attempts_of_today_are_private(ann: Guest, bob: Guest) -> None:
    table = start(ann, "rota")
    for _ in range(2):  # during the game and after it
        for other in (bob, Client(bob.url)):
            for path in ("", "/picture.svg", "/picture.png", "/record", "/replay"):
                refused = other.refused("GET", f"/api/tables/{table}{path}")
                assert (refused.status, refused.code) == (404, "no_such_table")
            with other.live(table) as live:
                assert live.close_code() == 4404
        assert bob.refused("POST", f"/api/tables/{table}/join", {}).code == "no_such_table"
        for which in ("open", "live", "mine"):
            assert table not in str(bob.get(f"/api/tables?which={which}"))
        finish(ann, table)


def test_record_of_today_has_no_seed(ann: Guest) -> None:
    table = start(ann, "rota")
    finish(ann, table)
    record = ann.get(f"/api/tables/{table}/record")
    assert "seed" not in record
    assert record["result"]
    commitment = ann.view(table)["table"]["commitment"]
    assert record.get("commitment", commitment) == commitment


@pytest.mark.parametrize(("ended", "counts"), [("2026-05-05T23:59:59", True), ("2026-05-06T00:00:00", False)])
def test_only_attempts_finished_on_their_day_count(
    monkeypatch: pytest.MonkeyPatch, ended: str, counts: bool
) -> None:
    config = TableConfig("t", "trio", 1, {}, False, None, "2026-05-05", "ann", "key", "seed", 0)
    game = GameState.new(config)
    end = int(datetime.fromisoformat(f"{ended}+00:00").timestamp() * 1000)
    monkeypatch.setattr("axiogames.server.domain.game_state.now", lambda: end)
    game.apply(SeatTaken(0, "ann", "Ann"))
    entry = game.journal_entry(game.apply(GameStarted(UNDRAWN)))
    while game.table is not None and game.status == "playing":
        assert entry.result is None
        move = str(game.table.legal_moves()[0])
        entry = game.journal_entry(game.apply(MovePlayed(0, move, UNDRAWN)))
    assert game.status == "over"
    assert (entry.result is not None) == counts


def test_no_hints_in_daily_deals(ann: Guest) -> None:
    with ann.live(start(ann, "hex")) as live:
        assert live.recv()["table"]["hints"] is False
        live.command("hint")
        assert live.until("refused")["code"] == "not_allowed"


def test_leaving_ends_the_attempt(ann: Guest) -> None:
    table = start(ann, "axio")
    ann.post(f"/api/tables/{table}/leave")
    closed = {"table": table, "status": "closed", "scores": None, "listed": False}
    assert deal(ann, "axio")["attempt"] == closed
    assert start(ann, "axio") == table


def test_daily_response_names_the_adjacent_days(sqlite_server: RunningServer) -> None:
    anonymous = Client(sqlite_server.url)
    now = anonymous.get("/api/daily")
    yesterday = (date.fromisoformat(now["day"]) - timedelta(days=1)).isoformat()
    assert (now["day"], now["days"]) == (today(), {"before": yesterday, "after": None})
    assert [entry["game"] for entry in now["deals"]] == list(GAMES)
    assert anonymous.get(f"/api/daily?day={yesterday}")["days"]["after"] == today()
    assert anonymous.get("/api/daily?day=2026-01-01")["days"] == {"before": None, "after": "2026-01-02"}
    german = anonymous.get("/api/daily?lang=de")["deals"]
    assert [entry["game"] for entry in german] == list(GAMES)


# ------------------------------------------------------------------ the order of results


def row(number: int, scores: list[int], finished: int, day: str = LONG_AGO) -> dict[str, Any]:
    return {
        "day": day,
        "game": "axio",
        "person": f"person{number}",
        "table_id": f"table{number}{day}",
        "name": f"Old {number}",
        "scores": json.dumps(scores),
        "rank": " ".join(f"{9999 - points:04d}" for points in scores),
        "finished": finished,
    }


async def insert_results(url: str, rows: list[dict[str, Any]]) -> None:
    """Insert results with their tables and people."""
    database = Database(url)
    async with database.writing() as connection:
        for result in rows:
            if result["person"] != "person4":  # the name of this person is stored only in the result
                name = result["name"].replace("Old", "New")
                named = {"id": result["person"], "name": name, "epoch": 0, "created": 0}
                await connection.execute(insert(people), [named])
            table = {
                "id": result["table_id"], "game": result["game"], "players": 1, "options": "{}",
                "public": False,
                "daily": result["day"], "owner": result["person"], "invite": "x", "seed": "s", "created": 0,
                "updated": 0, "number": 2, "moves": 9, "status": "over",
            }  # fmt: skip
            await connection.execute(insert(tables), [table])
            await connection.execute(insert(results), [result])
    await database.close()


def test_ranking_compares_lowest_colour_first(server: RunningServer) -> None:
    rows = [
        row(1, [3, 9, 9, 9, 9], 10),
        row(2, [4, 4, 4, 4, 5], 20),
        row(3, [4, 4, 4, 4, 5], 15),  # the same scores, earlier
        row(4, [4, 4, 4, 10, 18], 30),  # better in the fourth score, compared as numbers
        row(5, [4, 4, 4, 9, 18], 30),
        row(6, [10, 10, 10, 10, 10], 99),
        row(7, [5, 5, 5, 5, 5], 5, day="2026-01-01"),
    ]
    asyncio.run(insert_results(Settings(data=str(server.data), database=server.database).url, rows))
    shown = deal(Client(server.url), "axio", LONG_AGO)
    names = [line["name"] for line in shown["best"]]
    assert names == ["New 6", "Old 4", "New 5", "New 3", "New 2", "New 1"]
    assert [line["place"] for line in shown["best"]] == [1, 2, 3, 4, 4, 6]
    assert [line["scores"][3] for line in shown["best"]] == [10, 10, 9, 4, 4, 9]
    assert shown["best"][0]["table"] == f"table6{LONG_AGO}"  # attempts of past days are public
    assert (shown["yesterday"]["name"], shown["yesterday"]["place"]) == ("New 7", 1)
    assert deal(Client(server.url), "rota", LONG_AGO)["best"] == []


def test_past_attempts_are_public(monkeypatch: pytest.MonkeyPatch) -> None:
    config = TableConfig("t", "axio", 1, {}, False, None, "2026-05-05", "ann", "key", "seed", 0)
    ann, bob = Person("ann", "Ann"), Person("bob", "Bob")
    monkeypatch.setattr("axiogames.server.routes.tables.today", lambda: "2026-05-05")
    assert [may_see(GameState.new(config), person) for person in (ann, bob, None)] == [True, False, False]
    monkeypatch.setattr("axiogames.server.routes.tables.today", lambda: "2026-05-06")
    assert [may_see(GameState.new(config), person) for person in (ann, bob, None)] == [True, True, True]
