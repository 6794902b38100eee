"""Tables: opened, listed, joined, left, and played with bots and friends."""

from __future__ import annotations

import pytest

from axiogames.games import GAMES
from tests.server.driving import Client, Guest, Json, RunningServer, random_chooser


def list_tables(client: Client, which: str) -> dict[str, Json]:
    """Return the tables of a list by id."""
    return {table["id"]: table for table in client.get(f"/api/tables?which={which}")}


@pytest.mark.parametrize(
    ("game", "level"),
    [
        pytest.param(game, level, marks=[] if (number + other) % 3 == 0 else [pytest.mark.slow])
        for number, game in enumerate(GAMES)
        for other, level in enumerate(("random", "greedy", "balanced", "instant", "level1", "level5"))
    ],
)
def test_game_against_a_bot_is_played_to_the_end(sqlite_server: RunningServer, game: str, level: str) -> None:
    ann = sqlite_server.guest()
    table = ann.open(game, ["me", level])
    with ann.live(table.id) as live:
        result = live.play_to_end(random_chooser(game + level))
    assert sorted(result["place"]) in ([1, 1], [1, 2])
    view = ann.view(table.id)
    assert view["now"]["result"] == result
    assert view["now"]["phase"] == view["table"]["status"] == "over"
    assert view["moves"] is None
    assert [seat["kind"] for seat in view["seats"]] == ["person", "bot"]
    assert view["seats"][1]["level"] == level


@pytest.mark.parametrize("game", GAMES)
def test_game_can_be_played_with_moves_as_text(server: RunningServer, game: str) -> None:
    ann = server.guest()
    table = ann.open(game, ["greedy", "me", "random"])
    with ann.live(table.id) as live:
        result = live.play_to_end(random_chooser(game), by_text=True)
    assert len(result["place"]) == 3
    assert len(live.now["hands"]) == 3


def test_game_can_be_played_without_a_websocket(ann: Guest) -> None:
    table = ann.open("trio", ["me"], options={"short": True})
    choose, number = random_chooser(3), 0
    while (view := ann.view(table.id))["now"]["phase"] != "over":
        if view["moves"] is None:
            continue  # not this client's turn
        move = {"id": f"m{number}", "n": view["n"], "pick": choose(view["moves"])}
        assert ann.post(f"/api/tables/{table.id}/moves", move) == {"n": view["n"] + 1}
        number += 1
    assert number > 5
    assert view["now"]["result"]["winners"] == [0]


