"""`GET /api/home`: the responses of other requests, joined."""

from __future__ import annotations

import pytest

from axiogames.games import GAMES, LANGUAGES
from tests.server.driving import Browser, Client, RunningServer, send_request


@pytest.mark.parametrize("language", LANGUAGES)
def test_home_contains_what_other_requests_return(sqlite_server: RunningServer, language: str) -> None:
    ann, bob = Browser(sqlite_server.url), sqlite_server.guest("Bob")
    own = ann.open("axio", ["me", "random"]).id
    bob.open("hex", ["me", "open"], public=True)
    home = ann.get(f"/api/home?lang={language}")
    assert home.keys() == {"me", "games", "mine", "open", "live", "daily"}
    assert home["me"] == ann.get("/api/me")
    assert home["games"] == ann.get(f"/api/games?lang={language}")
    assert [table["id"] for table in home["mine"]] == [own]
    assert home["open"]
    for which in ("mine", "open", "live"):
        assert home[which] == ann.get(f"/api/tables?which={which}")


def test_home_counts_finished_daily_deals(sqlite_server: RunningServer) -> None:
    ann = sqlite_server.guest()
    started = [ann.post(f"/api/daily/{game}")["id"] for game in GAMES[:2]]
    assert ann.get("/api/home")["daily"] == {"deals": len(GAMES), "done": 0}
    with ann.live(started[0]) as live:
        live.play_to_end(lambda moves: 0)
    assert ann.get("/api/home")["daily"] == {"deals": len(GAMES), "done": 1}


def test_home_makes_a_new_browser_a_guest(sqlite_server: RunningServer) -> None:
    first = Client(sqlite_server.url).request("GET", "/api/home")
    cookie = first.headers["set-cookie"].partition(";")[0]
    again = send_request(sqlite_server.url, "GET", "/api/home", None, {"Cookie": cookie})
    assert again.json["me"] == first.json["me"]
    assert again.headers["set-cookie"] is None
    assert (first.json["mine"], first.json["daily"]["done"]) == ([], 0)


def test_home_refuses_an_invalid_identity(sqlite_server: RunningServer) -> None:
    ann = Browser(sqlite_server.url)
    cookie = ann.cookie
    ann.post("/api/me/leave", {})
    ended = send_request(sqlite_server.url, "GET", "/api/home", None, {"Cookie": cookie})
    assert (ended.status, ended.refusal.code) == (401, "signed_out")
    token = send_request(sqlite_server.url, "GET", "/api/home", None, {"Authorization": "Bearer x"})
    assert (token.status, token.refusal.code) == (401, "unknown_person")
