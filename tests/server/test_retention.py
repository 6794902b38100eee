"""Retention: the documented rules apply, and nothing else is closed or deleted."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from axiogames.server.domain.entries import TableClosed
from axiogames.server.lifespan import Server, add_background_tasks
from axiogames.server.operations import retention
from axiogames.server.operations.audit import Actor, write_audit
from axiogames.server.operations.retention import RUN_INTERVAL, Retention, RetentionPolicy
from axiogames.server.storage.schema import (
    audit,
    entries,
    people,
    results,
    reviews,
    revoked_sessions,
    seats,
    tables,
)
from tests.cli.test_cli import run as cli
from tests.server.abandoned import (
    ANN,
    BOB,
    BOT,
    DAY,
    NOW,
    count,
    ids,
    put_person,
    put_table,
    set_columns,
    statuses,
)
from tests.server.rooms import Listener, run, running

POLICY = RetentionPolicy()


def make_retention(server: Server, policy: RetentionPolicy = POLICY, max_tables: int = 1000) -> Retention:
    return Retention(server.database, policy, max_tables, in_use=server.rooms.is_in_use, pause=0.0)


async def run_retention(server: Server, at: int = NOW, **options: object) -> dict[str, int]:
    """Run retention and return the non-zero counts, after comparing them with the preview."""
    job = make_retention(server, **options)  # type: ignore[arg-type]
    preview, counts = await job.preview(at), await job.run_once(at)
    assert preview == counts
    return {name: number for name, number in asdict(counts).items() if number}


def test_abandoned_tables_are_closed(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            await put_table(server, "open-old", [ANN], POLICY.open + 0.01)
            await put_table(server, "open-new", [ANN], POLICY.open - 0.01)
            await put_table(server, "played-old", [ANN, BOB], POLICY.unfinished + 0.01)
            await put_table(server, "played-new", [ANN, BOB], POLICY.unfinished - 0.01)
            await put_table(server, "unreadable", [ANN], 400, quarantined="BadText")
            assert await run_retention(server) == {"open_tables_closed": 1, "unfinished_games_closed": 1}
            assert await statuses(server.database) == {
                "open-new": "open",
                "open-old": "closed",
                "played-new": "playing",
                "played-old": "closed",
                "unreadable": "open",
            }
            room = await server.rooms.get("played-old")  # closed by an entry in the log
            assert room.game.status == "closed"
            assert isinstance(room.game.last_entry, TableClosed)
            assert await run_retention(server) == {}

    run(work)


def test_table_with_connected_client_is_not_closed(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            await put_table(server, "here", [ANN], 100)
            Listener(await server.rooms.get("here"), "ann")
            await put_table(server, "elsewhere", [ANN, BOB], 100)
            async with server.database.writing() as connection:
                presence = update(seats).where(seats.c.table_id == "elsewhere", seats.c.person == "bob")
                await connection.execute(presence.values(here_until=NOW + 1))
            await make_retention(server).run_once(NOW)
            assert await statuses(server.database) == {"here": "open", "elsewhere": "playing"}

    run(work)


def test_closed_tables_are_deleted_and_finished_ones_never(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            await put_table(server, "closed-old", [ANN, BOB], POLICY.closed + 1, status="closed", moves=9)
            await put_table(server, "closed-new", [ANN, BOB], POLICY.closed - 1, status="closed", moves=9)
            await put_table(server, "closed-empty", [ANN], 2, status="closed", moves=0)
            await put_table(server, "closed-just-now", [ANN], 0.5, status="closed", moves=0)
            await put_table(server, "closed-unreadable", [ANN], 400, status="closed", quarantined="BadText")
            await put_table(server, "over", [ANN, BOB], 4000, status="over", moves=60)
            review = {"person": "ann", "asked": NOW, "done": 0, "total": 1}
            result = {
                "day": "2026-11-15", "game": "rota", "person": "ann", "table_id": "over", "name": "Ann",
                "scores": "[1]", "rank": "1", "finished": 1,
            }  # fmt: skip
            async with server.database.writing() as connection:
                await connection.execute(insert(reviews), [{"table_id": "closed-old", **review}])
                await connection.execute(insert(results), [result])
            assert await run_retention(server) == {"closed_tables_deleted": 2}
            remaining = {"closed-new", "closed-just-now", "closed-unreadable", "over"}
            assert set(await statuses(server.database)) == remaining
            for table in (entries, seats):
                async with server.database.reading() as connection:
                    assert {row[0] for row in await connection.execute(select(table.c.table_id))} == remaining
            assert (await count(server.database, reviews), await count(server.database, results)) == (0, 1)

    run(work)


def test_guests_without_tables_are_deleted(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            long_ago = POLICY.guests + 1
            await put_person(server, "gone", long_ago)
            await put_person(server, "new", POLICY.guests - 1)
            await put_person(server, "came-again", long_ago, seen=NOW - DAY)
            await put_person(server, "with-phrase", long_ago, phrase="x")
            await put_person(server, "with-account", long_ago, username="x", password="y")
            await put_person(server, "banned", long_ago, banned=1)
            await put_person(server, "signed-out-everywhere", long_ago, epoch=1)
            await put_person(server, "signed-out", long_ago)
            await put_person(server, "signed-out-long-ago", 500)
            signed_out = [
                {"person": "signed-out", "session": "s", "at": NOW},
                {"person": "signed-out-long-ago", "session": "s", "at": NOW - 401 * DAY},
                {"person": "host", "session": "s", "at": NOW - 401 * DAY},
            ]
            async with server.database.writing() as connection:
                await connection.execute(insert(revoked_sessions), signed_out)
            await put_person(server, "ann", long_ago)  # has a finished game
            await put_table(server, "over", [ANN, BOT], 400, status="over")
            await put_person(server, "host", long_ago)  # owner of a table of others
            await put_table(server, "open", [BOB], 0)
            await set_columns(server.database, tables, "open", owner="host")
            assert await run_retention(server) == {"guests_deleted": 2}
            remaining = await ids(server.database, people)
            assert remaining == {
                "new", "came-again", "with-phrase", "with-account", "banned", "signed-out-everywhere",
                "signed-out", "ann", "host",
            }  # fmt: skip
            # A revoked session must stay revoked as long as its person exists.
            assert await run_retention(server) == {"sessions_deleted": 1}
            assert await count(server.database, revoked_sessions) == 2

    run(work)


def test_old_reviews_and_own_audit_records_are_deleted(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            for name in ("old", "working", "new"):
                await put_table(server, name, [ANN, BOT], 0, status="over")
            review = {"person": "ann", "done": 1, "total": 1, "body": "{}", "claimed_until": None}
            old = {**review, "asked": NOW - (POLICY.reviews + 1) * DAY}
            async with server.database.writing() as connection:
                await connection.execute(
                    insert(reviews),
                    [
                        {"table_id": "old", **old},
                        {"table_id": "working", **old, "claimed_until": NOW + 1},
                        {"table_id": "new", **review, "asked": NOW},
                    ],
                )
                for actor in ("retention", "host", "retention"):
                    await connection.run_sync(write_audit, Actor(actor), "table-close", "x")
                await connection.execute(update(audit).values(at=1))
            assert await run_retention(server) == {
                "reviews_deleted": 1,
                "log_lines_deleted": 1,  # records of hosts stay, and the last one
            }

    run(work)


def test_zero_days_disable_a_rule(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await put_table(server, "open", [ANN], 9999)
            await put_table(server, "playing", [ANN, BOB], 9999)
            await put_table(server, "closed", [ANN], 9999, status="closed")
            await put_person(server, "guest", 9999)
            disabled = RetentionPolicy(0, 0, 0, 0, 0)
            assert await run_retention(server, policy=disabled) == {}
            assert await run_retention(server, policy=disabled, max_tables=1) == {}

    run(work)


def test_nearly_full_server_closes_tables_earlier(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            hour = 1 / 24
            await put_table(server, "open-2h", [ANN], 2 * hour)
            await put_table(server, "open-now", [ANN], hour / 2)
            await put_table(server, "begun", [ANN, BOB], 1.1, moves=3)
            await put_table(server, "going", [ANN, BOB], 50, moves=4)
            await put_table(server, "played-old", [ANN, BOB], 61, moves=30)
            assert await run_retention(server, max_tables=100) == {"unfinished_games_closed": 1}
            assert await run_retention(server, max_tables=4) == {
                "open_tables_closed": 1,
                "unfinished_games_closed": 1,
            }
            by_id = await statuses(server.database)
            assert {name for name, status in by_id.items() if status != "closed"} == {"open-now", "going"}

    run(work)


def test_run_is_bounded_and_next_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH_SIZE", 2)
    monkeypatch.setattr(retention, "MAX_PER_RUN", 4)

    async def work() -> None:
        async with running(tmp_path) as server:
            for number in range(7):
                await put_table(server, f"table{number}", [ANN], 50 + number)
            job = make_retention(server)
            assert [(await job.run_once(NOW)).open_tables_closed for _ in range(3)] == [4, 3, 0]

    run(work)


def test_unreadable_table_does_not_block_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(retention, "BATCH_SIZE", 1)

    async def work() -> None:
        async with running(tmp_path) as server:
            await put_table(server, "broken", [ANN], 60)
            async with server.database.writing() as connection:
                await connection.execute(update(entries).values(body="{}"))
            await put_table(server, "good", [ANN], 50)
            assert (await make_retention(server).run_once(NOW)).open_tables_closed == 1
            assert await statuses(server.database) == {"broken": "open", "good": "closed"}

    run(work)
    assert "cannot close table broken" in caplog.text


def test_table_used_during_the_run_is_kept(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await put_table(server, "table", [ANN], 50)
            job = make_retention(server)
            room = await server.rooms.get("table")

            close = job._tables.close

            async def close_after_move(table: str, action: str, *, number: int) -> None:
                await room.take_seat("bob", "Bob")  # between the query and the closing
                await close(table, action, number=number)

            job._tables.close = close_after_move  # type: ignore[method-assign, assignment]
            assert (await job.run_once(NOW)).open_tables_closed == 0
            assert room.game.status == "playing"

    run(work)


def test_one_process_claims_the_run(tmp_path: Path, url: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            first, second = make_retention(server), make_retention(server)
            claims = await asyncio.gather(first.claim(NOW), second.claim(NOW))
            assert sorted(claims) == [False, True]
            later = NOW + int(1000 * RUN_INTERVAL)
            assert not await first.claim(later - 1)
            assert await second.claim(later)
            assert not await first.claim(later)

    run(work)


def test_claim_by_fast_clock_does_not_block_retention(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            job = make_retention(server)
            assert await job.claim(NOW + 1000 * DAY)
            assert await job.claim(NOW)
            assert not await job.claim(NOW)

    run(work)


def test_clients_of_closed_table_are_notified(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            await server.audit_follower.start()
            await put_table(server, "table", [ANN], 50)
            room = await server.rooms.get("table")
            job = make_retention(server)
            job._in_use = lambda table: False  # as for a spectator at another process
            spectator = Listener(room, None)
            await job.run_once(NOW)
            await server.audit_follower.poll()
            assert spectator.received[-1]["table"]["status"] == "closed"

    run(work)


def test_settings_define_the_policy(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            assert RetentionPolicy.of(server.settings) == POLICY
            changed = replace(server.settings, keep_open=1, keep_guests=2)
            assert RetentionPolicy.of(changed) == RetentionPolicy(open=1, guests=2)

    run(work)


def test_server_runs_retention_once_per_interval(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path) as server:
            add_background_tasks(server)
            assert {"retention", "follow_admin"} <= {task.name for task in server.supervisor.tasks}
            await put_table(server, "first", [ANN], 50)
            await server.retention.run_if_due()
            await put_table(server, "second", [ANN], 50)
            await server.retention.run_if_due()  # like another process a moment later
            assert await statuses(server.database) == {"first": "closed", "second": "open"}

    run(work)


def test_dry_run_warns_about_unknown_presence(tmp_path: Path, url: str, database: str) -> None:
    async def work() -> None:
        async with running(tmp_path, url) as server:
            await put_table(server, "old", [ANN], 100)

    run(work)
    location = ("--database", url, "--data", str(tmp_path))
    result = cli("admin", "retention", "--dry-run", *location)
    assert result.code == 0
    warning = (
        "players are connected to a running server"
        if database == "sqlite"
        else "does not know the spectators"
    )
    assert warning in result.err
    assert (
        json.loads(cli("admin", "retention", "--dry-run", "--json", *location).out)["open_tables_closed"] == 1
    )
    refused = cli("admin", "retention", *location)  # the warning comes before any change
    assert warning in refused.err
    assert cli("admin", "retention", "--yes", *location).code == 0
    assert cli("admin", "retention", "--yes", *location).err == ""  # all due changes are done
