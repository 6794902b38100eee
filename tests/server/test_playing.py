"""Playing at a table: shared screens, spectators, hints, previews, take-backs."""

from __future__ import annotations

import pytest

from axiogames.analysis.review.remarks import review_texts
from axiogames.games import GAMES
from tests.server.driving import Client, Guest, Json, LiveSocket, RunningServer, count_offers, random_chooser


def first_view(live: LiveSocket) -> Json:
    return live.until("view")


@pytest.mark.parametrize("game", GAMES)
def test_people_at_a_shared_screen_look_in_turn(server: RunningServer, game: str) -> None:
    ann = server.guest()
    table = ann.open(game, [{"kind": "me", "name": "Left"}, {"kind": "me", "name": "Right"}])
    with ann.live(table.id) as live:
        view = first_view(live)
        assert [seat["name"] for seat in view["seats"]] == ["Left", "Right"]
        assert (view["you"], view["yours"], view["moves"]) == (None, [0, 1], None)
        assert all(tile == "?" for hand in view["now"]["hands"] for tile in hand)
        live.command("move", pick=0)
        assert live.until("refused")["code"] == "not_allowed"
        live.send({"do": "look", "seat": 1})
        assert live.until("refused")["code"] == "not_your_turn"
        live.send({"do": "look", "seat": 0})
        view = first_view(live)
        assert view["you"] == 0
        assert count_offers(view["moves"]) > 0
        assert all(tile == "?" for tile in view["now"]["hands"][1])
        after = live.play(0)
        while after["now"]["turn"] == 0:  # an extra turn: the screen keeps its seat
            assert after["you"] == 0
            after = live.play(0)
        assert after["you"] is None
        assert after["moves"] is None
        assert all(tile == "?" for hand in after["now"]["hands"] for tile in hand)
        result = live.play_to_end(random_chooser(game))
    assert len(result["place"]) == 2


def test_look_selects_only_own_seats(ann: Guest) -> None:
    table = ann.open("axio", ["me", "greedy"])
    with ann.live(table.id) as live:
        first_view(live)
        live.send({"do": "look", "id": "x", "seat": 1})
        refused = live.until("refused")
        assert (refused["id"], refused["code"]) == ("x", "not_allowed")
        live.send({"do": "look", "id": "y"})
        assert live.until("view")["ack"] == "y"


@pytest.mark.parametrize("visitor", ["guest", "anonymous"])
def test_spectators_can_watch_but_not_play(ann: Guest, visitor: str) -> None:
    table = ann.open("axio", ["me", "greedy"])
    spectator = Guest(ann.url, "Eve") if visitor == "guest" else Client(ann.url)
    with spectator.live(table.id) as live, ann.live(table.id) as hers:
        view = first_view(live)
        assert (view["you"], view["yours"], view["moves"]) == (None, [], None)
        assert view["table"]["hints"] is view["table"]["host"] is False
        assert all(tile == "?" for hand in view["now"]["hands"] for tile in hand)
        for do in ("move", "draw", "back", "preview", "hint"):
            message = live.command(do, pick=0)
            refused = live.until("refused")
            assert (refused["id"], refused["code"]) == (message, "not_allowed")
        first_view(hers)
        hers.play(0)
        step = live.until("step")
        assert step["n"] == view["n"] + 1
        assert step["tiles"]
        assert step["moves"] is None
    move = {"id": "m", "n": 4, "pick": 0}
    expected = "not_allowed" if visitor == "guest" else "unknown_person"
    assert spectator.refused("POST", f"/api/tables/{table.id}/moves", move).code == expected


def test_hints_are_available_without_other_people(ann: Guest) -> None:
    table = ann.open("axio", ["me", "greedy"])
    with ann.live(table.id) as live:
        assert first_view(live)["table"]["hints"] is True
        for _ in range(3):
            live.wait_for_turn()
            message = live.command("hint")
            hint = live.until("hint")
            assert hint["id"] == message
            best = hint["picks"][0]
            assert hint["terms"] == {"kind": "win", "full": 100.0}
            assert 0 <= best["value"] <= 1
            assert {remark["key"] for remark in best["remarks"]} <= set(review_texts("en"))
            assert best["remarks"]
            assert live.moves is not None
            assert 0 <= best["pick"] < count_offers(live.moves)
            step = live.play(best["pick"])
            kind = {"exchange": "exchange", "keep": "draw"}.get(best["move"], "place")  # keeping has no event
            played = next(event for event in step["events"] if event["t"] == kind)
            assert kind != "place" or best["move"].split(" ")[0] == played["tile"]


