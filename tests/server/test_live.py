"""WebSocket of a table: entry numbers, acknowledgements, reconnection and misbehaving clients."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.driving import Client, Guest, Json, LiveSocket, RunningServer, play_together

NO_SUCH_TABLE = 4404


@pytest.fixture
def table(ann: Guest, bob: Guest) -> str:
    """Id of a game of two people in which the first placements earn no extra turns."""
    opened = ann.open("rota", ["me", "open"])
    bob.join(opened)
    return opened.id


def entry_numbers(live: LiveSocket) -> list[int]:
    return [message["n"] for message in live.received if message["type"] in ("view", "step")]


def test_entry_numbers_have_no_gaps_for_any_viewer(ann: Guest, bob: Guest, table: str) -> None:
    with ann.live(table) as hers, bob.live(table) as his, Client(ann.url).live(table) as watching:
        watching.recv()
        first = watching.n
        play_together(hers, his)
        for live in (his, watching):
            while live.n < hers.n:
                live.recv()
        for live in (hers, his, watching):
            assert entry_numbers(live) == list(range(first, hers.n + 1))
        assert hers.now["result"] == his.now["result"] == watching.now["result"]


def test_entry_numbers_start_at_1(ann: Guest, bob: Guest) -> None:
    opened = ann.open("axio", ["me", "open"])
    assert ann.view(opened.id)["n"] == 1  # Ann took her seat
    with ann.live(opened.id) as live:
        live.recv()
        assert bob.join(opened)["n"] == 3  # Bob took his, and the game started
        while live.n < 3:
            assert live.recv()["type"] in ("view", "seats")


@pytest.mark.parametrize("hold", [False, True])
def test_repeated_move_is_acknowledged_and_not_played_twice(
    ann: Guest, bob: Guest, table: str, hold: bool
) -> None:
    with ann.live(table) as live, bob.live(table) as his:
        number = live.recv()["n"]
        his.recv()
        command = {"do": "move", "id": "once", "n": number, "pick": 0, "hold": hold}
        for _ in range(3):
            live.send(command)
            acked = live.until(lambda message: message.get("ack") == "once")
            assert acked["n"] == number + 1
        his.until("step")
        his.send({"do": "ping"})
        assert his.until("pong")
        assert his.n == number + 1
    assert ann.view(table)["n"] == number + 1
    with ann.live(table) as again:  # also after a reconnection, and over HTTP
        again.recv()
        again.send(command)
        assert again.until(lambda message: message.get("ack") == "once")["n"] == number + 1
    del command["do"]
    assert ann.post(f"/api/tables/{table}/moves", command) == {"n": number + 1}


@pytest.mark.parametrize("do", ["draw", "back"])
def test_repeated_draw_or_take_back_is_acknowledged(ann: Guest, table: str, do: str) -> None:
    with ann.live(table) as live:
        live.recv()
        number = live.play(0, hold=True)["n"]
        for _ in range(2):
            live.send({"do": do, "id": "once", "n": number})
            assert live.until(lambda message: message.get("ack") == "once")["n"] == number + 1
    assert ann.view(table)["n"] == number + 1


def test_same_message_id_from_two_seats_is_two_messages(ann: Guest, bob: Guest, table: str) -> None:
    with ann.live(table) as live, bob.live(table) as his:
        number = live.recv()["n"]
        his.recv()
        live.send({"do": "move", "id": "same", "n": number, "pick": 0})
        while his.moves is None:
            his.recv()
        his.send({"do": "move", "id": "same", "n": his.n, "pick": 0})
        assert his.until(lambda message: message.get("ack") == "same")["n"] > number + 1


@pytest.mark.parametrize("do", ["move", "draw", "back"])
@pytest.mark.parametrize("offset", [-1, 1, 1000])
def test_command_with_a_wrong_number_changes_nothing(
    sqlite_server: RunningServer, do: str, offset: int
) -> None:
    ann = sqlite_server.guest()
    opened = ann.open("axio", ["me", "greedy"])
    with ann.live(opened.id) as live:
        view = live.recv()
        live.send({"do": do, "id": "old", "n": view["n"] + offset, "pick": 0})
        refused = live.until("refused")
        assert (refused["id"], refused["code"]) == ("old", "stale")
        assert refused["view"] == view
    assert ann.view(opened.id)["n"] == view["n"]
    move = {"id": "old", "n": view["n"] + offset, "pick": 0}
    answer = ann.refused("POST", f"/api/tables/{opened.id}/moves", move)
    assert (answer.status, answer.code) == (409, "stale")


def test_reconnecting_client_receives_exactly_the_missed_steps(ann: Guest, bob: Guest, table: str) -> None:
    with ann.live(table) as hers, bob.live(table) as his, bob.live(table) as his_phone:
        for live in (hers, his, his_phone):
            live.recv()
        first, later = his.n, his.n + 3
        for _ in range(4):
            for live in (hers, his):
                while live.moves is None:
                    live.recv()
                live.play(0)
        while his_phone.n < his.n:
            his_phone.recv()
        live_steps = {message["n"]: message for message in his_phone.received if message["type"] == "step"}
    for after in (first, later, max(live_steps) - 1):
        with bob.live(table, after) as reconnected:
            missed = [reconnected.recv() for _ in range(max(live_steps) - after)]
            assert missed == [live_steps[n] for n in range(after + 1, max(live_steps) + 1)]
            assert reconnected.recv()["type"] == "seats"
    with bob.live(table, max(live_steps)) as reconnected:
        assert reconnected.recv()["type"] == "seats"
        reconnected.send({"do": "ping"})
        assert reconnected.recv() == {"type": "pong"}


def test_reconnecting_client_receives_a_view_if_steps_do_not_suffice(ann: Guest, table: str) -> None:
    with ann.live(table) as live:
        start = live.recv()["n"]
        live.play(0, hold=True)
        live.command("back")
        live.until("view")
    for after in (start, start + 1):
        with ann.live(table, after) as reconnected:
            assert reconnected.recv()["type"] == "view"


@pytest.mark.parametrize("after", ["0", "-1", "x", "", "99999999999999999999", "1.5", "%00"])
def test_reconnecting_with_an_invalid_number_brings_a_view(sqlite_server: RunningServer, after: Any) -> None:
    ann = sqlite_server.guest()
    with ann.live(ann.open("axio", ["me", "greedy"]).id, after) as live:
        assert live.recv()["type"] == "view"


def test_reconnecting_after_many_entries_brings_a_view(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    opened = ann.open("trio", ["me"])
    with ann.live(opened.id) as live:
        live.play_to_end()
        assert live.n > 40
    with ann.live(opened.id, 3) as reconnected:
        assert reconnected.recv()["n"] == live.n


def test_two_sockets_of_one_person_receive_the_same_messages(ann: Guest, table: str) -> None:
    with ann.live(table) as laptop, ann.live(table) as phone:
        assert laptop.recv() == phone.recv()
        step = laptop.play(0)
        other = phone.until("step")
        assert step["ack"] is not None
        assert other == {**step, "ack": None}
        assert phone.now["hands"][0].count("?") == 0


def test_presence_is_broadcast(ann: Guest, bob: Guest, table: str) -> None:
    with ann.live(table) as hers:
        assert [seat["here"] for seat in hers.recv()["seats"]] == [True, False]
        his, phone = bob.live(table), bob.live(table)
        assert [seat["here"] for seat in hers.until("seats")["seats"]] == [True, True]
        his.close()
        with Client(ann.url).live(table) as watching:  # spectators are not announced
            watching.recv()
        phone.close()
        message = hers.until("seats")
        assert [seat["here"] for seat in message["seats"]] == [True, False]
        assert sum(message["type"] == "seats" for message in hers.received) == 2


BAD: list[tuple[str | bytes, str]] = [
    ("", "bad_message"),
    ("{", "bad_message"),
    ("null", "bad_message"),
    ("[]", "bad_message"),
    ('"move"', "bad_message"),
    ("{}", "bad_message"),
    ('{"do": "dance"}', "bad_message"),
    ('{"do": 7}', "bad_message"),
    ('{"do": "move"}', "bad_message"),
    ('{"do": "move", "pick": 0}', "bad_message"),
    ('{"do": "draw"}', "bad_message"),
    ('{"do": "back"}', "bad_message"),
    ('{"do": "move", "n": "3", "pick": 0}', "bad_message"),
    ('{"do": "move", "n": 3}', "bad_message"),
    ('{"do": "move", "n": 3, "pick": 1.5}', "bad_message"),
    ('{"do": "move", "n": 3, "pick": -1}', "no_such_offer"),
    ('{"do": "move", "n": 3, "pick": 999999}', "no_such_offer"),
    ('{"do": "move", "n": 3, "pick": 99999999999999999999999}', "no_such_offer"),
    ('{"do": "move", "n": 3, "move": "castle"}', "bad_message"),
    ('{"do": "move", "n": 3, "move": ""}', "bad_message"),
    ('{"do": "move", "n": 3, "move": "RR a1-z9"}', "illegal_move"),
    ('{"do": "move", "n": 3, "move": "pass"}', "illegal_move"),
    ('{"do": "move", "n": 3, "pick": 0, "id": "' + "x" * 41 + '"}', "bad_message"),
    ('{"do": "look", "seat": 9}', "not_allowed"),
    ('{"do": "look", "seat": -1}', "not_allowed"),
    ('{"do": "ping", "x": "' + "x" * 3000 + '"}', "bad_message"),
    (b'{"do": "ping"}', "bad_message"),
    (b"\xff\xfe\x00", "bad_message"),
    ("[" * 1900, "bad_message"),
    ('{"do": "ping", "x": ' + "[" * 1900, "bad_message"),
]  # fmt: skip


def test_invalid_message_is_refused_and_the_game_continues(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    opened = ann.open("axio", ["me", "greedy"])
    with ann.live(opened.id) as live:
        view = live.recv()
        assert view["n"] == 3
        for text, code in BAD:
            live.socket.send(text)
            refused = live.recv()
            assert (refused["type"], refused["code"]) == ("refused", code), (text[:60], refused)
            assert refused["detail"].strip()
            assert refused["view"] is None
        assert live.play(0)["n"] == 4


def test_200_commands_sent_at_once_are_all_answered(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    with ann.live(ann.open("axio", ["me", "greedy"]).id) as live:
        live.recv()
        for number in range(200):  # every hand has at least 40 first moves, most have hundreds
            live.send({"do": "preview", "id": str(number), "n": live.n, "pick": number % 40})
        assert [live.until("preview")["id"] for _ in range(200)] == [str(number) for number in range(200)]


def test_unknown_fields_are_ignored(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    with ann.live(ann.open("axio", ["me", "greedy"]).id) as live:
        live.recv()
        live.send({"do": "ping", "from": "the future"})
        assert live.recv() == {"type": "pong"}


def test_huge_message_closes_only_its_own_connection(ann: Guest, bob: Guest, table: str) -> None:
    with ann.live(table) as hers, bob.live(table) as his:
        hers.recv()
        his.recv()
        his.socket.send("x" * 100_000)
        assert his.close_code() == 1009
        hers.play(0)


def test_socket_of_an_unknown_table_is_closed(ann: Guest) -> None:
    for name in ("nothing", "x" * 200, "%00", "%C3%A4", "%ff"):
        with ann.live(name) as live:
            assert live.close_code() == NO_SUCH_TABLE


@pytest.mark.parametrize("move", ["pick", "text"])
def test_moves_before_the_start_and_after_the_end_have_their_own_codes(
    sqlite_server: RunningServer, move: str
) -> None:
    ann = sqlite_server.guest()
    command: Json = {"pick": 0} if move == "pick" else {"move": "pass"}
    with ann.live(ann.open("axio", ["me", "open"]).id) as live:
        live.recv()
        live.command("move", **command)
        assert live.until("refused")["code"] == "not_started"
    with ann.live(ann.open("rota", ["me"]).id) as live:
        live.play_to_end()
        live.command("move", **command)
        assert live.until("refused")["code"] == "game_over"


@pytest.mark.parametrize("move", ["pick", "text"])
def test_move_out_of_turn_is_refused(ann: Guest, bob: Guest, table: str, move: str) -> None:
    command: Json = {"pick": 0} if move == "pick" else {"move": "pass"}
    with bob.live(table) as his:
        number = his.recv()["n"]
        his.command("move", **command)
        assert his.until("refused")["code"] == "not_your_turn"
    body = {"id": "m", "n": number, **command}
    assert bob.refused("POST", f"/api/tables/{table}/moves", body).code == "not_your_turn"
