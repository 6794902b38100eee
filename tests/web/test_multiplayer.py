"""Several people: by invite link, in pass and play, and watching."""

from __future__ import annotations

import json
import time

from playwright.sync_api import Page, expect

from tests.server.driving import Json, RunningServer, random_chooser
from tests.web.browsing import Visitor
from tests.web.conftest import Visit
from tests.web.hidden_tiles import faces, leaks, tiles_told
from tests.web.playing import DUE, Player

ODD = '<b onload=x>&"'
ODDER = "<img src=x onerror=x>"


def play_some(players: list[Player], moves: int) -> None:
    """Let the players make moves in turn."""
    made, end = 0, time.monotonic() + 60
    while made < moves:
        assert time.monotonic() < end, "nobody can move"
        for player in players:
            if player.page.evaluate(DUE):
                player.act()
                made += 1


def test_two_people_play_by_invite_link(visit: Visit) -> None:
    ann, bob, eve = visit("desktop", hurry=True), visit("phone", hurry=True), visit()
    page = ann.goto("/")
    ann.click("#new")
    ann.click("label:has(#preset-friends)")
    ann.click("label[for=new-shuffle]")
    page.locator("[data-seat='0'] [data-name]").fill(ODD)
    ann.click("#new-start")
    link = page.locator("#invite-link").input_value()
    expect(page.locator("#lobby-title")).to_have_text("Waiting for players")
    expect(page.locator("#lobby-seats [data-seat='0'] b")).to_have_text(ODD)

    eve.goto(link.removeprefix(ann.url).split("#")[0])
    expect(eve.find("#lobby-lead")).to_contain_text("invitation")
    assert eve.find("[data-sit]").count() == 0

    bob.goto(link.removeprefix(ann.url))
    expect(bob.find("#lobby-seats [data-seat='0'] b")).to_have_text(ODD)
    bob.find("#lobby-seats [data-seat='1'] input").fill(ODDER)
    bob.click("[data-sit='1']")
    for visitor in (ann, bob, eve):
        expect(visitor.find("#play")).to_be_visible()
        expect(visitor.find("#lobby")).to_be_hidden()

    players = [Player(ann, 1), Player(bob, 2)]
    play_some(players, 8)
    expect(page.locator("#opponents .seat-name b")).to_have_text(ODDER)
    expect(bob.find("#opponents .seat-name b")).to_have_text(ODD)
    expect(page.locator("#history")).to_contain_text(f"{ODDER}:")
    expect(eve.find("#history")).to_contain_text(f"{ODD}:")
    for visitor in (ann, bob, eve):
        assert visitor.find("[onload], [onerror], img[src=x]").count() == 0
        assert visitor.messages.refused == []
        assert [leak for message in visitor.messages.received for leak in leaks(message)] == []
    assert eve.find("#hand button").count() == 0


def test_host_removes_a_player_before_the_start(visit: Visit) -> None:
    ann, bob = visit(), visit("phone")
    table = ann.client.open("rota", ["me", "open", "open"], public=True)
    bob.client.join(table)
    for visitor in (ann, bob):
        visitor.goto(f"/t/{table.id}")
    expect(bob.find("[data-seat='1'] b")).to_be_visible()
    assert bob.find("[data-remove]").count() == 0
    expect(ann.find("[data-remove]")).to_have_count(1)
    ann.click("[data-remove='1']")
    expect(ann.find("[data-remove]")).to_have_count(0)
    bob.allow("403")
    bob.click("[data-sit='1']")
    expect(bob.find(".toast-error")).to_be_visible()
    assert ann.client.view(table.id)["seats"][1]["kind"] == "open"


def test_rematch(visit: Visit) -> None:
    ann, bob = visit(), visit("phone")
    table = ann.client.open("rota", ["me", "open"])
    bob.client.join(table)
    with ann.client.live(table.id) as hers, bob.client.live(table.id) as his:
        hers.recv(), his.recv()
        while hers.now["phase"] != "over":
            mine = hers if hers.moves is not None else his
            mine.play(0)
            for live in (hers, his):
                while live.n < mine.n:
                    live.recv()
    for visitor in (ann, bob):
        visitor.goto(f"/t/{table.id}")
        expect(visitor.find("#status")).to_have_text("The game is over")
    ann.click("#rematch")
    ann.page.wait_for_url(lambda url: not url.endswith(table.id))
    expect(bob.find("#rematch")).to_have_text("Join the rematch")
    bob.click("#rematch")
    bob.page.wait_for_url(ann.page.url)
    for visitor in (ann, bob):
        expect(visitor.find("#play")).to_be_visible()


