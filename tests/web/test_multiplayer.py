"""Several people: by invite link, in pass and play, and watchers."""

from __future__ import annotations

import json
import time

from playwright.sync_api import Page, expect

from tests.server.driving import Json, RunningServer, random_chooser
from tests.web.browsing import Visitor
from tests.web.conftest import Visit
from tests.web.hidden_tiles import exposed_tiles, face_up_tiles, leaks
from tests.web.playing import NEXT_ACTION, Player

MARKUP_NAME = '<b onload=x>&"'
MARKUP_NAME_2 = "<img src=x onerror=x>"


def play_actions(players: list[Player], count: int) -> None:
    """Let the players perform a number of actions in turn."""
    performed, deadline = 0, time.monotonic() + 60
    while performed < count:
        assert time.monotonic() < deadline, "no player can move"
        for player in players:
            if player.page.evaluate(NEXT_ACTION):
                player.act()
                performed += 1


def test_two_people_play_by_invite_link(visit: Visit) -> None:
    ann, bob, eve = visit("desktop", short_pauses=True), visit("phone", short_pauses=True), visit()
    page = ann.goto("/")
    ann.click("#new")
    ann.click("label:has(#preset-friends)")
    ann.click("label[for=new-shuffle]")
    page.locator("[data-seat='0'] [data-name]").fill(MARKUP_NAME)
    ann.click("#new-start")
    link = page.locator("#invite-link").input_value()
    expect(page.locator("#lobby-title")).to_have_text("Waiting for players")
    expect(page.locator("#lobby-seats [data-seat='0'] b")).to_have_text(MARKUP_NAME)

    eve.goto(link.removeprefix(ann.url).split("#")[0])
    expect(eve.find("#lobby-lead")).to_contain_text("invitation")
    assert eve.find("[data-sit]").count() == 0

    bob.goto(link.removeprefix(ann.url))
    expect(bob.find("#lobby-seats [data-seat='0'] b")).to_have_text(MARKUP_NAME)
    bob.find("#lobby-seats [data-seat='1'] input").fill(MARKUP_NAME_2)
    bob.click("[data-sit='1']")
    for visitor in (ann, bob, eve):
        expect(visitor.find("#play")).to_be_visible()
        expect(visitor.find("#lobby")).to_be_hidden()

    players = [Player(ann, 1), Player(bob, 2)]
    play_actions(players, 8)
    expect(page.locator("#opponents .seat-name b")).to_have_text(MARKUP_NAME_2)
    expect(bob.find("#opponents .seat-name b")).to_have_text(MARKUP_NAME)
    expect(page.locator("#history")).to_contain_text(f"{MARKUP_NAME_2}:")
    expect(eve.find("#history")).to_contain_text(f"{MARKUP_NAME}:")
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


def test_both_players_join_the_rematch(visit: Visit) -> None:
    ann, bob = visit(), visit("phone")
    table = ann.client.open("rota", ["me", "open"])
    bob.client.join(table)
    with ann.client.live(table.id) as ann_live, bob.client.live(table.id) as bob_live:
        ann_live.recv()
        bob_live.recv()
        while ann_live.now["phase"] != "over":
            active = ann_live if ann_live.moves is not None else bob_live
            active.play(0)
            for live in (ann_live, bob_live):
                while live.n < active.n:
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
    visitor = visit("phone", short_pauses=True)
    names = ["Ann", "Bob"]
    player = open_shared_screen(visitor, names)
    page = player.page
    hands: dict[int, list[str]] = {}
    for turn in range(6):
        seat = turn % 2
        assert player.wait_for_action() == "handover"
        expect(page.locator("#handover-confirm")).to_have_text(f"I am {names[seat]}")
        assert page.locator("#hand button").count() == 0
        assert face_up_tiles(page) == []
        for _ in range(3):
            page.keyboard.press("Escape")
        expect(page.locator("#handover")).to_be_visible()
        before = len(visitor.messages.received)
        player.act()
        assert player.wait_for_action() == "place"
        received = visitor.messages.received[before:]
        hands[seat] = next(
            message["now"]["hands"][seat] for message in received if message.get("you") == seat
        )
        assert len(player.hand()) == len(hands[seat]) == 5
        while player.wait_for_action() in ("place", "offer", "draw"):
            player.act()
    messages = [*visitor.messages.received, *table_responses(visitor, player.id)]
    assert [leak for message in messages for leak in leaks(message)] == []
    assert visitor.messages.refused == []

    page.reload()
    assert player.wait_for_action() == "handover"
    assert face_up_tiles(page) == []
    messages = [*visitor.messages.received, *table_responses(visitor, player.id)]
    assert [leak for message in messages for leak in leaks(message)] == []


def table_responses(visitor: Visitor, table: str) -> list[Json]:
    """Return the responses about a table since the last call."""
    found = [response for response in visitor.responses if response.url.endswith(f"/api/tables/{table}")]
    visitor.responses.clear()
    assert found, "the page has requested the table"
    return [json.loads(response.text()) for response in found]


def other_responses(visitor: Visitor, table: str) -> list[Json]:
    """Return the responses of the API except those about a table."""
    found = [
        response
        for response in visitor.responses
        if "/api/" in response.url and not response.url.endswith(table)
    ]
    return [{"url": response.url, "body": response.json()} for response in found]


def test_watchers_see_no_hand(visit: Visit, site: RunningServer) -> None:
    ann, eve = site.guest("Ann"), visit(short_pauses=True)
    table = ann.open("axio", ["me", "greedy"])
    page = eve.goto(f"/t/{table.id}")
    expect(page.locator("#detail")).to_have_text("You are watching.")
    choose_randomly = random_chooser(7)
    turns = 0

    def choose(moves: Json) -> int:
        nonlocal turns
        turns += 1
        if turns % 4 == 0:
            expect_no_hand(page)
        return choose_randomly(moves)

    with ann.live(table.id) as live:
        live.play_to_end(choose)
        own_hands = {
            message["n"]: message["now"]["hands"][message["you"]]
            for message in live.received
            if "now" in message
        }
    expect(page.locator("#status")).to_have_text("The game is over")
    replay = ann.get(f"/api/tables/{table.id}/replay")
    open_hands = {message["n"]: message["now"]["hands"] for message in (replay["view"], *replay["steps"])}

    all_hands = [hand for hands in open_hands.values() for hand in hands]
    for response in other_responses(eve, table.id):
        assert exposed_tiles(response, all_hands) == []
    compared = 0
    for message in (*eve.messages.received, *table_responses(eve, table.id)):
        assert leaks(message) == []
        if "now" in message and message["now"]["phase"] != "over" and message["n"] in open_hands:
            hands = [*open_hands[message["n"]], own_hands.get(message["n"], [])]
            assert exposed_tiles(message, hands) == []
            compared += 1
    assert compared > 20


def expect_no_hand(page: Page) -> None:
    assert page.locator("#hand button").count() == 0
    assert page.locator(".seat-hand").count() == 0
    assert face_up_tiles(page) == []
