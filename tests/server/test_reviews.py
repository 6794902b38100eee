"""Reviews of games that are over: made once in the background, for whoever may see the replay."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from axio.games import GAMES, LANGUAGES
from axio.review.wording import words
from axio.server.play import reviews as module
from axio.server.play.refusals import Refused
from axio.server.play.reviews import Reviews
from tests.conformance.positions import Case

from .driving import Client, Guest, Json, RunningServer
from .inside import inside
from .live import PATIENCE
from .worlds import TABLE, World, install, played

OVER = Case("rota", 2)


def finish(ann: Guest, game: str, seats: list[str]) -> str:
    """The id of a game that is over."""
    table = ann.open(game, seats)
    with ann.live(table.id) as live:
        live.play_to_the_end()
    return table.id


def wait_for(ann: Client, table: str) -> Json:
    """The review, when it is there."""
    end = time.monotonic() + 4 * PATIENCE
    while time.monotonic() < end:
        told = ann.get(f"/api/tables/{table}/review")
        assert 0 <= told["done"] <= told["total"]
        if told["state"] == "ready":
            review: Json = told["review"]
            return review
        assert told["state"] == "running"
        time.sleep(0.2)
    raise AssertionError("there is no review")


def test_a_review_is_made_for_whoever_may_see_the_replay(small: RunningServer) -> None:
    ann, bob = small.guest("Ann"), small.guest("Bob")
    table = finish(ann, GAMES[2], ["me", "greedy"])
    path = f"/api/tables/{table}/review"
    assert bob.get(path) == {"state": "none", "done": 0, "total": 0, "review": None}
    started = ann.post(path)
    assert started["state"] == "running"
    assert bob.post(path)["state"] in ("running", "ready")
    review = wait_for(bob, table)
    assert ann.post(path)["review"] == review
    steps = len(ann.get(f"/api/tables/{table}/replay")["steps"])
    assert [move["ply"] for move in review["moves"]] == list(range(1, len(review["moves"]) + 1))
    for move in review["moves"]:
        assert 0 <= move["at"] <= steps
        assert move["remark"]["key"] in words("en")
        for tried in move["candidates"]:
            assert tried["tile"] is None or tried["tile"]["tile"] in tried["move"]
    for seat in review["seats"]:
        account = seat["account"]
        total = account["start"] + account["luck"] + account["choices"] + account["others"]
        assert total == pytest.approx(account["result"])
        assert seat["line"][-1][0] <= steps


def test_a_game_alone_can_be_reviewed(small: RunningServer) -> None:
    ann = small.guest("Ann")
    table = finish(ann, GAMES[2], ["me"])
    ann.post(f"/api/tables/{table}/review")
    review = wait_for(ann, table)
    assert review["terms"]["kind"] == "lowest"
    assert len(review["seats"]) == 1


def test_a_review_is_what_the_schema_says(small: RunningServer) -> None:
    ann = small.guest("Ann")
    table = finish(ann, GAMES[2], ["me", "random"])
    ann.post(f"/api/tables/{table}/review")
    wait_for(ann, table)
    schema = ann.get("/schema/openapi.json")
    validator = Draft202012Validator({"$ref": "#/components/schemas/ReviewState", **schema})
    assert [error.message for error in validator.iter_errors(ann.get(f"/api/tables/{table}/review"))] == []


def test_nothing_is_told_before_the_game_is_over(small: RunningServer) -> None:
    ann = small.guest("Ann")
    table = ann.open(GAMES[0], ["me", "greedy"])
    for method in ("GET", "POST"):
        assert ann.refused(method, f"/api/tables/{table.id}/review").code == "not_yet"
        assert ann.refused(method, "/api/tables/nothing/review").code == "no_such_table"


def test_nobody_is_somebody_before_asking(small: RunningServer) -> None:
    table = finish(small.guest("Ann"), GAMES[2], ["me", "random"])
    nobody = Client(small.url)
    assert nobody.refused("POST", f"/api/tables/{table}/review").code == "unknown_person"
    assert nobody.get(f"/api/tables/{table}/review")["state"] == "none"


@pytest.mark.parametrize("language", [*LANGUAGES, "de-AT", "xx"])
def test_the_words_are_those_of_the_program(small: RunningServer, language: str) -> None:
    assert Client(small.url).get(f"/api/review/words?lang={language}") == words(language)


# ---------------------------------------------------------------- inside


def test_one_review_after_another_and_not_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    at_once: list[int] = []

    async def run() -> None:
        async with inside(tmp_path) as made:
            reviews, world = made.server.reviews, played(OVER, "people")
            working = 0

            async def slowly(*_: object) -> None:
                nonlocal working
                working += 1
                at_once.append(working)
                await asyncio.sleep(0.01)
                working -= 1

            monkeypatch.setattr(Reviews, "_reviewed", slowly)
            reviews.start(world.game)
            reviews.start(world.game)  # the same one
            other = World(replace(world.terms, id="another"), world.acts).game
            with pytest.raises(Refused, match="many reviews"):
                reviews.start(other)
            monkeypatch.setattr(module, "MOST_WAITING", 2)
            reviews.start(other)
            while any(reviews.state(table).state == "running" for table in (TABLE, "another")):
                await asyncio.sleep(0.01)

    asyncio.run(run())
    assert at_once == [1, 1]


def test_a_review_that_fails_can_be_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("no")

    async def run() -> None:
        async with inside(tmp_path) as made:
            world = played(OVER, "people")
            await install(made, world)
            with monkeypatch.context() as broken:
                broken.setattr(Reviews, "_reviewed", fail)
                made.server.reviews.start(world.game)
                while made.server.reviews.state(TABLE).state == "running":
                    await asyncio.sleep(0.01)
            assert made.server.reviews.state(TABLE).state == "none"

    asyncio.run(run())


def test_old_reviews_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 1)

    async def nothing(*_: object) -> None:
        return None

    monkeypatch.setattr(Reviews, "_reviewed", nothing)

    async def run() -> None:
        async with inside(tmp_path) as made:
            reviews = made.server.reviews
            for name in ("one", "two", "three"):
                world = played(OVER, "people")
                reviews.start(World(replace(world.terms, id=name), world.acts).game)
                while reviews.state(name).state == "running":
                    await asyncio.sleep(0.01)
            assert [reviews.state(name).state for name in ("one", "two", "three")] == [
                "none",
                "none",
                "ready",
            ]

    asyncio.run(run())