def open_shared_screen(visitor: Visitor, names: list[str]) -> Player:
    """Open a pass-and-play table for several people by the form."""
    page = visitor.goto("/")
    visitor.click("[data-more=axio]")
    visitor.click("label:has(#preset-screen)")
    for seat, name in enumerate(names):
        page.locator(f"[data-seat='{seat}'] [data-name]").fill(name)
    visitor.click("label[for=new-shuffle]")
    visitor.click("#new-start")
    return Player(visitor)


def test_handover_hides_the_hand_in_pass_and_play(visit: Visit) -> None:
    visitor = visit("phone", hurry=True)
    names = ["Ann", "Bob"]
    player = open_shared_screen(visitor, names)
    page = player.page
    hands: dict[int, list[str]] = {}
    for turn in range(6):
        seat = turn % 2
        assert player.due() == "curtain"
        expect(page.locator("#handover-confirm")).to_have_text(f"I am {names[seat]}")
        assert page.locator("#hand button").count() == 0
        assert faces(page) == []
        for _ in range(3):
            page.keyboard.press("Escape")
        expect(page.locator("#handover")).to_be_visible()
        before = len(visitor.messages.received)
        player.act()
        assert player.due() == "place"
        told = visitor.messages.received[before:]
        hands[seat] = next(message["now"]["hands"][seat] for message in told if message.get("you") == seat)
        assert len(player.hand()) == len(hands[seat]) == 5
        while player.due() in ("place", "offer", "draw"):
            player.act()
    messages = [*visitor.messages.received, *bodies(visitor, player.id)]
    assert [leak for message in messages for leak in leaks(message)] == []
    assert visitor.messages.refused == []

    page.reload()
    assert player.due() == "curtain"
    assert faces(page) == []
    messages = [*visitor.messages.received, *bodies(visitor, player.id)]
    assert [leak for message in messages for leak in leaks(message)] == []


def bodies(visitor: Visitor, table: str) -> list[Json]:
    """Return the responses about a table since the last call."""
    found = [answer for answer in visitor.answers if answer.url.endswith(f"/api/tables/{table}")]
    visitor.answers.clear()
    assert found, "the page asks for the table first"
    return [json.loads(answer.text()) for answer in found]


def all_else(visitor: Visitor, table: str) -> list[Json]:
    """Return all other responses."""
    asked = [answer for answer in visitor.answers if "/api/" in answer.url and not answer.url.endswith(table)]
    return [{"of": answer.url, "body": answer.json()} for answer in asked]


def test_watchers_see_no_hand(visit: Visit, site: RunningServer) -> None:
    ann, eve = site.guest("Ann"), visit(hurry=True)
    table = ann.open("axio", ["me", "greedy"])
    page = eve.goto(f"/t/{table.id}")
    expect(page.locator("#detail")).to_have_text("You are watching.")
    rng = random_chooser(7)
    turns = 0

    def choose(moves: Json) -> int:
        nonlocal turns
        turns += 1
        if turns % 4 == 0:
            no_hand_on(page)
        return rng(moves)

    with ann.live(table.id) as live:
        live.play_to_end(choose)
        told = {
            message["n"]: message["now"]["hands"][message["you"]]
            for message in live.received
            if "now" in message
        }
    expect(page.locator("#status")).to_have_text("The game is over")
    replay = ann.get(f"/api/tables/{table.id}/replay")
    opened = {one["n"]: one["now"]["hands"] for one in (replay["view"], *replay["steps"])}

    every = [hand for hands in opened.values() for hand in hands]
    assert [tile for answer in all_else(eve, table.id) for tile in tiles_told(answer, every)] == []
    compared = 0
    for message in (*eve.messages.received, *bodies(eve, table.id)):
        assert leaks(message) == []
        if "now" in message and message["now"]["phase"] != "over" and message["n"] in opened:
            hands = [*opened[message["n"]], told.get(message["n"], [])]
            assert tiles_told(message, hands) == []
            compared += 1
    assert compared > 20


def no_hand_on(page: Page) -> None:
    assert page.locator("#hand button").count() == 0
    assert page.locator(".seat-hand").count() == 0
    assert faces(page) == []
