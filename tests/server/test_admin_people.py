"""`axio admin people` beside a running server: queries, and changes that apply at once."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from axiogames.cli import PIPE_CLOSED
from axiogames.server.identity.names import DELETED_NAME
from tests.cli.test_cli import CommandResult, assert_refused
from tests.server.driving import Client, Guest, RunningServer
from tests.server.test_admin_tables import admin, admin_json

BANNED = 4403
SIGNED_OUT = 4401


def test_find_and_show_people_without_secrets(server: RunningServer) -> None:
    ann = server.guest("Anneliese")
    phrase = ann.post("/api/me/phrase")["phrase"]
    ann.post("/api/me/account", {"username": f"anne.{ann.id[:6]}", "password": "correct horse"})
    ann.open("rota", ["me", "open"])
    for text in (ann.id, f"ANNE.{ann.id[:6].upper()}", "nnelies"):
        assert ann.id in [row["id"] for row in admin_json(server, "people", "find", text)]
    assert ann.id in admin(server, "people", "find", "Anneliese").out
    shown = admin_json(server, "people", "show", ann.id)
    assert (shown["name"], shown["password"], shown["phrase"]) == ("Anneliese", True, True)
    assert (shown["counts"]["open"], shown["counts"]["daily_results"]) == (1, 0)
    text = admin(server, "people", "show", ann.id).out + json.dumps(shown)
    assert "argon2" not in text
    assert phrase not in text
    for unmatched in ("nobody at all", "a\0b", "100%", "_________"):
        assert admin(server, "people", "find", unmatched).out == "No person matches.\n"


def test_ban_and_unban(server: RunningServer, ann: Guest) -> None:
    table = ann.open("rota", ["me", "open"])
    with ann.live(table.id) as live:
        live.recv()
        assert admin(server, "people", "ban", ann.id, "--reason", "spam").out == f"{ann.id} is banned\n"
        assert live.close_code() == BANNED
    assert ann.refused("POST", f"/api/tables/{table.id}/leave").code == "banned"
    assert ann.id in [row["id"] for row in admin_json(server, "people", "find", "--banned")]
    assert_refused(admin(server, "people", "ban", ann.id), "already banned")
    assert admin(server, "people", "unban", ann.id).code == 0
    assert_refused(admin(server, "people", "unban", ann.id), "not banned")
    assert_soon(lambda: ann.request("GET", f"/api/tables/{table.id}").status == 200)
    log = admin_json(server, "log", "--subject", ann.id)
    assert [line["action"] for line in log] == ["person-unban", "person-ban"]
    assert log[1]["detail"] == {"reason": "spam"}


def test_rename_reaches_all_tables_of_a_person(server: RunningServer, ann: Guest, bob: Guest) -> None:
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    with bob.live(table.id) as live:
        live.recv()
        result = admin(server, "people", "rename", ann.id, "  Ms   Nice ", "--reason", "insult")
        assert result.out == f"{ann.id} is now called Ms Nice\n"
        assert live.until("seats")["seats"][0]["name"] == "Ms Nice"
    assert ann.get("/api/me")["name"] == "Ms Nice"
    assert [seat["name"] for seat in bob.get("/api/tables?which=mine")[0]["seats"]] == ["Ms Nice", "Bob"]
    (line,) = admin_json(server, "log", "--subject", ann.id)
    assert line["detail"] == {"before": "Ann", "reason": "insult"}
    for wrong in ("", " \u200b ", "x" * 25, "level8"):
        assert_refused(admin(server, "people", "rename", ann.id, wrong))
    assert ann.get("/api/me")["name"] == "Ms Nice"


def test_host_exports_personal_data(server: RunningServer, ann: Guest, tmp_path: Path) -> None:
    table = ann.open("rota", ["me", "open"])
    file = tmp_path / "ann.json"
    assert admin(server, "people", "export", ann.id, "--out", str(file)).code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    exported = json.loads(file.read_text())
    own = ann.get("/api/me/export")
    assert (exported["id"], [row["id"] for row in exported["tables"]]) == (ann.id, [table.id])
    assert {**own, "host_actions": []} == {**exported, "host_actions": []}
    assert_refused(admin(server, "people", "export", ann.id, "--out", str(file)), "exists")
    assert json.loads(admin(server, "people", "export", ann.id).out)["id"] == ann.id


def test_erased_person_cannot_sign_in(server: RunningServer, ann: Guest, bob: Guest) -> None:
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    alone = ann.open("rota", ["me"])
    assert admin(server, "people", "rename", ann.id, "Secret Name").code == 0
    with bob.live(table.id) as live, ann.live(table.id) as mine:
        live.recv()
        mine.recv()
        assert_refused(admin(server, "people", "erase", ann.id), "Secret Name", "--yes")
        assert admin(server, "people", "erase", ann.id, "--yes").out == f"{ann.id} is erased\n"
        assert mine.close_code() == SIGNED_OUT
        live.until(lambda message: "seats" in message and message["seats"][0]["away"] == DELETED_NAME)
    assert_soon(lambda: ann.request("PATCH", "/api/me", {"name": "Ann again"}).status == 401)
    assert admin_json(server, "tables", "show", alone.id)["status"] == "closed"
    assert Client(server.url).get(f"/api/tables/{alone.id}")["seats"][0]["name"] == DELETED_NAME
    for text in (json.dumps(admin_json(server, "log")), admin(server, "people", "find").out):
        assert "Secret Name" not in text
    log = admin_json(server, "log", "--subject", ann.id)
    assert [line["action"] for line in log] == ["person-erase", "person-rename"]
    assert_refused(admin(server, "people", "rename", ann.id, "Ann again"), "was erased")
    assert admin(server, "people", "erase", ann.id, "--yes").code == 0  # a failed deletion can be repeated


def test_unknown_person_is_refused_in_one_line(sqlite_server: RunningServer) -> None:
    for command in (["show"], ["ban"], ["unban"], ["export"], ["rename", "Name"], ["erase", "--yes"]):
        for wrong in ("nobody", "a\0b", "Ann\n", "x" * 99):
            assert_refused(
                admin(sqlite_server, "people", command[0], wrong, *command[1:]), "no person has the id"
            )
        assert_refused(admin(sqlite_server, "people", command[0], "\udcff", *command[1:]), "UTF-8")
    assert_refused(admin(sqlite_server, "people", "find", "\udcff"), "UTF-8")


def test_unwritable_export_target_is_not_reported_as_database_error(
    sqlite_server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = sqlite_server.guest()
    missing_folder = str(tmp_path / "nowhere" / "ann.json")
    result = admin(sqlite_server, "people", "export", ann.id, "--out", missing_folder)
    assert_refused(result, f"{missing_folder}: No such file")

    def broken_pipe(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("axiogames.cli._drop_output", lambda: None)
    monkeypatch.setattr("axiogames.cli.commands.admin_people.click.echo", broken_pipe)
    assert admin(sqlite_server, "people", "export", ann.id) == CommandResult(PIPE_CLOSED, "", "")


def assert_soon(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; a running server notices changes within seconds."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the condition does not hold after 20 s"
        time.sleep(0.1)