def test_move_for_another_persons_seat_is_refused(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    bob.join(table)
    n = ann.view(table.id)["n"]
    for guest, seat in ((ann, 1), (bob, 0), (ann, 3)):
        move = {"id": f"m{seat}", "n": n, "pick": 0, "seat": seat}
        response = guest.refused("POST", f"/api/tables/{table.id}/moves", move)
        assert (response.status, response.code) == (403, "not_allowed")
        assert str(seat) in response.detail
    assert ann.view(table.id)["n"] == n  # unchanged
    move = {"id": "mine", "n": n, "pick": 0, "seat": 0}
    assert ann.post(f"/api/tables/{table.id}/moves", move) == {"n": n + 1}


def test_bot_without_a_level_has_the_default_level(ann: Guest) -> None:
    table = ann.open("axio", ["me", {"kind": "bot"}])
    default = next(bot["level"] for bot in ann.get("/api/bots") if bot["default"])
    assert ann.view(table.id)["seats"][1]["level"] == default


def test_options_apply_to_the_whole_table(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    table = ann.open("trio", ["me", "open"], options={"children": True, "short": False})
    assert ann.view(table.id)["table"]["options"] == {"children": True}


def test_invite_link_joins_a_table(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    before = ann.view(table.id)
    assert before["now"]["phase"] == before["table"]["status"] == "open"
    assert before["table"]["invite"] == table.invite
    assert before["table"]["host"] is True
    assert before["moves"] is None
    assert bob.view(table.id)["table"]["invite"] is None  # spectators cannot invite
    refused = bob.refused("POST", f"/api/tables/{table.id}/join", {})
    assert (refused.status, refused.code) == (403, "not_allowed")
    wrong = {"invite": table.invite[:-1] + ("A" if table.invite[-1] != "A" else "B")}
    assert bob.refused("POST", f"/api/tables/{table.id}/join", wrong).code == "not_allowed"
    view = bob.join(table, name="Bobby")
    assert view["you"] == 1
    assert view["table"]["status"] == "playing"
    assert view["table"]["invite"] is None
    assert [seat["name"] for seat in view["seats"]] == ["Ann", "Bobby"]
    assert bob.join(table)["you"] == 1  # a repeated request, as after a lost response
    late = Guest(bob.url, "Late").refused("POST", f"/api/tables/{table.id}/join", {"invite": table.invite})
    assert (late.status, late.code) == (409, "seat_taken")


def test_seated_person_does_not_take_a_second_seat(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open", "open"])
    bob.join(table)
    assert bob.join(table)["yours"] == [1]
    assert bob.view(table.id)["table"]["invite"] == table.invite  # seated players can invite
    assert [seat["kind"] for seat in ann.view(table.id)["seats"]] == ["person", "person", "open"]


def test_free_seat_can_be_chosen(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open", "open", "open"])
    join = f"/api/tables/{table.id}/join"
    assert bob.refused("POST", join, {"invite": table.invite, "seat": 0}).code == "seat_taken"
    assert bob.refused("POST", join, {"invite": table.invite, "seat": 4}).status == 400
    assert bob.join(table, seat=2)["yours"] == [2]


def test_lobby_lists_waiting_public_tables(ann: Guest, bob: Guest) -> None:
    secret = ann.open("hex", ["me", "open"])
    table = ann.open("rota", ["me", "open"], public=True, move_time=60)
    lobby = list_tables(bob, "open")
    assert secret.id not in lobby
    summary = lobby[table.id]
    assert summary["seats"] == [
        {"name": "Ann", "kind": "person", "level": None, "here": False, "away": None},
        {"name": "", "kind": "open", "level": None, "here": False, "away": None},
    ]
    expected = {"game": "rota", "status": "open", "public": True, "move_time": 60, "moves": 0, "daily": None}
    assert {name: summary[name] for name in expected} == expected
    assert "invite" not in str(summary)
    bob.post(f"/api/tables/{table.id}/join", {})  # a public table needs no invite key
    assert table.id not in list_tables(bob, "open")
    assert list_tables(Client(bob.url), "live")[table.id]["status"] == "playing"
    assert secret.id not in list_tables(bob, "live")


def test_own_tables_show_whose_turn_it_is(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    assert list_tables(ann, "mine")[table.id]["your_turn"] is False
    assert list_tables(bob, "mine") == {}
    bob.join(table)
    assert list_tables(ann, "mine")[table.id]["your_turn"] is True
    assert list_tables(bob, "mine")[table.id]["your_turn"] is False
    first = ann.view(table.id)
    ann.post(f"/api/tables/{table.id}/moves", {"id": "1", "n": first["n"], "pick": 0})
    assert list_tables(ann, "mine")[table.id]["your_turn"] is False
    assert list_tables(bob, "mine")[table.id]["your_turn"] is True
    assert list_tables(bob, "mine")[table.id]["moves"] == 1
    assert list_tables(Client(ann.url), "mine") == {}


def test_unfinished_tables_come_first_in_my_list(ann: Guest) -> None:
    waiting = ann.open("axio", ["me", "open"])
    over = ann.open("rota", ["me"])
    with ann.live(over.id) as live:
        live.play_to_end()
    assert list(list_tables(ann, "mine")) == [waiting.id, over.id]


def test_only_the_host_seats_bots(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open", "open"])
    bob.join(table)
    seat = f"/api/tables/{table.id}/seats/2/bot"
    assert bob.refused("POST", seat, {"level": "greedy"}).code == "not_allowed"
    taken = ann.refused("POST", f"/api/tables/{table.id}/seats/1/bot", {"level": "greedy"})
    assert taken.code == "seat_taken"
    unknown = ann.refused("POST", seat, {"level": "genius"})
    assert unknown.status == 422
    assert "random" in unknown.detail
    view = ann.post(seat, {"level": "random"})
    assert view["table"]["status"] == "playing"
    assert view["seats"][2] == {
        "name": "random",
        "kind": "bot",
        "level": "random",
        "here": True,
        "away": None,
    }


def test_seats_are_shuffled_on_request(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    seen = set()
    for _ in range(30):
        table = ann.open("axio", ["me", "greedy", "open"], shuffle=True)
        seen.add(tuple(seat["kind"] for seat in ann.view(table.id)["seats"]))
        if len(seen) > 1:
            return
    pytest.fail("thirty tables have the same order of seats")


def test_leaving_before_the_start_frees_the_seat(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open", "open"])
    bob.join(table)
    view = bob.post(f"/api/tables/{table.id}/leave")
    assert view["yours"] == []
    assert view["seats"][1] == {"name": "", "kind": "open", "level": None, "here": False, "away": None}
    assert list_tables(bob, "mine") == {}
    assert bob.refused("POST", f"/api/tables/{table.id}/leave").code == "not_allowed"
    bob.join(table)


def test_host_without_a_seat_can_leave(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["open", "open"])
    bob.join(table)
    assert ann.post(f"/api/tables/{table.id}/leave")["table"]["status"] == "open"
    assert Guest(ann.url, "Cid").join(table)["table"]["status"] == "playing"


def test_bot_plays_for_a_person_who_left_until_they_return(ann: Guest, bob: Guest) -> None:
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as live:
        live.recv()
        view = bob.post(f"/api/tables/{table.id}/leave")
        assert view["seats"][1]["kind"] == "bot"
        assert view["seats"][1]["away"] == "Bob"
        assert bob.post(f"/api/tables/{table.id}/leave") == view  # idempotent
        message = live.until("view")
        assert message["seats"][1]["away"] == "Bob"
        live.play(0)
        live.wait_for_turn()  # the bot has moved
        return_path = f"/api/tables/{table.id}/seats/1/return"
        assert ann.refused("POST", return_path).code == "not_allowed"
        assert ann.refused("POST", f"/api/tables/{table.id}/seats/0/return").code == "not_allowed"
        view = bob.post(return_path)
        assert (view["seats"][1]["kind"], view["seats"][1]["away"]) == ("person", None)
        assert bob.refused("POST", return_path).code == "not_allowed"
        live.until("view")
        assert live.play(0)["now"]["turn"] == 1
    assert list_tables(bob, "mine")[table.id]["your_turn"] is True


def test_no_bot_replaces_a_person_who_has_just_arrived(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    bob.join(table)
    refused = ann.refused("POST", f"/api/tables/{table.id}/seats/1/bot", {"level": "greedy"})
    assert (refused.status, refused.code) == (403, "not_allowed")
    assert "two minutes" in refused.detail


@pytest.mark.parametrize("seats", [["me", "greedy"], ["me", "open"], ["me"]])
def test_table_left_by_everybody_is_closed(ann: Guest, seats: list[str]) -> None:
    table = ann.open("axio", seats)
    with ann.live(table.id) as live:
        live.recv()
        view = ann.post(f"/api/tables/{table.id}/leave")
        assert view["table"]["status"] == view["now"]["phase"] == "closed"
        message = live.until(
            lambda message: message["type"] == "view" and message["now"]["phase"] == "closed"
        )
        assert message["moves"] is None
        live.command("move", pick=0)
        assert live.until("refused")["code"] == "game_over"
    assert table.id not in list_tables(ann, "open")
    for path in ("record", "replay"):
        assert ann.refused("GET", f"/api/tables/{table.id}/{path}").code == "not_yet"
    assert ann.refused("POST", f"/api/tables/{table.id}/rematch").code == "not_yet"
