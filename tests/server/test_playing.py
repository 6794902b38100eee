"""At a table: shared screens, spectators, hints, previews, placements taken back."""

from __future__ import annotations

import pytest

from axiogames.analysis.review.remarks import review_texts
from axiogames.games import GAMES
from tests.server.driving import Client, Guest, Json, Live, RunningServer, at_random, offers


def first_view(live: Live) -> Json:
    return live.until("view")


@pytest.mark.parametrize("game", GAMES)
def test_several_people_at_one_screen_look_in_turn(server: RunningServer, game: str) -> None:
    ann = server.guest()
    table = ann.open(game, [{"kind": "me", "name": "Left"}, {"kind": "me", "name": "Right"}])
    with ann.live(table.id) as live:
        view = first_view(live)
        assert [seat["name"] for seat in view["seats"]] == ["Left", "Right"]
        assert (view["you"], view["yours"], view["moves"]) == (None, [0, 1], None)
        assert all(tile == "?" for hand in view["now"]["hands"] for tile in hand)
        live.order("move", pick=0)
        assert live.until("refused")["code"] == "not_allowed"
        live.send({"do": "look", "seat": 1})
        assert live.until("refused")["code"] == "not_your_turn"
        live.send({"do": "look", "seat": 0})
        view = first_view(live)
        assert view["you"] == 0
        assert offers(view["moves"]) > 0
        assert all(tile == "?" for tile in view["now"]["hands"][1])
        after = live.play(0)
        while after["now"]["turn"] == 0:  # an extra turn: it goes on looking
            assert after["you"] == 0
            after = live.play(0)
        assert after["you"] is None
        assert after["moves"] is None
        assert all(tile == "?" for hand in after["now"]["hands"] for tile in hand)
        result = live.play_to_the_end(at_random(game))
    assert len(result["place"]) == 2


def test_a_shared_screen_looks_only_from_its_own_seats(ann: Guest) -> None:
    table = ann.open("axio", ["me", "greedy"])
    with ann.live(table.id) as live:
        first_view(live)
        live.send({"do": "look", "id": "x", "seat": 1})
        refused = live.until("refused")
        assert (refused["id"], refused["code"]) == ("x", "not_allowed")
        live.send({"do": "look", "id": "y"})
        assert live.until("view")["ack"] == "y"


@pytest.mark.parametrize("who", ["guest", "nobody"])
def test_everybody_with_the_address_may_watch_and_nothing_else(ann: Guest, who: str) -> None:
    table = ann.open("axio", ["me", "greedy"])
    watcher = Guest(ann.url, "Eve") if who == "guest" else Client(ann.url)
    with watcher.live(table.id) as live, ann.live(table.id) as hers:
        view = first_view(live)
        assert (view["you"], view["yours"], view["moves"]) == (None, [], None)
        assert view["table"]["hints"] is view["table"]["host"] is False
        assert all(tile == "?" for hand in view["now"]["hands"] for tile in hand)
        for do in ("move", "draw", "back", "preview", "hint"):
            message = live.order(do, pick=0)
            refused = live.until("refused")
            assert (refused["id"], refused["code"]) == (message, "not_allowed")
        first_view(hers)
        hers.play(0)
        step = live.until("step")
        assert step["n"] == view["n"] + 1
        assert step["tiles"]
        assert step["moves"] is None
    move = {"id": "m", "n": 4, "pick": 0}
    expected = "not_allowed" if who == "guest" else "unknown_person"
    assert watcher.refused("POST", f"/api/tables/{table.id}/moves", move).code == expected


def test_hints_are_given_where_no_other_person_plays(ann: Guest) -> None:
    table = ann.open("axio", ["me", "greedy"])
    with ann.live(table.id) as live:
        assert first_view(live)["table"]["hints"] is True
        for _ in range(3):
            live.my_turn()
            message = live.order("hint")
            hint = live.until("hint")
            assert hint["id"] == message
            best = hint["picks"][0]
            assert hint["terms"] == {"kind": "win", "full": 100.0}
            assert 0 <= best["value"] <= 1
            assert {remark["key"] for remark in best["remarks"]} <= set(review_texts("en"))
            assert best["remarks"]
            assert live.moves is not None
            assert 0 <= best["pick"] < offers(live.moves)
            step = live.play(best["pick"])
            kind = {"exchange": "exchange", "keep": "draw"}.get(best["move"], "place")  # keeping is no event
            made = next(event for event in step["events"] if event["t"] == kind)
            assert kind != "place" or best["move"].split(" ")[0] == made["tile"]