def test_hints_are_refused_with_other_people(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as live:
        assert first_view(live)["table"]["hints"] is False
        live.command("hint")
        assert live.until("refused")["code"] == "not_allowed"


def test_hints_are_refused_out_of_turn_or_with_a_stale_number(ann: Guest) -> None:
    table = ann.open("axio", ["me", "me"])
    with ann.live(table.id) as live:
        first_view(live)
        live.send({"do": "look", "seat": 0})
        first_view(live)
        live.send({"do": "hint", "id": "old", "n": live.n - 1})
        assert live.until("refused")["code"] == "stale"


@pytest.mark.parametrize("game", GAMES)
def test_preview_shows_the_effects_of_a_move(sqlite_server: RunningServer, game: str) -> None:
    ann = sqlite_server.guest()
    table = ann.open(game, ["me"])
    choose, ends, pyramids = random_chooser(f"preview {game}"), False, 0
    with ann.live(table.id) as live:
        first_view(live)
        while live.wait_for_turn()["phase"] != "over":
            assert live.moves is not None
            before, pick = live.now, choose(live.moves)
            message = live.command("preview", pick=pick)
            preview = live.until("preview")
            assert preview["id"] == message
            number = live.n
            assert live.play(pick)["n"] == number + 1  # a preview changes nothing
            ends = preview["ends"]
            new = set(live.now["pyramids"]) - set(before["pyramids"])
            assert new == set(preview["pyramids"]) - set(before["pyramids"])
            pyramids += len(new)
            if live.now["phase"] != "over":
                assert ends is False
    # A preview is computed before the draw, so it cannot know whether the drawn tile fits anywhere.
    assert ends or before["in_bag"] > live.now["in_bag"]


def test_preview_of_an_invalid_pick_is_refused(ann: Guest) -> None:
    table = ann.open("axio", ["me", "greedy"])
    with ann.live(table.id) as live:
        view = first_view(live)
        for pick in (-1, count_offers(view["moves"]), None):
            live.command("preview", pick=pick)
            assert live.until("refused")["code"] == "no_such_offer"
        live.send({"do": "preview", "id": "old", "n": view["n"] - 1, "pick": 0})
        assert live.until("refused")["code"] == "stale"


@pytest.mark.parametrize("game", GAMES)
def test_held_placement_can_be_taken_back_until_the_draw(server: RunningServer, game: str) -> None:
    ann = server.guest()
    table = ann.open(game, ["me", "greedy"])
    with ann.live(table.id) as live:
        start = first_view(live)
        held = live.play(0, hold=True)
        assert held["type"] == "step"
        assert (held["now"]["held"], held["now"]["back"]) == (True, True)
        assert held["now"]["turn"] == 0
        assert held["moves"] is None
        assert [event["t"] for event in held["events"]] == ["place"]
        for refused_move in ({"pick": 0}, {"move": "keep"}):
            live.command("move", **refused_move)
            assert live.until("refused")["code"] == "illegal_move"
        message = live.command("back")
        back = live.until("view")
        assert (back["ack"], back["n"]) == (message, held["n"] + 1)
        for part in ("tiles", "moves", "events"):
            assert back[part] == start[part]
        for part in ("hands", "scores", "turn", "in_bag", "back", "held"):
            assert back["now"][part] == start["now"][part]
        held = live.play(1, hold=True)
        message = live.command("draw")
        drawn = live.until("step")
        assert (drawn["ack"], drawn["n"]) == (message, held["n"] + 1)
        assert [event["t"] for event in drawn["events"]][:1] == ["draw"]
        live.command("back")
        assert live.until("refused")["code"] == "not_allowed" or live.n > drawn["n"]


def test_placement_cannot_be_taken_back_after_the_draw(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as live, bob.live(table.id) as his:
        first_view(live)
        first_view(his)
        step = live.play(0)
        assert step["now"]["back"] is False
        for socket in (live, his):
            if socket.n < step["n"]:
                socket.until(lambda message: message.get("n") == step["n"])
            socket.command("back")
            assert socket.until("refused")["code"] == "not_allowed"
            socket.command("draw")
            assert socket.until("refused")["code"] == "not_allowed"
    assert ann.view(table.id)["n"] == step["n"]


def test_only_the_player_of_a_placement_takes_it_back_or_draws(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as live, bob.live(table.id) as his:
        first_view(live)
        first_view(his)
        live.play(0, hold=True)
        step = his.until("step")
        assert (step["now"]["held"], step["now"]["back"], step["now"]["turn"]) == (False, False, 0)
        for do in ("back", "draw"):
            his.command(do)
            assert his.until("refused")["code"] == "not_allowed"
        live.command("draw")
        assert his.until("step")["now"]["turn"] == 1


def test_placement_that_earned_an_extra_turn_can_be_taken_back(sqlite_server: RunningServer) -> None:
    """No tile has been drawn since the placement."""
    ann = sqlite_server.guest()
    for _ in range(20):
        table = ann.open("axio", ["me", "random"])
        with ann.live(table.id) as live:
            first_view(live)
            while live.wait_for_turn()["phase"] != "over":
                assert live.moves is not None
                gains, before = live.moves["gain"], live.now
                own = before["scores"][0]
                best = own.index(max(points for points in own if points < 18))
                pick = max(range(len(gains)), key=lambda i: gains[i][best]) if gains else 0
                after = live.play(pick)
                if after["now"]["back"]:
                    assert (after["now"]["turn"], after["now"]["extra"]) == (0, before["extra"])
                    live.command("back")
                    back = live.until("view")
                    for part in ("hands", "scores", "turn", "extra"):
                        assert back["now"][part] == before[part]
                    assert live.play(pick)["now"]["scores"] == after["now"]["scores"]
                    return
    pytest.fail("no extra placement in twenty games")
