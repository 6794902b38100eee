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
    """Return a finished game of two people and a bot."""
    table = ann.open("rota", ["me", "open", "random"])
    bob.join(table)
    with ann.live(table.id) as hers, bob.live(table.id) as his:
        result = play_together(hers, his)
    assert ann.view(table.id)["now"]["result"] == bob.view(table.id)["now"]["result"] == result
    return table


def own_tables(guest: Guest) -> set[str]:
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
    before, start = own_tables(ann), Barrier(2)

    def request_rematch(guest: Guest) -> str:
        start.wait(10)
        rematch: Json = guest.post(f"/api/tables/{finished.id}/rematch")
        return str(rematch["id"])

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(request_rematch, (ann, bob))
    assert first == second
    assert own_tables(ann) - before == own_tables(bob) - before == {first}


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
    messages = [replay["view"], *replay["steps"]]
    assert not any("?" in tile for message in messages for hand in message["now"]["hands"] for tile in hand)
    numbers = [message["n"] for message in messages]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert replay["steps"][-1]["now"]["result"] == ann.view(finished.id)["now"]["result"]
    placed = [tile for message in messages for tile in message["tiles"]]
    assert len(placed) == len(ann.view(finished.id)["tiles"])


def test_pictures_show_any_move_of_a_finished_game(finished: OpenedTable, ann: Guest) -> None:
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
    path = f"/api/tables/{finished.id}/rematch"
    earlier = []
    for first, second in ((ann, bob), (bob, ann), (ann, bob)):
        table = first.post(path)["id"]
        assert second.view(table)["table"]["status"] == "open"
        assert second.view(finished.id)["table"]["next"] == table
        first.post(f"/api/tables/{table}/leave")
        assert second.view(table)["table"]["status"] == "closed"
        earlier.append(table)
    assert len({*earlier, finished.id}) == 4
    last = bob.post(path)["id"]
    assert ann.post(path)["id"] == last
    assert ann.view(last)["table"]["status"] == "playing"
    assert ann.get(f"/api/tables/{finished.id}/replay")["view"]["table"]["next"] == last


def test_concurrent_requests_for_a_second_rematch_open_one_table(
    finished: OpenedTable, ann: Guest, bob: Guest
) -> None:
    path = f"/api/tables/{finished.id}/rematch"
    ann.post(f"/api/tables/{ann.post(path)['id']}/leave")
    start = Barrier(2)

    def request_rematch(guest: Guest) -> str:
        start.wait(10)
        rematch: Json = guest.post(path)
        return str(rematch["id"])

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(request_rematch, (ann, bob))
    assert first == second
    assert ann.view(first)["table"]["status"] == "playing"


@pytest.mark.parametrize("reason", ["deleted", "in quarantine"])
def test_deleted_rematch_is_replaced_by_another(tmp_path: Path, reason: str) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            scenario = play_scenario(Case("rota", 2), "people")
            await install(app, scenario)
            tokens = [app.server.people.token(Person(person_in_seat("people", seat), "")) for seat in (0, 1)]
            path = f"/api/tables/{TABLE}/rematch"
            gone = (await app.call("POST", path, tokens[0]))["id"]
            if reason == "deleted":
                await remove(app.server, gone)
                await app.server.rooms.refresh(gone)
            else:
                await app.server.store.quarantine(gone, "cannot be read")
            tables = [(await app.call("POST", path, token))["id"] for token in tokens]
            assert tables[0] == tables[1] != gone
            view = await app.call("GET", f"/api/tables/{tables[0]}", tokens[0])
            assert view["table"]["status"] == "playing"

    run(work)
