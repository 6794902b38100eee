"""Reviews of finished games: computed once in the background, for everybody who may see the replay."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy import insert

from axiogames.analysis.review.remarks import review_texts
from axiogames.games import GAMES, LANGUAGES
from axiogames.players import Budget
from axiogames.server.domain import reviews as reviews_module
from axiogames.server.domain.entries import encode_entry
from axiogames.server.domain.game_state import GameState, now
from axiogames.server.domain.refusals import Refused, Unavailable
from axiogames.server.domain.reviews import Reviews
from axiogames.server.storage.reviews import ReviewStore
from axiogames.server.storage.schema import entries, seats, tables
from axiogames.server.transport.rate_limits import REVIEWS
from axiogames.server.work_pools import Busy
from tests.games.conformance.positions import Case
from tests.server.driving import Client, Guest, Json, RunningServer
from tests.server.in_process import App, running_app
from tests.server.live import TIMEOUT
from tests.server.rooms import run, until
from tests.server.scenarios import TABLE, Scenario, install, play_scenario

CASE = Case("rota", 2)


def finish(ann: Guest, game: str, seats: list[str]) -> str:
    """Play a game and return the id of its table."""
    table = ann.open(game, seats)
    with ann.live(table.id) as live:
        live.play_to_end()
    return table.id


def wait_for_review(ann: Client, table: str) -> Json:
    """Wait for the review and return it."""
    deadline = time.monotonic() + 4 * TIMEOUT
    while time.monotonic() < deadline:
        state = ann.get(f"/api/tables/{table}/review")
        assert 0 <= state["done"] <= state["total"]
        if state["state"] == "ready":
            review: Json = state["review"]
            return review
        assert state["state"] == "running"
        time.sleep(0.2)
    raise AssertionError(f"there is no review of {table} after {4 * TIMEOUT:.0f} s")


def test_review_is_available_to_everybody_who_may_see_the_replay(sqlite_server: RunningServer) -> None:
    ann, bob = sqlite_server.guest("Ann"), sqlite_server.guest("Bob")
    table = finish(ann, GAMES[2], ["me", "greedy"])
    path = f"/api/tables/{table}/review"
    assert bob.get(path) == {"state": "none", "done": 0, "total": 0, "review": None}
    started = ann.post(path)
    assert started["state"] == "running"
    assert bob.post(path)["state"] in ("running", "ready")
    review = wait_for_review(bob, table)
    assert ann.post(path)["review"] == review
    steps = len(ann.get(f"/api/tables/{table}/replay")["steps"])
    assert [move["ply"] for move in review["moves"]] == list(range(1, len(review["moves"]) + 1))
    for move in review["moves"]:
        assert 0 <= move["at"] <= steps
        assert move["remark"]["key"] in review_texts("en")
        for candidate in move["candidates"]:
            assert candidate["tile"] is None or candidate["tile"]["tile"] in candidate["move"]
    for seat in review["seats"]:
        account = seat["account"]
        total = account["start"] + account["luck"] + account["choices"] + account["others"]
        assert total == pytest.approx(account["result"])
        assert seat["line"][-1][0] <= steps


def test_solo_game_can_be_reviewed(server: RunningServer) -> None:
    ann = server.guest("Ann")
    table = finish(ann, GAMES[2], ["me"])
    ann.post(f"/api/tables/{table}/review")
    review = wait_for_review(ann, table)
    assert review["terms"]["kind"] == "lowest"
    assert len(review["seats"]) == 1


def test_review_matches_the_schema(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest("Ann")
    table = finish(ann, GAMES[2], ["me", "random"])
    ann.post(f"/api/tables/{table}/review")
    wait_for_review(ann, table)
    schema = ann.get("/schema/openapi.json")
    validator = Draft202012Validator({"$ref": "#/components/schemas/ReviewState", **schema})
    assert [error.message for error in validator.iter_errors(ann.get(f"/api/tables/{table}/review"))] == []


def test_review_of_an_unfinished_game_is_refused(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest("Ann")
    table = ann.open(GAMES[0], ["me", "greedy"])
    for method in ("GET", "POST"):
        assert ann.refused(method, f"/api/tables/{table.id}/review").code == "not_yet"
        assert ann.refused(method, "/api/tables/nothing/review").code == "no_such_table"


def test_unauthenticated_review_request_is_refused(sqlite_server: RunningServer) -> None:
    table = finish(sqlite_server.guest("Ann"), GAMES[2], ["me", "random"])
    nobody = Client(sqlite_server.url)
    assert nobody.refused("POST", f"/api/tables/{table}/review").code == "unknown_person"
    assert nobody.get(f"/api/tables/{table}/review")["state"] == "none"


@pytest.mark.parametrize("language", [*LANGUAGES, "de-AT", "xx"])
def test_texts_of_the_page_match_those_of_the_program(sqlite_server: RunningServer, language: str) -> None:
    assert Client(sqlite_server.url).get(f"/api/review/words?lang={language}") == review_texts(language)


# ---------------------------------------------------------------- in this process


class FakeReviews:
    """Replaces the computation of reviews by one that ends at once, or when `go` is set if it was cleared."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.order: list[str] = []
        self.go = asyncio.Event()
        self.go.set()
        self.error: Exception | None = None
        monkeypatch.setattr(Reviews, "_review", self._reviewed)

    async def _reviewed(self, table_id: str, claim: Any) -> Json:
        self.order.append(table_id)
        await self.go.wait()
        if self.error:
            raise self.error
        await claim.hold(1)
        return {"of": table_id}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> FakeReviews:
    return FakeReviews(monkeypatch)


