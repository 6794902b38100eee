"""Files of the server are private, regardless of the umask and of existing permissions."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from axiogames.server.lifespan import build_server
from axiogames.server.operations.backup import make_backup, restore_backup
from axiogames.server.private_files import SQLITE_FILES, make_private, make_private_file
from axiogames.server.processes import check_startup
from axiogames.server.settings import DATABASE_FILE, Settings
from tests.server.driving import free_port
from tests.server.in_process import running_app


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    previous = os.umask(request.param)
    yield
    os.umask(previous)


def modes(folder: Path) -> dict[str, int]:
    """Return the permissions of a folder and its contents."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}


@pytest.mark.usefixtures("umask")
def test_created_files_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    async def run() -> None:
        check_startup(Settings(data=str(folder), port=free_port()))
        async with running_app(folder) as app:
            await app.open(await app.guest("Ann"), "rota", [{"kind": "me"}])
            permissions = modes(folder)
            files = {f"{DATABASE_FILE}{suffix}" for suffix in ("", "-wal", "-shm")} | {"key"}
            assert files <= set(permissions)
            assert permissions.pop("data") == 0o700
            assert set(permissions.values()) == {0o600}
            make_backup(app.server.settings, tmp_path / "backup")
            assert stat.S_IMODE((tmp_path / "backup").stat().st_mode) == 0o600

    asyncio.run(run())


def test_startup_makes_existing_files_private(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "data"
    settings = Settings(data=str(folder))

    async def run(warnings: int) -> None:
        caplog.clear()
        server = build_server(settings)
        server.people.close()
        server.pictures.close()
        server.bots.close()
        await server.database.close()
        assert [record.levelno for record in caplog.records] == [logging.WARNING] * warnings
        assert not {mode & 0o077 for mode in modes(folder).values()} - {0}

    asyncio.run(run(0))
    folder.chmod(0o755)
    for suffix in SQLITE_FILES:
        (folder / f"{DATABASE_FILE}{suffix}").touch()
        (folder / f"{DATABASE_FILE}{suffix}").chmod(0o664)
    asyncio.run(run(1))
    assert DATABASE_FILE in caplog.text
    asyncio.run(run(0))


def test_replaced_and_moved_backups_are_private(tmp_path: Path) -> None:
    async def run() -> Settings:
        async with running_app(tmp_path / "data") as app:
            await app.guest("Ann")
            return app.server.settings

    settings = asyncio.run(run())
    archive = tmp_path / "backup"
    archive.touch()
    archive.chmod(0o644)
    make_backup(settings, archive, force=True)
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    (tmp_path / "data" / DATABASE_FILE).chmod(0o644)
    _, moved = restore_backup(settings, archive, force=True)
    assert moved
    assert not {mode & 0o077 for mode in modes(tmp_path / "data").values()} - {0}


def test_shared_folders_are_left_alone(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert make_private(shared, tmp_path / "nothing") == []
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777


def test_private_files_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    make_private_file(file)
    make_private_file(file)  # existing files stay
    file.chmod(0o644)
    monkeypatch.setattr("axiogames.server.private_files.os.name", "nt")
    monkeypatch.delattr("axiogames.server.private_files.os.geteuid")
    assert make_private(file) == []