def test_hints_are_refused_where_another_person_plays(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as live:
        assert first_view(live)["table"]["hints"] is False
        live.order("hint")
        assert live.until("refused")["code"] == "not_allowed"


def test_hints_are_refused_when_it_is_not_your_turn_or_the_number_is_old(ann: Guest) -> None:
    table = ann.open("axio", ["me", "me"])
    with ann.live(table.id) as live:
        first_view(live)
        live.send({"do": "look", "seat": 0})
        first_view(live)
        live.send({"do": "hint", "id": "old", "n": live.n - 1})
        assert live.until("refused")["code"] == "stale"


@pytest.mark.parametrize("game", GAMES)
def test_a_preview_tells_what_then_happens(small: RunningServer, game: str) -> None:
    ann = small.guest()
    table = ann.open(game, ["me"])
    choose, ends, pyramids = at_random(f"preview {game}"), False, 0
    with ann.live(table.id) as live:
        first_view(live)
        while live.my_turn()["phase"] != "over":
            assert live.moves is not None
            before, pick = live.now, choose(live.moves)
            message = live.order("preview", pick=pick)
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
    # Whether a tile that is drawn after the last move fits anywhere is not known before.
    assert ends or before["in_bag"] > live.now["in_bag"]


def test_a_preview_of_what_is_not_offered_is_refused(ann: Guest) -> None:
    table = ann.open("axio", ["me", "greedy"])
    with ann.live(table.id) as live:
        view = first_view(live)
        for pick in (-1, offers(view["moves"]), None):
            live.order("preview", pick=pick)
            assert live.until("refused")["code"] == "no_such_offer"
        live.send({"do": "preview", "id": "old", "n": view["n"] - 1, "pick": 0})
        assert live.until("refused")["code"] == "stale"


@pytest.mark.parametrize("game", GAMES)
def test_a_held_placement_is_taken_back_and_then_the_draw_ends_it(server: RunningServer, game: str) -> None:
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
            live.order("move", **refused_move)
            assert live.until("refused")["code"] == "illegal_move"
        message = live.order("back")
        back = live.until("view")
        assert (back["ack"], back["n"]) == (message, held["n"] + 1)
        for part in ("tiles", "moves", "events"):
            assert back[part] == start[part]
        for part in ("hands", "scores", "turn", "in_bag", "back", "held"):
            assert back["now"][part] == start["now"][part]
        held = live.play(1, hold=True)
        message = live.order("draw")
        drawn = live.until("step")
        assert (drawn["ack"], drawn["n"]) == (message, held["n"] + 1)
        assert [event["t"] for event in drawn["events"]][:1] == ["draw"]
        live.order("back")
        assert live.until("refused")["code"] == "not_allowed" or live.n > drawn["n"]


def test_a_placement_is_not_taken_back_after_the_draw(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as live, bob.live(table.id) as his:
        first_view(live)
        first_view(his)
        step = live.play(0)
        assert step["now"]["back"] is False
        for one in (live, his):
            one.until(lambda told: told.get("n") == step["n"]) if one.n < step["n"] else None
            one.order("back")
            assert one.until("refused")["code"] == "not_allowed"
            one.order("draw")
            assert one.until("refused")["code"] == "not_allowed"
    assert ann.view(table.id)["n"] == step["n"]


def test_only_the_one_who_placed_takes_it_back_or_draws(ann: Guest, bob: Guest) -> None:
    table = ann.open("axio", ["me", "open"])
    bob.join(table)
    with ann.live(table.id) as live, bob.live(table.id) as his:
        first_view(live)
        first_view(his)
        live.play(0, hold=True)
        told = his.until("step")
        assert (told["now"]["held"], told["now"]["back"], told["now"]["turn"]) == (False, False, 0)
        for do in ("back", "draw"):
            his.order(do)
            assert his.until("refused")["code"] == "not_allowed"
        live.order("draw")
        assert his.until("step")["now"]["turn"] == 1


def test_a_placement_that_earned_an_extra_one_is_taken_back(small: RunningServer) -> None:
    """No tile has been drawn in between."""
    ann = small.guest()
    for _ in range(20):
        table = ann.open("axio", ["me", "random"])
        with ann.live(table.id) as live:
            first_view(live)
            while live.my_turn()["phase"] != "over":
                assert live.moves is not None
                gains, before = live.moves["gain"], live.now
                mine = before["scores"][0]
                best = mine.index(max(points for points in mine if points < 18))
                pick = max(range(len(gains)), key=lambda i: gains[i][best]) if gains else 0
                after = live.play(pick)
                if after["now"]["back"]:
                    assert (after["now"]["turn"], after["now"]["extra"]) == (0, before["extra"])
                    live.order("back")
                    back = live.until("view")
                    for part in ("hands", "scores", "turn", "extra"):
                        assert back["now"][part] == before[part]
                    assert live.play(pick)["now"]["scores"] == after["now"]["scores"]
                    return
    pytest.fail("no extra placement in twenty games")
