"""`axio serve`: invalid settings, start and stop."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, fields
from io import StringIO
from pathlib import Path

import pytest

from axiogames.cli import main
from axiogames.server.settings import ENVIRONMENT, InvalidSetting, Settings
from tests.server.driving import Browser, free_port, start_server


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The exit code and standard error of a command."""

    code: int
    err: str


def run(*arguments: str, **environment: str) -> CommandResult:
    """Run `axio serve` in its own process, which must exit."""
    done = subprocess.run(
        [sys.executable, "-m", "axiogames", "serve", "--no-open", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
    return CommandResult(done.returncode, done.stderr)


def run_here(*arguments: str) -> CommandResult:
    """Run `axio serve` in this process, for settings that are refused before the server starts."""
    err = StringIO()
    with redirect_stderr(err):
        code = main(["serve", "--no-open", *arguments])
    return CommandResult(code, err.getvalue())


def error_line(ran: CommandResult) -> str:
    """Assert that a command reports an error in one line, and return it."""
    assert ran.code not in (0, -9), ran
    assert "Traceback" not in ran.err
    lines = ran.err.strip().splitlines()
    assert lines
    assert len([line for line in lines if not line.startswith(("Usage:", "Try "))]) <= 2
    return lines[-1]


@pytest.mark.parametrize("port", ["0", "-1", "70000", "http"])
def test_an_invalid_port_is_refused(port: str) -> None:
    assert "--port" in error_line(run_here("--port", port))


def test_a_port_in_use_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        line = error_line(run_here("--port", str(taken.getsockname()[1]), "--data", str(tmp_path)))
    assert "cannot use port" in line
    assert "--port" in line


@pytest.mark.parametrize("database", ["mysql://root@localhost/axio", "nonsense", "postgresql"])
def test_an_unknown_database_scheme_is_refused_in_one_line(tmp_path: Path, database: str) -> None:
    line = error_line(run_here("--port", str(free_port()), "--data", str(tmp_path), "--database", database))
    assert "postgresql://" in line


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_an_unreachable_database_is_reported_in_one_line(tmp_path: Path, kind: str) -> None:
    (tmp_path / "folder").mkdir()
    nowhere = {
        "postgresql": "postgresql://axio@127.0.0.1:1/axio",
        "sqlite": f"sqlite:///{tmp_path / 'folder'}",
    }
    line = error_line(run("--port", str(free_port()), "--data", str(tmp_path), "--database", nowhere[kind]))
    assert "database" in line


def test_several_workers_need_postgresql(tmp_path: Path) -> None:
    line = error_line(run_here("--workers", "2", "--data", str(tmp_path), "--port", str(free_port())))
    assert "PostgreSQL" in line
    for count in ("0", "-3", "many"):
        assert "--workers" in error_line(run_here("--workers", count))


def test_an_invalid_origin_is_refused(tmp_path: Path) -> None:
    assert "https://example.org" in error_line(run_here("--origin", "example.org", "--data", str(tmp_path)))


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k" * 64)
    (tmp_path / "key").chmod(0o644)
    assert "0600" in error_line(run("--port", str(free_port()), "--data", str(tmp_path)))


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    assert "AXIO_KEY" in error_line(
        run("--port", str(free_port()), "--data", str(tmp_path), AXIO_KEY="short")
    )


def test_an_unwritable_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "below")
    assert folder in error_line(run("--port", str(free_port()), "--data", folder))


def test_two_servers_do_not_share_a_folder(tmp_path: Path) -> None:
    with start_server(tmp_path) as server:
        assert server.url in error_line(run("--port", str(free_port()), "--data", str(server.data)))


def test_games_resume_however_the_server_ended(tmp_path: Path) -> None:
    with start_server(tmp_path) as first:
        ann, bob = first.guest("Ann"), first.guest("Bob")
        table = ann.open("axio", ["me", "greedy"])
        with ann.live(table.id) as live:
            live.recv()
            live.play(0)
            before = live.wait_for_turn()
            assert first.stop() in (0, -15)
        assert first.log == ""
    with start_server(tmp_path) as second:
        ann, bob = ann.at(second.url), bob.at(second.url)  # tokens are still valid
        view = ann.view(table.id)
        assert view["now"] == before
        with ann.live(table.id, live.n) as live:
            assert live.recv()["type"] == "seats"
            live.n = view["n"]
            live.play(0)
        shared = ann.open("axio", ["me", "open"])
        bob.join(shared)
        bob.post(f"/api/tables/{shared.id}/leave")
        with ann.live(shared.id) as live:
            live.recv()
            live.play(0)
        second.kill()  # possibly before the bots have moved
    with start_server(tmp_path) as third:
        for unfinished in (table, shared):
            with ann.at(third.url).live(unfinished.id) as live:
                live.recv()
                assert live.wait_for_turn()["turn"] == 0


# ------------------------------------------------------------------ settings


def test_settings_are_passed_through_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, "{}")
    assert Settings.from_environment() == Settings()
    given = Settings(
        data="/somewhere/ä b",
        database="postgresql://name:p%40ss@host/base",
        host="::1",
        port=1234,
        workers=3,
        origins=("https://one.example", "https://two.example"),
        allowed_hosts=("box.local",),
        proxies=("10.0.0.0/24",),
        secure_cookies=True,
        rate_limits=False,
        bot_threads=2,
        bot_seconds=0.25,
        max_tables=7,
        max_tables_per_person=3,
        keep_open=1,
        keep_unfinished=2,
        keep_closed=3,
        keep_guests=4,
        keep_reviews=5,
        log_level="debug",
        metrics_host="::1",
        metrics_port=9100,
        accept_new_key=True,
        service_worker=False,
    )
    given.to_environment()
    assert Settings.from_environment() == given
    assert not {field.name for field in fields(Settings)} - changed_in(given)


