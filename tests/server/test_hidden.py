"""Messages and responses of all routes do not depend on hidden information, byte for byte.

After many entries of complete games, hidden tiles and the seed are replaced. Everything that the server sends
to a viewer is compared between both scenarios.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from litestar.routes import HTTPRoute, WebSocketRoute

from axiogames.rng import Generator
from axiogames.server.domain import bots as bots_module
from axiogames.server.domain import game_state as game_module
from axiogames.server.domain import room as room_module
from axiogames.server.identity import tokens as tokens_module
from tests.games.conformance.positions import CASES, Case
from tests.server.in_process import running_app
from tests.server.scenarios import (
    BODIES,
    SLOW,
    START_TIME,
    Viewer,
    collect_broadcast,
    collect_responses,
    play_scenario,
    targets,
    twin,
    viewers,
)

# Games of three hide the same kinds of information as games of two or four.
PLAIN = [case for case in CASES if case.players in (2, 4) and not case.options]
# Options change the number and visibility of tiles. One case with all options suffices.
OPTIONS = [max((case for case in CASES if case.players == 2), key=lambda case: len(case.options))]
PAIRS = [case for case in PLAIN if case.players == 2]
SCENARIOS = [
    *((case, "people") for case in dict.fromkeys([*PLAIN, *OPTIONS])),
    *((case, kind) for case in PAIRS for kind in ("screen", "bots")),
]
# Run by `make slow`: every second game for more than two people, at one screen or with bots.
SLOW_SCENARIOS = [(case, "people") for case in PLAIN if case.players > 2][1::2]
SLOW_SCENARIOS += [(case, kind) for n, case in enumerate(PAIRS) for kind in ("screen", "bots")[n % 2 :][:1]]
each_scenario = pytest.mark.parametrize(
    ("case", "kind"),
    [
        pytest.param(*scenario, marks=[pytest.mark.slow] if scenario in SLOW_SCENARIOS else [])
        for scenario in SCENARIOS
    ],
    ids=str,
)
STRIDE = 20  # entries between two comparisons of all responses
HINT_SECONDS = 600.0  # hints end by their number of rollouts, never by the clock

# Requests that write but depend on no table.
UNRELATED = {
    "POST /api/guests",
    "PATCH /api/me",
    "POST /api/me/phrase",
    "POST /api/me/account",
    "POST /api/enter",
    "POST /api/me/leave",
    "DELETE /api/me",
    "POST /api/tables",
    "POST /api/daily/{name}",
}


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix values that differ between runs or are derived from the seed in public."""
    monkeypatch.setattr(game_module, "commitment", lambda seed: "commitment")
    monkeypatch.setattr(room_module, "now", lambda: START_TIME)
    monkeypatch.setattr(tokens_module, "_now", lambda: START_TIME)
    monkeypatch.setattr(room_module.Room, "wake", lambda room: None)  # bots wait
    monkeypatch.setattr(secrets, "token_hex", lambda count=0: "ab" * count)
    monkeypatch.setattr(bots_module, "HINT_ROLLOUTS", 300)


def assert_equal(texts: Sequence[bytes], twin_texts: Sequence[bytes]) -> int:
    """Check that both scenarios produced the same texts, and return their number."""
    for pair in zip(texts, twin_texts, strict=True):
        first, second = pair
        if first != second:
            padded = zip(first + b"$", second + b"$", strict=False)
            at = next(i for i, (a, b) in enumerate(padded) if a != b)
            shown = [text[:60] + b" ... " + text[max(0, at - 200) : at + 100] for text in pair]
            raise AssertionError(f"a text depends on hidden tiles: {shown[0]!r} or {shown[1]!r}")
    return len(texts)


def pick(candidates: list[Viewer], rng: Generator) -> Viewer:
    return candidates[rng.randint(len(candidates))]


@pytest.mark.usefixtures("pinned")
@each_scenario
def test_messages_do_not_depend_on_hidden_tiles(tmp_path: Path, case: Case, kind: str) -> None:
    async def run() -> int:
        scenario, rng, compared = play_scenario(case, kind), Generator(f"{case} {kind}"), 0
        async with running_app(tmp_path) as app:
            # Every second entry of a game for two, and about as many entries of longer games.
            stride = 2 if kind == "people" and case in PAIRS else 5
            for number in range(case.players + 1, len(scenario.log), stride):
                current = scenario.up_to(number)
                viewer = pick(viewers(case, kind, current.game.turn), rng)
                other = twin(current, viewer, rng)
                if other is not None:
                    texts = await collect_broadcast(app, current, viewer)
                    compared += assert_equal(texts, await collect_broadcast(app, other, viewer))
        return compared

    assert asyncio.run(run()) > 0


@pytest.mark.usefixtures("pinned")
@each_scenario
def test_responses_do_not_depend_on_hidden_tiles(tmp_path: Path, case: Case, kind: str) -> None:
    async def run() -> int:
        scenario, rng, compared = play_scenario(case, kind), Generator(f"{case} {kind} answers"), 0
        async with running_app(tmp_path, bot_seconds=HINT_SECONDS) as app:
            for number in range(case.players + 1, len(scenario.log), STRIDE):
                current = scenario.up_to(number)
                viewer = pick(viewers(case, kind, current.game.turn), rng)
                other = twin(current, viewer, rng)
                if other is not None:
                    slow = compared == 0
                    texts = await collect_responses(app, current, viewer, slow=slow)
                    compared += assert_equal(texts, await collect_responses(app, other, viewer, slow=slow))
        return compared

    assert asyncio.run(run()) > 0


def test_every_route_is_compared_or_changes_no_table(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            requested = targets(app, "axio", slow=True)
            for route in app.litestar.routes:
                if isinstance(route, WebSocketRoute):
                    assert route.path_format == "/api/tables/{table_id}/live"
                    continue
                assert isinstance(route, HTTPRoute)
                for method in route.methods - {"GET", "OPTIONS", "HEAD"}:
                    name = f"{method} {route.path_format}"
                    assert (route.path_format in BODIES) != (name in UNRELATED), name
                    assert ("table_id" in route.path_parameters) == (route.path_format in BODIES)
            gets = [route for route in app.litestar.routes if "GET" in getattr(route, "methods", ())]
            assert len({target.partition("?")[0] for target in requested}) == len(gets)
            assert {route.path_format for route in gets} >= SLOW

    asyncio.run(run())


def test_comparison_detects_a_leak(tmp_path: Path, pinned: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a server that leaks the position, both tests above fail."""
    view = room_module.Room.view

    def leaking(room: room_module.Room, viewer: Any, ack: str | None = None) -> Any:
        assert room.game.table is not None
        return view(room, viewer, ack or room.game.table.position)

    async def run() -> None:
        case = Case("axio", 2)
        viewer, rng = Viewer("seat 0", "person-0", 0), Generator("leak")
        # Some positions have no twin because nothing is hidden.
        scenarios = (play_scenario(case, "people").up_to(number) for number in range(14, 30))
        scenario, other = next(
            (candidate, match)
            for candidate in scenarios
            if (match := twin(candidate, viewer, rng)) is not None
        )
        async with running_app(tmp_path, bot_seconds=HINT_SECONDS) as app:
            for collect in (collect_broadcast, lambda *args: collect_responses(*args, slow=False)):
                texts = await collect(app, scenario, viewer)
                twin_texts = await collect(app, other, viewer)
                with pytest.raises(AssertionError, match="depends on hidden tiles"):
                    assert_equal(texts, twin_texts)

    monkeypatch.setattr(room_module.Room, "view", leaking)
    asyncio.run(run())