async def insert_games(app: App, *names: str) -> dict[str, GameState]:
    """Insert finished games of `person-0` and `person-1` and return their states."""
    scenario = play_scenario(CASE, "people")
    await install(app, scenario)
    states = {}
    for name in names:
        other = Scenario(replace(scenario.config, id=name), scenario.log)
        row = {**other.game.row(), "id": name}
        async with app.server.database.writing() as connection:
            await connection.execute(insert(tables), [row])
            seat_rows = [
                {**seat.row(number), "table_id": name} for number, seat in enumerate(other.game.seats)
            ]
            await connection.execute(insert(seats), seat_rows)
            entry_rows = [
                {"table_id": name, "number": number, "at": number, "body": encode_entry(entry)}
                for number, entry in enumerate(scenario.log, 1)
            ]
            await connection.execute(insert(entries), entry_rows)
        states[name] = other.game
    return states


async def state(reviews: Reviews, table: str) -> str:
    name: str = json.loads(await reviews.find(table))["state"]
    return name


def with_server(tmp_path: Path, work: Callable[[App], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with running_app(tmp_path) as app:
            await work(app)

    run(main)


def another_process(app: App) -> Reviews:
    return Reviews(app.server.bots, ReviewStore(app.server.database), app.server.rooms.get)


def test_players_come_first_and_networks_and_people_take_turns(tmp_path: Path, quick: FakeReviews) -> None:
    async def work(app: App) -> None:
        names = [f"stranger{number}" for number in range(4)] + ["hers", "his", "another"]
        finished, reviews = await insert_games(app, *names), app.server.reviews
        for number in range(4):
            app.server.bots.requesters.note(f"guest{number}", "crowd")
            await reviews.request(finished[f"stranger{number}"], f"guest{number}")
        await reviews.request(finished["another"], "spectator")
        await reviews.request(finished["hers"], "person-0")
        await reviews.request(finished["his"], "person-1")
        while await reviews.compute_next():
            pass
        assert quick.order[:2] == ["hers", "his"]
        assert quick.order[2:] == ["stranger0", "another", "stranger1", "stranger2", "stranger3"]

    with_server(tmp_path, work)


def test_no_person_can_fill_the_queue(
    tmp_path: Path, quick: FakeReviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews_module, "MAX_PENDING", 8)
    monkeypatch.setattr(reviews_module, "MAX_PENDING_OF_SPECTATORS", 6)

    async def work(app: App) -> None:
        names = [f"game{number}" for number in range(12)] + ["hers", "his", "more"]
        finished, reviews = await insert_games(app, *names), app.server.reviews

        async def refused(table: str, person: str) -> str:
            with pytest.raises(Refused) as error:
                await reviews.request(finished[table], person)
            return error.value.code

        for number in range(2):
            await reviews.request(finished[f"game{number}"], "mallory")
        assert await refused("game2", "mallory") == "too_fast"
        await reviews.request(finished["game0"], "mallory")  # it is pending already
        for number in range(9):
            app.server.bots.requesters.note(f"guest{number}", "crowd")
        for number in range(2, 6):
            await reviews.request(finished[f"game{number}"], f"guest{number}")
        assert await refused("game6", "spectator") == "busy"  # the limit for spectators
        await reviews.request(finished["hers"], "person-0")
        app.server.bots.requesters.note("person-1", "crowd")
        # Requests of spectators in the same network do not count for players.
        await reviews.request(finished["his"], "person-1")
        await reviews.request(finished["more"], "person-0")
        assert await refused("game6", "person-0") == "too_fast"
        while await reviews.compute_next():
            pass
        assert quick.order[:3] == ["hers", "his", "more"]
        await reviews.request(finished["game6"], "person-0")

    with_server(tmp_path, work)


def test_pending_reviews_per_network_are_limited(tmp_path: Path, quick: FakeReviews) -> None:
    async def work(app: App) -> None:
        names = [f"game{number}" for number in range(reviews_module.MAX_PER_NETWORK + 2)]
        finished, reviews = await insert_games(app, *names), app.server.reviews
        for number in range(reviews_module.MAX_PER_NETWORK + 1):
            app.server.bots.requesters.note(f"guest{number}", "crowd")
        for number in range(reviews_module.MAX_PER_NETWORK):
            await reviews.request(finished[f"game{number}"], f"guest{number}")
        with pytest.raises(Busy):
            await reviews.request(finished[names[-2]], f"guest{reviews_module.MAX_PER_NETWORK}")
        await reviews.request(finished[names[-1]], "elsewhere")

    with_server(tmp_path, work)


def test_processes_share_reviews_and_give_the_same_answers(tmp_path: Path, quick: FakeReviews) -> None:
    async def work(app: App) -> None:
        finished, first = await insert_games(app, "one", "two"), app.server.reviews
        second = another_process(app)
        quick.go.clear()
        await first.request(finished["one"], "person-0")
        await second.request(finished["one"], "person-1")
        first_computation = asyncio.create_task(first.compute_next())
        await until(lambda: quick.order == ["one"])
        assert not await second.compute_next()  # another process computes it
        await second.request(finished["two"], "person-1")
        second_computation = asyncio.create_task(second.compute_next())
        await until(lambda: quick.order == ["one", "two"])
        for reviews in (first, second):
            assert [await state(reviews, name) for name in finished] == ["running", "running"]
        quick.go.set()
        assert await first_computation
        assert await second_computation
        for reviews in (first, second):
            answer = json.loads(await reviews.find("one"))
            assert (answer["state"], answer["review"]) == ("ready", {"of": "one"})
            assert answer["done"] == answer["total"] == finished["one"].table.plies  # type: ignore[union-attr]

    with_server(tmp_path, work)


def test_expired_claim_is_taken_over_by_another_process(
    tmp_path: Path, quick: FakeReviews, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(app: App) -> None:
        finished, first = await insert_games(app, "one"), app.server.reviews
        second, clock = another_process(app), now()
        monkeypatch.setattr(reviews_module, "now", lambda: clock)
        quick.go.clear()
        await first.request(finished["one"], "person-0")
        stuck = asyncio.create_task(first.compute_next())
        await until(lambda: quick.order == ["one"])
        clock += reviews_module.CLAIM_LIFETIME
        assert not await second.compute_next()
        clock += 1
        taken = asyncio.create_task(second.compute_next())
        await until(lambda: quick.order == ["one", "one"])
        quick.go.set()
        assert await stuck
        assert await taken
        assert await state(second, "one") == "ready"

    with_server(tmp_path, work)
    assert "another process has taken over the review" in caplog.text


def test_pending_reviews_survive_a_restart(tmp_path: Path, quick: FakeReviews) -> None:
    async def work(app: App) -> None:
        finished, reviews = await insert_games(app, "one", "two"), app.server.reviews
        quick.go.clear()
        for name in finished:
            await reviews.request(finished[name], "person-0")
        first_run = asyncio.create_task(reviews.run(single_process=True))
        await until(lambda: quick.order == ["one"])
        first_run.cancel()
        await asyncio.gather(first_run, return_exceptions=True)
        # The claim has been released. Restore it, as if the process had been killed:
        assert await ReviewStore(app.server.database).claim(
            "two", now(), now() + reviews_module.CLAIM_LIFETIME
        )
        quick.go.set()
        second_run = asyncio.create_task(another_process(app).run(single_process=True))
        async with asyncio.timeout(TIMEOUT):
            while {await state(reviews, name) for name in finished} != {"ready"}:
                await asyncio.sleep(0.01)
        second_run.cancel()
        await asyncio.gather(second_run, return_exceptions=True)
        assert sorted(quick.order) == ["one", "one", "two"]

    with_server(tmp_path, work)


def test_failed_review_can_be_requested_again(
    tmp_path: Path, quick: FakeReviews, caplog: pytest.LogCaptureFixture
) -> None:
    async def work(app: App) -> None:
        finished, reviews = await insert_games(app, "one"), app.server.reviews
        quick.error = RuntimeError("no")
        await reviews.request(finished["one"], "person-0")
        assert await reviews.compute_next()
        assert await state(reviews, "one") == "none"
        quick.error = None
        await reviews.request(finished["one"], "person-0")
        assert await reviews.compute_next()
        assert await state(reviews, "one") == "ready"

    with_server(tmp_path, work)
    assert "the game at table one could not be reviewed" in caplog.text


def test_review_waits_for_the_database(tmp_path: Path, quick: FakeReviews) -> None:
    async def work(app: App) -> None:
        finished, reviews = await insert_games(app, "one"), app.server.reviews
        quick.error = Unavailable()
        await reviews.request(finished["one"], "person-0")
        with pytest.raises(Unavailable):
            await reviews.compute_next()
        assert await state(reviews, "one") == "running"

    with_server(tmp_path, work)


def test_old_reviews_are_dropped_and_pending_ones_kept(
    tmp_path: Path, quick: FakeReviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews_module, "MAX_REVIEWS", 1)

    async def work(app: App) -> None:
        finished, reviews = await insert_games(app, "one", "two", "three"), app.server.reviews
        clock = 0
        monkeypatch.setattr(reviews_module, "now", lambda: clock)
        for name in finished:
            clock += 1
            await reviews.request(finished[name], "person-0")
            if name != "three":
                assert await reviews.compute_next()
        assert [await state(reviews, name) for name in finished] == ["none", "ready", "running"]

    with_server(tmp_path, work)


def test_review_continues_when_the_queue_has_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews_module, "RETRY_SECONDS", 0.0)
    attempts = 0

    async def work(app: App) -> None:
        bots = app.server.bots
        original = bots.run_in_background

        async def full_every_other_time(*args: Any) -> Any:
            nonlocal attempts
            attempts += 1
            if attempts % 2:
                raise Busy
            return await original(*args)

        monkeypatch.setattr(bots, "run_in_background", full_every_other_time)
        monkeypatch.setattr(bots, "review_budget", Budget(rollouts=40))
        await install(app, play_scenario(CASE, "people"))
        room = await app.server.rooms.get(TABLE)
        await app.server.reviews.request(room.game, "person-0")
        assert await app.server.reviews.compute_next()
        answer = json.loads(await app.server.reviews.find(TABLE))
        assert answer["state"] == "ready"
        assert len(answer["review"]["moves"]) == answer["total"]

    with_server(tmp_path, work)
    assert attempts > 4


def test_review_requests_are_rate_limited(tmp_path: Path, quick: FakeReviews) -> None:
    async def work(app: App) -> None:
        await insert_games(app, "one", "two")
        ann = await app.guest("Ann")
        app.server.limits.active = True
        first = await app.request("POST", "/api/tables/one/review", ann.token)
        assert (first.status, first.json["state"]) == (202, "running")
        while app.server.limits.allow(REVIEWS, ann.id):
            pass
        again = await app.request("POST", "/api/tables/one/review", ann.token)
        assert (again.status, again.json["state"]) == (202, "running")  # a repeated request is not charged
        other = await app.request("POST", "/api/tables/two/review", ann.token)
        assert (other.status, other.json["code"]) == (429, "too_fast")

    with_server(tmp_path, work)
