"""Several processes on one PostgreSQL database: every table can be used from each of them."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from axiogames.server.identity.names import DELETED_NAME
from tests.server.driving import (
    Browser,
    Client,
    Guest,
    Json,
    Refusal,
    RunningServer,
    check_consecutive,
    play_together,
    start_server,
)
from tests.server.postgres import Postgres, run_sql

KEY = {"AXIO_KEY": "the same key for every process of this server"}


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> str:
    return postgres.create()


@pytest.fixture(scope="module")
def pair(
    database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[RunningServer, RunningServer]]:
    """Two processes with the same database and the same key."""
    folders = [tmp_path_factory.mktemp("process") for _ in range(2)]
    with (
        start_server(folders[0], database=database, environment=KEY) as first,
        start_server(folders[1], database=database, environment=KEY) as second,
    ):
        yield first, second


def two_people(pair: tuple[RunningServer, RunningServer]) -> tuple[Guest, Guest]:
    """Return a guest of each process."""
    return pair[0].guest("Ann"), pair[1].guest("Bob")


def test_sessions_are_valid_in_all_processes(pair: tuple[RunningServer, RunningServer]) -> None:
    first, second = pair
    ann = first.guest("Ann")
    assert ann.at(second.url).get("/api/me") == ann.get("/api/me")
    browser = Browser(first.url)
    browser.patch("/api/me", {"name": "Page"})
    other_browser = Browser(second.url)
    other_browser.cookie = browser.cookie
    assert other_browser.get("/api/me")["name"] == "Page"
    phrase = ann.post("/api/me/phrase")["phrase"]
    assert other_browser.post("/api/enter", {"phrase": phrase})["id"] == ann.id


@pytest.mark.parametrize("game", ["axio", "rota"])
def test_whole_game_between_two_processes(pair: tuple[RunningServer, RunningServer], game: str) -> None:
    ann, bob = two_people(pair)
    table = ann.open(game, ["me", "open", "greedy"])
    assert bob.view(table.id)["table"]["status"] == "open"
    with ann.live(table.id) as hers:
        hers.recv()
        bob.join(table)
        hers.until(lambda message: message.get("now", {}).get("phase") not in (None, "open"))
    with (
        ann.live(table.id) as hers,
        bob.live(table.id) as his,
        Client(pair[1].url).live(table.id) as watching,
    ):
        result = play_together(hers, his)
        watching.recv()
        for live in (hers, his, watching):
            while live.n < max(hers.n, his.n):
                live.recv()
            check_consecutive(live)
        assert watching.now["result"] == his.now["result"] == hers.now["result"] == result
    assert ann.get(f"/api/tables/{table.id}/record") == bob.get(f"/api/tables/{table.id}/record")


def test_one_of_two_moves_with_the_same_number_is_played(
    pair: tuple[RunningServer, RunningServer],
) -> None:
    ann = pair[0].guest("Ann")
    ann_elsewhere = ann.at(pair[1].url)
    table = ann.open("rota", ["me", "me"])
    path = f"/api/tables/{table.id}/moves"
    with ThreadPoolExecutor(2) as pool:
        for turn in range(12):
            number, start = ann.view(table.id)["n"], Barrier(2)

            def move(guest: Guest, start: Barrier = start, turn: int = turn, number: int = number) -> str:
                body = {"id": f"{guest.url}{turn}"[-40:], "n": number, "pick": 0}
                start.wait(10)
                try:
                    result: Json = guest.post(path, body)
                except Refusal as refused:
                    return refused.code
                assert result["n"] == number + 1
                return "played"

            assert sorted(pool.map(move, (ann, ann_elsewhere))) == ["played", "stale"]
            assert ann_elsewhere.view(table.id)["n"] == number + 1
    placements = [event for event in ann.view(table.id)["events"] if event["t"] == "place"]
    assert len(placements) == 12


def test_message_repeated_at_another_process_is_not_executed_twice(
    pair: tuple[RunningServer, RunningServer],
) -> None:
    ann = pair[0].guest("Ann")
    ann_elsewhere = ann.at(pair[1].url)
    table = ann.open("axio", ["me", "me"])
    ann_elsewhere.view(table.id)
    number = ann.view(table.id)["n"]
    body = {"id": "once", "n": number, "pick": 0}
    for guest in (ann, ann_elsewhere, ann, ann_elsewhere):
        assert guest.post(f"/api/tables/{table.id}/moves", body) == {"n": number + 1}


def test_one_person_with_two_devices_at_two_processes(pair: tuple[RunningServer, RunningServer]) -> None:
    ann = pair[0].guest("Ann")
    table = ann.open("axio", ["me", "greedy"])
    with ann.live(table.id) as laptop, ann.at(pair[1].url).live(table.id) as phone:
        laptop.recv()
        phone.recv()
        for _ in range(4):
            for mover, other in ((laptop, phone), (phone, laptop)):
                mover.wait_for_turn()
                while mover.moves is None:
                    mover.recv()
                mover.play(0)
                while other.n < mover.n:
                    other.recv()
        while phone.n != laptop.n:
            (phone if phone.n < laptop.n else laptop).recv()
        for key in ("hands", "scores", "turn", "in_bag"):
            assert phone.now[key] == laptop.now[key]


def test_held_and_taken_back_placements_reach_all_processes(
    pair: tuple[RunningServer, RunningServer],
) -> None:
    ann, bob = two_people(pair)
    table = ann.open("axio", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as hers, bob.live(table.id) as his:
        start = his.recv()
        hers.until(lambda message: message.get("n") == start["n"])
        hers.play(0, hold=True)
        assert his.until("step")["now"]["turn"] == 0
        hers.command("back")
        back = his.until("view")
        assert back["tiles"] == start["tiles"]
        hers.until("view")
        hers.play(1)
        assert his.until("step")["n"] == back["n"] + 1
        his.play(0)


def test_bot_moves_once_if_two_processes_load_its_table(
    pair: tuple[RunningServer, RunningServer],
) -> None:
    ann = pair[0].guest("Ann")
    table = ann.open("rota", ["me", "greedy", "random"])
    with ann.live(table.id) as live, Client(pair[1].url).live(table.id) as watching:
        watching.recv()
        result = live.play_to_end()
        while watching.n < live.n:
            watching.recv()
        assert watching.now["result"] == result
    for server in pair:
        assert "error" not in server.log


def test_rematch_is_one_table_for_both_processes(pair: tuple[RunningServer, RunningServer]) -> None:
    ann, bob = two_people(pair)
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as hers, bob.live(table.id) as his:
        play_together(hers, his)
    before, start = {table["id"] for table in ann.get("/api/tables?which=mine")}, Barrier(2)

    def request_rematch(guest: Guest) -> str:
        start.wait(10)
        return str(guest.post(f"/api/tables/{table.id}/rematch")["id"])

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(request_rematch, (ann, bob))
    assert first == second
    assert {table["id"] for table in ann.get("/api/tables?which=mine")} - before == {first}


def test_signing_out_everywhere_reaches_all_processes(
    pair: tuple[RunningServer, RunningServer], database: str
) -> None:
    ann = pair[0].guest("Ann")
    ann.post("/api/me/leave", {"everywhere": True})
    ann_elsewhere = ann.at(pair[1].url)  # this process does not know her yet and reads the database
    assert ann_elsewhere.refused("POST", "/api/me/phrase").code == "unknown_person"
    assert run_sql(database, f"SELECT epoch FROM people WHERE id = '{ann.id}'") == [(1,)]


def test_session_ends_at_once_in_all_processes(pair: tuple[RunningServer, RunningServer]) -> None:
    ann, bob = two_people(pair)
    ann_elsewhere = ann.at(pair[1].url)
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    with (
        ann.live(table.id) as first_socket,
        ann_elsewhere.live(table.id) as second_socket,
        bob.live(table.id) as his,
    ):
        for live in (first_socket, second_socket, his):
            live.recv()
        assert ann_elsewhere.get("/api/me")["id"] == ann.id  # now in the cache of this process
        ann.post("/api/me/leave", {"everywhere": True})
        assert [first_socket.close_code(), second_socket.close_code()] == [4401, 4401]
        assert ann_elsewhere.refused("POST", "/api/me/phrase").code == "unknown_person"
    for server in pair:
        assert "error" not in server.log


def test_deletion_reaches_all_processes(pair: tuple[RunningServer, RunningServer]) -> None:
    ann, bob = two_people(pair)
    table = ann.open("rota", ["me", "open"], public=True)
    bob.join(table)
    with bob.live(table.id) as his:
        assert his.recv()["seats"][0]["name"] == "Ann"
        assert ann.request("DELETE", "/api/me", {"confirm": True}).status == 200
        his.until(lambda message: any(seat["away"] == DELETED_NAME for seat in message.get("seats", ())))
        assert bob.view(table.id)["seats"][0]["away"] == DELETED_NAME


def test_game_continues_at_another_process_when_one_dies(
    pair: tuple[RunningServer, RunningServer], database: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("doomed")
    with start_server(folder, database=database, environment=KEY) as doomed:
        ann, bob = doomed.guest("Ann"), pair[0].guest("Bob")
        table = ann.open("axio", ["me", "open", "greedy"])
        bob.join(table)
        with bob.live(table.id) as his:
            his.recv()
            with ann.live(table.id) as hers:
                hers.wait_for_turn()
                hers.play(0)
                doomed.kill()
            ann_elsewhere = ann.at(pair[0].url)
            with ann_elsewhere.live(table.id, hers.n) as again:
                while his.moves is None:
                    his.recv()
                his.play(0)
                again.until(lambda message: message.get("moves") is not None)
                again.play(0)
                step = his.until("step")
        assert step["n"] == again.n


def test_workers_share_a_port(database: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("workers")
    with start_server(folder, database=database, extra=["--workers", "2"], environment=KEY) as server:
        ann, bob = server.guest("Ann"), server.guest("Bob")
        table = ann.open("rota", ["me", "open"])
        bob.join(table)
        with ann.live(table.id) as hers, bob.live(table.id) as his:
            assert play_together(hers, his)
        assert server.stop() in (0, -15)


def listeners(database: str) -> int:
    """Return the number of connections that listen for notifications."""
    query = "SELECT query FROM pg_stat_activity WHERE datname = current_database()"
    return sum(text.upper().startswith("LISTEN") for (text,) in run_sql(database, query))


def test_process_listens_again_after_losing_its_connection(
    pair: tuple[RunningServer, RunningServer], database: str
) -> None:
    ann, bob = two_people(pair)
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    before = listeners(database)
    assert before >= 2
    with ann.live(table.id) as hers, bob.live(table.id) as his:
        his.recv()
        hers.wait_for_turn()
        run_sql(
            database,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        hers.play(0)
        his.wait_for_turn()  # after the listener has reconnected
        his.play(0)
        hers.until(lambda message: message.get("n") == his.n)
    for _ in range(75):
        if listeners(database) >= before:
            return
        time.sleep(0.2)
    pytest.fail("the processes do not listen again")


def wait_for(name: str, condition: Callable[[], bool]) -> None:
    """Wait until a condition holds. Its name is shown on failure."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"still waiting after 60 s: {name}"
        time.sleep(0.05)


