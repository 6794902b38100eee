"""Games between people, their rematches, replays and pictures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from axiogames.server.identity.people import Person
from tests.games.conformance.positions import Case
from tests.server.driving import Guest, Json, OpenedTable, RunningServer, play_together
from tests.server.in_process import running_app
from tests.server.rooms import run
from tests.server.scenarios import TABLE, install, person_in_seat, play_scenario
from tests.server.test_deleted_tables import remove


@pytest.fixture
def finished(ann: Guest, bob: Guest) -> OpenedTable:
    """A game of two people and a bot that is over."""
    table = ann.open("rota", ["me", "open", "random"])
    bob.join(table)
    with ann.live(table.id) as hers, bob.live(table.id) as his:
        result = play_together(hers, his)
    assert ann.view(table.id)["now"]["result"] == bob.view(table.id)["now"]["result"] == result
    return table


def mine(guest: Guest) -> set[str]:
    return {table["id"] for table in guest.get("/api/tables?which=mine")}


def test_rematch_rotates_the_seats_and_is_the_same_for_all(
    finished: OpenedTable, ann: Guest, bob: Guest
) -> None:
    with bob.live(finished.id) as watching:
        watching.recv()
        first = ann.post(f"/api/tables/{finished.id}/rematch")["id"]
        assert watching.until("view")["table"]["next"] == first
    waiting = bob.view(first)
    assert [seat["name"] for seat in waiting["seats"]] == ["Bob", "random", "Ann"]
    assert ["invited" in seat for seat in waiting["seats"]] == [True, False, False]
    assert waiting["table"]["status"] == "open"
    assert bob.post(f"/api/tables/{finished.id}/rematch")["id"] == first
    assert bob.view(finished.id)["table"]["next"] == first
    view = bob.view(first)
    assert [seat["name"] for seat in view["seats"]] == ["Bob", "random", "Ann"]
    assert not any("invited" in seat for seat in view["seats"])
    assert view["table"]["status"] == "playing"
    assert view["table"]["commitment"] != bob.view(finished.id)["table"]["commitment"]
    assert view["you"] == 0
    assert view["moves"] is not None


def test_concurrent_rematch_requests_open_one_table(finished: OpenedTable, ann: Guest, bob: Guest) -> None:
    before, start = mine(ann), Barrier(2)

    def ask(guest: Guest) -> str:
        start.wait(10)
        made: Json = guest.post(f"/api/tables/{finished.id}/rematch")
        return str(made["id"])

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, (ann, bob))
    assert first == second
    assert mine(ann) - before == mine(bob) - before == {first}


def test_only_players_can_request_a_rematch(finished: OpenedTable, server: RunningServer) -> None:
    refused = server.guest("Eve").refused("POST", f"/api/tables/{finished.id}/rematch")
    assert refused.code == "not_allowed"


def test_there_is_no_rematch_before_the_end(ann: Guest) -> None:
    table = ann.open("axio", ["me", "greedy"])
    assert ann.refused("POST", f"/api/tables/{table.id}/rematch").code == "not_yet"


def test_replay_shows_all_hands(finished: OpenedTable, ann: Guest, server: RunningServer) -> None:
    replay = server.guest("Eve").get(f"/api/tables/{finished.id}/replay")
    assert replay["view"]["table"]["status"] == "over"
    assert replay["view"]["moves"] is None
    everything = [replay["view"], *replay["steps"]]
    assert not any("?" in tile for told in everything for hand in told["now"]["hands"] for tile in hand)
    numbers = [told["n"] for told in everything]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert replay["steps"][-1]["now"]["result"] == ann.view(finished.id)["now"]["result"]
    placed = [tile for told in everything for tile in told["tiles"]]
    assert len(placed) == len(ann.view(finished.id)["tiles"])


def test_pictures_exist_after_every_move_of_a_finished_game(finished: OpenedTable, ann: Guest) -> None:
    picture = f"/api/tables/{finished.id}/picture"
    last = ann.request("GET", f"{picture}.svg")
    assert last.headers["content-type"].startswith("image/svg+xml")
    early, late = (ann.request("GET", f"{picture}.svg?move={move}").text for move in (1, 9))
    assert early != late != last.text
    assert len(early) < len(late)
    assert ann.request("GET", f"{picture}.svg?dark=true").text != last.text
    assert ann.request("GET", f"{picture}.png").body.startswith(b"\x89PNG")
    assert ann.refused("GET", f"{picture}.svg?move=-1").status == 400


def test_rematch_starts_without_people_who_decline(finished: OpenedTable, ann: Guest, bob: Guest) -> None:
    table = ann.post(f"/api/tables/{finished.id}/rematch")["id"]
    assert bob.post(f"/api/tables/{table}/leave")["seats"][0]["kind"] == "open"
    ann.post(f"/api/tables/{table}/seats/0/bot", {"level": "random"})
    with ann.live(table) as live:
        result = live.play_to_end()
    assert len(result["place"]) == 3


def test_abandoned_rematch_is_replaced_by_another(finished: OpenedTable, ann: Guest, bob: Guest) -> None:
    asked = f"/api/tables/{finished.id}/rematch"
    tried = []
    for first, second in ((ann, bob), (bob, ann), (ann, bob)):
        table = first.post(asked)["id"]
        assert second.view(table)["table"]["status"] == "open"
        assert second.view(finished.id)["table"]["next"] == table
        first.post(f"/api/tables/{table}/leave")
        assert second.view(table)["table"]["status"] == "closed"
        tried.append(table)
    assert len({*tried, finished.id}) == 4
    last = bob.post(asked)["id"]
    assert ann.post(asked)["id"] == last
    assert ann.view(last)["table"]["status"] == "playing"
    assert ann.get(f"/api/tables/{finished.id}/replay")["view"]["table"]["next"] == last


def test_concurrent_requests_for_a_second_rematch_open_one_table(
    finished: OpenedTable, ann: Guest, bob: Guest
) -> None:
    asked = f"/api/tables/{finished.id}/rematch"
    ann.post(f"/api/tables/{ann.post(asked)['id']}/leave")
    start = Barrier(2)

    def ask(guest: Guest) -> str:
        start.wait(10)
        made: Json = guest.post(asked)
        return str(made["id"])

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(ask, (ann, bob))
    assert first == second
    assert ann.view(first)["table"]["status"] == "playing"


@pytest.mark.parametrize("how", ["deleted", "in quarantine"])
def test_deleted_rematch_is_replaced_by_another(tmp_path: Path, how: str) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            world = play_scenario(Case("rota", 2), "people")
            await install(app, world)
            tokens = [app.server.people.token(Person(person_in_seat("people", seat), "")) for seat in (0, 1)]
            asked = f"/api/tables/{TABLE}/rematch"
            gone = (await app.call("POST", asked, tokens[0]))["id"]
            if how == "deleted":
                await remove(app.server, gone)
                await app.server.rooms.refresh(gone)
            else:
                await app.server.store.quarantine(gone, "cannot be read")
            found = [(await app.call("POST", asked, token))["id"] for token in tokens]
            assert found[0] == found[1] != gone
            view = await app.call("GET", f"/api/tables/{found[0]}", tokens[0])
            assert view["table"]["status"] == "playing"

    run(work)
