"""Caches of the server are bounded, whatever clients request."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from pathlib import Path

import pytest

from axiogames.games import GAMES, LANGUAGES, find_variant
from axiogames.server.routes import games, static
from axiogames.web import board_json
from tests.games.conformance.positions import Case
from tests.server.in_process import App, running_app
from tests.server.rooms import run
from tests.server.scenarios import TABLE, install, play_scenario

UNKNOWN_LANGUAGES = ("xx", "de-AT", "DE", "", "q" * 20, "de-%00", "en-\N{SNOWMAN}", "en_US")


def framework_caches() -> dict[str, int]:
    """Return the number of cached results of each function of the web framework."""
    found: dict[str, int] = {}
    for item in gc.get_objects():
        if type(item) is _lru_cache_wrapper and str(item.__module__).startswith("litestar."):
            name = f"{item.__module__}.{item.__qualname__}"
            found[name] = found.get(name, 0) + item.cache_info().currsize
    return found


def unbounded_caches() -> Iterator[tuple[str, int]]:
    """Yield name and number of cached results of each function of this package with an unbounded cache."""
    for item in gc.get_objects():
        if type(item) is _lru_cache_wrapper and str(item.__module__).startswith("axiogames."):
            info = item.cache_info()
            if info.maxsize is None:
                yield f"{item.__module__}.{item.__qualname__}", info.currsize


def sizes() -> dict[str, int]:
    """Return the sizes of all caches of this package by name: of functions, and private dictionaries."""
    found = {"static files": len(static._CACHE)}
    for name, size in unbounded_caches():
        found[name] = found.get(name, 0) + size
    for name, module in tuple(sys.modules.items()):
        if name.startswith("axiogames.server"):
            for variable, value in vars(module).items():
                if variable.startswith("_") and not variable.startswith("__") and isinstance(value, dict):
                    found[f"{name}.{variable}"] = len(value)
    return found


async def request_texts(app: App, language: str) -> None:
    """Request all texts that depend on the language."""
    paths = ["/api/games", "/api/review/words", "/api/daily", *(f"/api/games/{name}/rules" for name in GAMES)]
    for path in paths:
        answer = await app.request("GET", f"{path}?lang={language}")
        assert answer.status == 200, path


def test_unknown_languages_are_not_cached(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            for language in LANGUAGES:
                await request_texts(app, language)
            before = sizes()
            for language in (*UNKNOWN_LANGUAGES, *(f"l{number}" for number in range(20))):
                await request_texts(app, language)
            assert sizes() == before
            assert games._info.cache_info().currsize <= len(GAMES) * len(LANGUAGES)

    run(work)


def test_unknown_urls_are_not_cached(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            await install(app, play_scenario(Case("rota", 2), "people"))
            name = GAMES[0]
            known = [
                f"/api/games/{name}/picture.svg?dark=0",
                "/static/icons/icon.svg",
                "/t/x",
                "/rules",
                f"/api/tables/{TABLE}/picture.svg?move=3",
            ]
            for path in known:
                assert (await app.request("GET", path)).status == 200, path
            before = sizes()
            for number in range(20):
                for path in (
                    f"/api/games/{name}{number}/picture.svg",
                    f"/api/games/{name}{number}/rules",
                    f"/api/games/{name}/figures/none{number}.svg",
                    f"/static/css/none{number}.css",
                    f"/static/css/../css/{number}",
                    f"/t/{number}",
                    f"/rules/{number}",
                    f"/api/tables/none{number}",
                    f"/api/tables/none{number}/picture.svg",
                ):
                    assert (await app.request("GET", path)).status in (200, 404), path
                for path in (
                    f"/api/games/{name}/picture.svg?dark=0&x={number}",
                    f"/static/icons/icon.svg?{number}",
                ):
                    assert (await app.request("GET", path)).status == 200, path
            assert sizes() == before

    run(work)


def test_long_urls_and_cookies_are_not_cached(tmp_path: Path) -> None:
    # The framework caches the parsed form of the last thousand of each, whatever their size.
    async def work() -> None:
        async with running_app(tmp_path) as app:
            guest = await app.call("GET", "/api/me")
            token = app.server.people.token(await app.server.people.find(guest["id"]))
            assert await (await app.socket("none")).wait_closed() == 4404
            before = framework_caches()
            for number in range(5):
                for path in (
                    f"/api/games?lang=en&{number}{'x' * 1_000}",
                    f"/api/games?lang=en{'&' * 20}{number}",
                    f"/static/{number}{'x' * 1_000}",
                    f"/t/{'%41' * 1_000}{number}",
                ):
                    refused = await app.request("GET", path)
                    assert (refused.status, refused.json["code"]) == (414, "too_large"), path
                socket = await app.socket("none", headers={b"cookie": b"who=%d" % number})
                assert await socket.wait_closed() == 4404
                for cookie in (
                    f"who={number}",
                    f'who="{number}' + "\\a" * 15_000 + '"',  # takes seconds to parse before Python 3.11.10
                    f"other={number}; a=b; who={token}",
                    f"{'a=b;' * 5_000}who={token} ;c={number}",
                ):
                    found = await app.request("GET", "/api/me", headers={b"cookie": cookie.encode()})
                    assert found.status == 200, cookie[:40]
                    assert (found.json["id"] == guest["id"]) is (token in cookie)
            assert framework_caches() == before

    run(work)


def test_place_cache_of_a_growing_board_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_json, "MAX_PLACES", 50)
    variant = next(found for name in GAMES if (found := find_variant(name)).grows)
    encoder = board_json.BoardEncoder(variant)
    first = encoder.board_tile(variant.kinds[0], ("3,4",))
    for x in range(300):
        encoder.board_tile(variant.kinds[0], (f"{x},-7",))
        assert len(encoder._places) <= 50
    assert encoder.board_tile(variant.kinds[0], ("3,4",)) == first