def is_healthy(server: RunningServer) -> bool:
    return Client(server.url).request("GET", "/health").status == 200


def test_two_processes_survive_a_hanging_and_restarting_database(
    postgres: Postgres, pair: tuple[RunningServer, RunningServer], database: str
) -> None:
    ann, bob = two_people(pair)
    table = ann.open("rota", ["me", "open"])
    bob.join(table)
    wait_for("both processes listen", lambda: listeners(database) >= 2)
    with ann.live(table.id) as hers, bob.live(table.id) as his:
        his.recv()
        for failure in ("hang", signal.SIGQUIT, signal.SIGINT):
            hers.wait_for_turn()
            if failure == "hang":
                with postgres.frozen():
                    hers.command("move", pick=0)
                    assert hers.until("refused")["code"] == "unavailable"
                    for server, guest in zip(pair, (ann, bob), strict=True):
                        assert not is_healthy(server)
                        assert guest.refused("GET", "/api/tables?which=mine").code == "unavailable"
                        assert guest.refused("PATCH", "/api/me", {"name": "Other"}).code == "unavailable"
            else:
                assert isinstance(failure, signal.Signals)
                postgres.restart(failure)
            for server in pair:
                wait_for("health", lambda server=server: is_healthy(server))  # type: ignore[misc]
            wait_for("both processes listen", lambda: listeners(database) >= 2)
            hers.play(0)
            his.wait_for_turn()
            his.play(0)
        hers.wait_for_turn()  # her process has followed his last move
    moves = [event for event in ann.view(table.id)["events"] if event["t"] == "place"]
    assert len(moves) == 6
    for server in pair:
        assert "background task listen recovered" in server.log
