"""Secret keys: creation, replacement, and the check against the database."""

from __future__ import annotations

import asyncio
import multiprocessing
import stat
from pathlib import Path

import pytest

from axiogames.server.identity.people import InvalidCredentials
from axiogames.server.identity.tokens import Tokens
from axiogames.server.lifespan import build_server, record_key_fingerprint
from axiogames.server.routes import daily
from axiogames.server.settings import InvalidSetting, KeyMismatch, Settings, fingerprint, secret_keys
from tests.server.in_process import running_app

OLD, NEW, OTHER = ("old " * 10).strip(), ("new " * 10).strip(), ("other " * 10).strip()


def set_keys(monkeypatch: pytest.MonkeyPatch, *keys: str) -> None:
    monkeypatch.setenv("AXIO_KEY", ",".join(keys))


def create_key(folder: str, start: object, results: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    results.put(secret_keys(Path(folder)))  # type: ignore[attr-defined]


def test_concurrent_first_processes_share_one_key(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for folder in (tmp_path / str(number) for number in range(5)):
        start, results = context.Barrier(4), context.Queue()
        processes = [context.Process(target=create_key, args=(str(folder), start, results)) for _ in range(4)]
        for process in processes:
            process.start()
        keys = {results.get(timeout=60) for _ in processes}
        for process in processes:
            process.join(60)
        assert keys == {secret_keys(folder)}
        assert [path.name for path in folder.iterdir()] == ["key"]


def test_key_file_is_written_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_elsewhere(path: Path, key: str, write: object = None) -> None:
        assert not (tmp_path / "key").exists()
        path.write_text(key)
        path.chmod(0o600)

    monkeypatch.setattr("axiogames.server.settings._write_key", write_elsewhere)
    assert len(secret_keys(tmp_path)[0]) >= 32


def test_key_file_is_created_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.link", refuse)
    assert secret_keys(tmp_path) == secret_keys(tmp_path)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


@pytest.mark.parametrize("text", [f"{NEW}\n{OLD}\n", f"{NEW},{OLD}", f" {NEW} ,\r\n {OLD}\n\n{NEW}"])
def test_first_of_several_keys_signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "key").write_text(text)
    (tmp_path / "key").chmod(0o600)
    assert secret_keys(tmp_path) == (NEW, OLD)
    monkeypatch.setenv("AXIO_KEY", text)
    assert secret_keys(tmp_path / "elsewhere") == (NEW, OLD)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("text", [f"{NEW},short", f"short\n{OLD}", "\n", ",", "\xff\xfe" * 4])
def test_keys_shorter_than_32_characters_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "key").write_bytes(text.encode("latin-1"))
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(InvalidSetting, match="32 characters"):
        secret_keys(tmp_path)
    monkeypatch.setenv("AXIO_KEY", text)
    with pytest.raises(InvalidSetting, match="AXIO_KEY"):
        secret_keys(tmp_path)


def test_key_from_environment_must_be_valid_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AXIO_KEY", f"{NEW}\udcff")
    with pytest.raises(InvalidSetting, match="AXIO_KEY must contain a key"):
        secret_keys(tmp_path)


def test_tokens_of_all_keys_are_valid() -> None:
    old, both, new = Tokens([OLD]), Tokens([NEW, OLD]), Tokens([NEW])
    before, after = old.make("ann", 0), both.make("ann", 0)
    assert both.read(before) is not None
    assert not both.signed_with_newest_key(before)
    assert new.read(after) is not None
    assert both.signed_with_newest_key(after)
    assert new.read(before) is None
    assert old.read(after) is None


def test_phrases_survive_the_replacement_of_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        set_keys(monkeypatch, OLD)
        async with running_app(tmp_path) as app:
            people = app.server.people
            ann = await people.ensure_stored(people.new_guest())
            bob = await people.ensure_stored(people.new_guest())
            her_phrase, his_phrase = await people.issue_phrase(ann), await people.issue_phrase(bob)
        set_keys(monkeypatch, NEW, OLD)
        async with running_app(tmp_path) as app:
            assert (await app.server.people.find_by_phrase(her_phrase)).id == ann.id
        set_keys(monkeypatch, NEW)
        async with running_app(tmp_path) as app:
            # Signing in with both keys has hashed her phrase again, with the new key.
            assert (await app.server.people.find_by_phrase(her_phrase)).id == ann.id
            with pytest.raises(InvalidCredentials):
                await app.server.people.find_by_phrase(his_phrase)

    asyncio.run(run())


def test_daily_seed_survives_key_replacement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "today", lambda: "2026-03-01")

    async def seed(*keys: str, start_attempt: bool = False) -> str:
        set_keys(monkeypatch, *keys)
        async with running_app(tmp_path) as app:
            if start_attempt:
                ann = await app.guest("Ann")
                table = (await app.call("POST", "/api/daily/rota", ann.token))["id"]
                return (await app.server.rooms.get(table)).game.config.seed
            return await daily.daily_seed(app.server, "2026-03-01", "rota")

    async def run() -> None:
        first = await seed(OLD)
        assert await seed(NEW, OLD) == first  # no attempt yet; other processes still have only the old key
        assert await seed(NEW, OLD, start_attempt=True) == first
        assert await seed(NEW, start_attempt=True) == first  # the stored seed survives the key
        assert await seed(OTHER) == first

    asyncio.run(run())


# ------------------------------------------------------------------ the key of a database


async def start(folder: Path, *, accept_new_key: bool = False) -> None:
    """Check the key as at the start of a server."""
    server = build_server(Settings(data=str(folder), accept_new_key=accept_new_key))
    try:
        await server.database.upgrade()
        await record_key_fingerprint(server)
    finally:
        server.people.close()
        server.pictures.close()
        server.bots.close()
        await server.database.close()


def test_database_stores_fingerprint_of_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        for keys in ((OLD,), (OLD,), (OLD, NEW), (NEW, OLD), (OLD, NEW), (NEW, OLD), (NEW,)):
            set_keys(monkeypatch, *keys)
            await start(tmp_path)
        for keys in ((OLD,), (OTHER,)):
            set_keys(monkeypatch, *keys)
            with pytest.raises(KeyMismatch, match="AXIO_KEY=NEW,OLD"):
                await start(tmp_path)
        await start(tmp_path, accept_new_key=True)
        await start(tmp_path)

    asyncio.run(run())


def test_fingerprint_does_not_reveal_key() -> None:
    assert len({fingerprint(key) for key in (OLD, NEW, OTHER)}) == 3
    assert OLD not in fingerprint(OLD)
    assert fingerprint(OLD) != fingerprint(OLD + "x")