def changed_in(settings: Settings) -> set[str]:
    """Return the settings that differ from their defaults: all, so that the test covers each."""
    return {name for name, value in asdict(settings).items() if value != asdict(Settings())[name]}


def test_settings_of_another_version_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, '{"port": 99, "telepathy": true}')
    assert Settings.from_environment() == Settings(port=99)


@pytest.mark.parametrize(
    ("database", "url"),
    [
        ("postgresql://a@b/c", "postgresql+asyncpg://a@b/c"),
        ("postgres://a@b/c", "postgresql+asyncpg://a@b/c"),
        ("sqlite:///x.db", "sqlite+aiosqlite:///x.db"),
    ],
)
def test_database_addresses_accept_the_usual_schemes(database: str, url: str) -> None:
    settings = Settings(database=database)
    assert settings.url == url
    assert settings.on_postgresql == url.startswith("postgresql")


@pytest.mark.parametrize("database", ["mysql://x", "postgresql", "://", "oracle://a@b"])
def test_an_unknown_database_scheme_is_refused(database: str) -> None:
    with pytest.raises(InvalidSetting):
        Settings(database=database).check()


# ------------------------------------------------------------------ keys and passwords


def test_a_changed_key_is_refused_in_one_line(tmp_path: Path) -> None:
    keys = {name: f"the {name} key of a server that is served here" for name in ("old", "new")}
    start = ["--data", str(tmp_path), "--port"]
    with start_server(tmp_path, environment={"AXIO_KEY": keys["old"]}) as first:
        ann = first.guest("Ann")
        browser = Browser(first.url)
    line = error_line(run(*start, str(free_port()), AXIO_KEY=keys["new"]))
    assert "AXIO_KEY=NEW,OLD" in line
    assert "--accept-new-key" in line
    both = {"AXIO_KEY": f"{keys['new']},{keys['old']}"}
    with start_server(tmp_path, environment=both) as second:
        assert ann.at(second.url).get("/api/me")["id"] == ann.id
        client, before = Browser(second.url), browser.cookie
        client.cookie = before
        client.get("/api/me")
        assert client.cookie != before  # signed with the new key, so that the old key can be removed
    assert "secret key" in error_line(run(*start, str(free_port()), AXIO_KEY=keys["old"]))
    with start_server(tmp_path, environment={"AXIO_KEY": keys["old"]}, extra=["--accept-new-key"]) as third:
        assert ann.at(third.url).get("/api/me")["id"] == ann.id
        client.url = client.origin = third.url
        cookie = client.cookie
        assert client.refused("GET", "/api/me").code == "unreadable_token"
        assert client.cookie == cookie


def test_the_database_address_from_the_environment_is_hidden_from_child_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AXIO_DATABASE", "postgresql://axio:hunter2@127.0.0.1:1/axio")
    ran = run_here("--port", str(free_port()), "--data", str(tmp_path))
    assert "the database" in error_line(ran)
    assert "hunter2" not in ran.err
    assert "AXIO_DATABASE" not in os.environ
    Settings(database="postgresql://axio:hunter2@db/axio").to_environment()
    assert Settings.from_environment().database.endswith("hunter2@db/axio")
    assert "hunter2" not in str(os.environ)  # the environment that child processes inherit


def test_a_password_on_the_command_line_causes_a_warning(tmp_path: Path) -> None:
    ran = run_here(
        "--port",
        str(free_port()),
        "--data",
        str(tmp_path),
        "--database",
        "postgresql://axio:hunter2@127.0.0.1:1/axio",
    )
    assert "AXIO_DATABASE" in ran.err
    assert "hunter2" not in ran.err
    assert "AXIO_DATABASE" not in run_here("--database", "postgresql://axio@127.0.0.1:1/axio").err
