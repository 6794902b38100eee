"""Messages and responses do not depend, byte for byte, on what their recipient may not know, on any route.

After entries all over whole games the tiles that a viewer cannot see are exchanged for others, the seed as
well, and everything that the server says in both worlds is compared.
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

# Three seats hide nothing that two or four do not.
PLAIN = [case for case in CASES if case.players in (2, 4) and not case.options]
# Options change how many tiles there are and who may know of them: all at once are enough.
OPTIONS = [max((case for case in CASES if case.players == 2), key=lambda case: len(case.options))]
PAIRS = [case for case in PLAIN if case.players == 2]
SCENARIOS = [
    *((case, "people") for case in dict.fromkeys([*PLAIN, *OPTIONS])),
    *((case, kind) for case in PAIRS for kind in ("screen", "bots")),
]
# Every game for two, and for more people, at a screen and with bots every second one.
SELDOM = [(case, "people") for case in PLAIN if case.players > 2][1::2]
SELDOM += [(case, kind) for n, case in enumerate(PAIRS) for kind in ("screen", "bots")[n % 2 :][:1]]
each_scenario = pytest.mark.parametrize(
    ("case", "kind"),
    [
        pytest.param(*scenario, marks=[pytest.mark.slow] if scenario in SELDOM else [])
        for scenario in SCENARIOS
    ],
    ids=str,
)
EVERY = 20  # entries between those after which everything is asked
AS_LONG_AS_IT_TAKES = 600.0  # seconds for a hint: it ends by its rollouts, never by a clock

# Requests that change something, but no table: they know nothing of any game in play.
ELSEWHERE = {
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
    """What differs from run to run, or follows from the seed for everybody to see, is always the same."""
    monkeypatch.setattr(game_module, "commitment", lambda seed: "what is shown of the seed")
    monkeypatch.setattr(room_module, "now", lambda: START_TIME)
    monkeypatch.setattr(tokens_module, "_now", lambda: START_TIME)
    monkeypatch.setattr(room_module.Room, "wake", lambda room: None)  # bots wait
    monkeypatch.setattr(secrets, "token_hex", lambda count=0: "ab" * count)
    monkeypatch.setattr(bots_module, "HINT_ROLLOUTS", 300)


def compare(said: Sequence[bytes], twins: Sequence[bytes]) -> int:
    """How many texts are equal, as all of them have to be."""
    for one, other in zip(said, twins, strict=True):
        if one != other:
            at = next(i for i, (a, b) in enumerate(zip(one + b"$", other + b"$", strict=False)) if a != b)
            shown = [text[:60] + b" ... " + text[max(0, at - 200) : at + 100] for text in (one, other)]
            raise AssertionError(f"it depends on what is hidden: {shown[0]!r} or {shown[1]!r}")
    return len(said)


def pick(found: list[Viewer], rng: Generator) -> Viewer:
    return found[rng.randint(len(found))]


@pytest.mark.usefixtures("pinned")
@each_scenario
def test_messages_do_not_depend_on_hidden_tiles(tmp_path: Path, case: Case, kind: str) -> None:
    async def run() -> int:
        scenario, rng, same = play_scenario(case, kind), Generator(f"{case} {kind}"), 0
        async with running_app(tmp_path) as app:
            # Every second entry of a game for two; of the others as many, spread over the whole game.
            stride = 2 if kind == "people" and case in PAIRS else 5
            for number in range(case.players + 1, len(scenario.log), stride):
                now = scenario.upto(number)
                viewer = pick(viewers(case, kind, now.game.turn), rng)
                other = twin(now, viewer, rng)
                if other is not None:
                    said = await collect_broadcast(app, now, viewer)
                    same += compare(said, await collect_broadcast(app, other, viewer))
        return same

    assert asyncio.run(run()) > 0


@pytest.mark.usefixtures("pinned")
@each_scenario
def test_responses_do_not_depend_on_hidden_tiles(tmp_path: Path, case: Case, kind: str) -> None:
    async def run() -> int:
        scenario, rng, same = play_scenario(case, kind), Generator(f"{case} {kind} answers"), 0
        async with running_app(tmp_path, bot_seconds=AS_LONG_AS_IT_TAKES) as app:
            for number in range(case.players + 1, len(scenario.log), EVERY):
                now = scenario.upto(number)
                viewer = pick(viewers(case, kind, now.game.turn), rng)
                other = twin(now, viewer, rng)
                if other is not None:
                    slow = same == 0
                    said = await collect_responses(app, now, viewer, slow=slow)
                    same += compare(said, await collect_responses(app, other, viewer, slow=slow))
        return same

    assert asyncio.run(run()) > 0


def test_every_route_is_compared_or_changes_no_table(tmp_path: Path) -> None:
    async def run() -> None:
        async with running_app(tmp_path) as app:
            asked = targets(app, "axio", slow=True)
            for route in app.litestar.routes:
                if isinstance(route, WebSocketRoute):
                    assert route.path_format == "/api/tables/{table_id}/live"
                    continue
                assert isinstance(route, HTTPRoute)
                for method in route.methods - {"GET", "OPTIONS", "HEAD"}:
                    name = f"{method} {route.path_format}"
                    assert (route.path_format in BODIES) != (name in ELSEWHERE), name
                    assert ("table_id" in route.path_parameters) == (route.path_format in BODIES)
            gets = [route for route in app.litestar.routes if "GET" in getattr(route, "methods", ())]
            assert len({target.partition("?")[0] for target in asked}) == len(gets)
            assert {route.path_format for route in gets} >= SLOW

    asyncio.run(run())


def test_comparison_detects_a_leak(tmp_path: Path, pinned: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a server that shows every hand, both tests above fail."""
    honest = room_module.Room.view

    def leaking(room: room_module.Room, viewer: Any, ack: str | None = None) -> Any:
        assert room.game.table is not None
        return honest(room, viewer, ack or room.game.table.position)

    async def run() -> None:
        case = Case("axio", 2)
        viewer, rng = Viewer("seat 0", "person-0", 0), Generator("leak")
        # Not everywhere is there a twin: some positions leave nothing to be different.
        scenarios = (play_scenario(case, "people").upto(number) for number in range(14, 30))
        scenario, other = next((one, two) for one in scenarios if (two := twin(one, viewer, rng)) is not None)
        async with running_app(tmp_path, bot_seconds=AS_LONG_AS_IT_TAKES) as app:
            for witness in (collect_broadcast, lambda *of: collect_responses(*of, slow=False)):
                said = await witness(app, scenario, viewer)
                twins = await witness(app, other, viewer)
                with pytest.raises(AssertionError, match="depends on what is hidden"):
                    compare(said, twins)

    monkeypatch.setattr(room_module.Room, "view", leaking)
    asyncio.run(run())
