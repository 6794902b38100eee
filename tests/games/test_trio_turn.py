"""Rules of trio: exchange and pass, the end, options and the solo game (7-11)."""

from __future__ import annotations

from collections import Counter

import pytest

import axiogames as axio
from axiogames.errors import Reason
from axiogames.games import find_variant
from axiogames.model.events import Removed
from tests.games.numbered import TestsByRule, by_rule
from tests.games.positions_trio import (
    BELOW,
    BESIDE,
    EXTRA_WALLS,
    HIGH,
    LOW,
    LOW_WALLS,
    after,
    exchanges,
    in_nooks,
    kinds_of_move,
    points,
    position,
    ranks,
    refusal,
    same_tile,
    short_table,
)

# ---------------------------------------------------------------- 7: exchanging and passing
#
# In the nooks (see `positions_trio`), only tiles with green in the middle and blue or yellow at an end fit.


def test_7_exchanged_tiles_return_after_the_draw() -> None:
    start = in_nooks(["RRR RRB RRY", "BGR"], bag="YYY")
    table = after(start, "exchange RRR")
    assert table.unseen == {"YYY": 1}
    with pytest.raises(axio.IllegalMove) as caught:
        table.draw("RRR")  # exchanged tiles cannot be drawn
    assert caught.value.reason is Reason.NOT_IN_BAG
    table.draw("YYY")
    assert "YYY" in table.hand(0)
    assert "RRR" not in table.hand(0)
    assert table.unseen == {"RRR": 1}
    assert table.in_bag == 1


def test_7_exchange_is_limited_by_the_bag() -> None:
    at = in_nooks(["RRR BBB YYY", "BGR"], bag="RRY RRY")
    assert refusal(at, "exchange RRR BBB YYY") is Reason.EXCHANGE_TOO_MANY
    table = after(at, "exchange RRR BBB", "draw RRY RRY")
    assert sorted(table.hand(0)) == ["RRY", "RRY", "YYY"]
    assert exchanges(in_nooks(["RRR BBB YYY", "BGR"], bag="RRY")) == {"RRR", "BBB", "YYY"}


def test_7_no_exchange_with_an_empty_bag() -> None:
    at = in_nooks(["BGR RRR", "BGY"])
    for tiles in ("RRR", "BGR", "BGR RRR"):
        assert refusal(at, f"exchange {tiles}") is Reason.BAG_EMPTY
    assert kinds_of_move(at) == {"place"}


def test_7_no_pass_with_a_legal_placement() -> None:
    at = in_nooks(["BGR RRR", "BGY"])
    assert refusal(at, "pass") is Reason.CAN_PLACE
    assert {str(move) for move in at.legal_moves()} == {"RGB a1-b1-c1", "BGR a14-a15-a16"}


def test_7_pass_without_placement_and_with_an_empty_bag() -> None:
    at = in_nooks(["RRR BBB", "BGY"])
    assert [str(move) for move in at.legal_moves()] == ["pass"]
    table = after(at, "pass")
    assert table.turn == 1
    assert table.hand(0) == at.hand(0)
    assert table.scores == ({"points": 0}, {"points": 0})


def test_7_no_pass_with_tiles_in_the_bag() -> None:
    cannot = in_nooks(["RRR BBB", "BGY"], bag="YYY")
    assert refusal(cannot, "pass") is Reason.BAG_NOT_EMPTY
    assert kinds_of_move(cannot) == {"exchange"}
    can = in_nooks(["BGR", "BGY"], bag="YYY")
    assert refusal(can, "pass") is Reason.CAN_PLACE
    assert kinds_of_move(can) == {"place", "exchange"}


def test_7_extra_turn_can_be_an_exchange() -> None:
    start = in_nooks(["BGR RRR", "BGY"], bag="YYY BBB", walls=EXTRA_WALLS)
    table = after(start, f"RGB {LOW}", "draw YYY")
    assert table.scores[0] == {"points": 3}
    assert table.turn == 0
    table.play("exchange RRR")
    table.draw("BBB")
    assert table.turn == 1  # the extra turn is over
    assert table.hand(0) == ("BBB", "YYY")


def test_7_extra_turn_without_placement_is_a_pass() -> None:
    start = in_nooks(["BGR RRR", "BGY"], walls=EXTRA_WALLS)
    table = after(start, f"RGB {LOW}")
    assert table.turn == 0
    assert [str(move) for move in table.legal_moves()] == ["pass"]
    table.play("pass")
    assert table.turn == 1
    assert not table.over


def test_7_extra_turn_with_an_empty_hand_is_a_pass() -> None:
    table = after(in_nooks(["BGR", "BGY"], walls=EXTRA_WALLS), f"RGB {LOW}")
    assert table.turn == 0
    assert [str(move) for move in table.legal_moves()] == ["pass"]
    table.play("pass")
    table.play(f"BGY {HIGH}")
    assert table.over


def test_7_extra_turn_with_a_legal_placement_cannot_pass() -> None:
    table = after(in_nooks(["BGR BGY", "BGR"], walls=EXTRA_WALLS), f"RGB {LOW}")
    assert table.turn == 0
    assert refusal(table, "pass") is Reason.CAN_PLACE


# ---------------------------------------------------------------- 8: the end


def test_8_game_ends_when_no_tile_can_be_placed() -> None:
    # There is only the low nook, and no room after it is filled.
    start = in_nooks(["BGR RRR", "BGY"], nooks=[LOW], walls=LOW_WALLS)
    assert start.preview(f"RGB {LOW}").ends_game
    table = after(start, f"RGB {LOW}")
    assert table.over
    assert table.legal_moves().actions.size == 0
    with pytest.raises(axio.IllegalMove) as caught:
        table.play("pass")
    assert caught.value.reason is Reason.GAME_OVER


def test_8_game_ends_when_no_tile_fits_the_free_slots() -> None:
    # The high nook is free, but no remaining tile fits.
    table = after(in_nooks(["BGR RRR", "BBB"]), f"RGB {LOW}")
    assert table.over


@pytest.mark.parametrize("hands", [["BGR BGY", "RRR"], ["BGR RRR", "BGY"], ["BGR", "BGY"]])
def test_8_game_continues_with_a_fitting_tile_in_any_hand(hands: list[str]) -> None:
    table = after(in_nooks(hands), f"RGB {LOW}")
    assert not table.over
    assert table.turn == 1


def test_8_game_continues_with_a_fitting_tile_in_the_bag() -> None:
    start = in_nooks(["BGR RRR", "BBB"], bag="YYY BGY")
    table = after(start, f"RGB {LOW}", "draw YYY")
    assert not table.over
    assert table.turn == 1
    assert kinds_of_move(table) == {"exchange"}


def test_8_end_is_checked_after_the_draw() -> None:
    start = in_nooks(["BGR RRR", "BBB"], bag="YYY RRY")
    table = after(start, f"RGB {LOW}")
    assert not table.over
    assert table.draw_due == 1
    table.draw("YYY")
    assert table.over
    assert sorted(table.hand(0)) == ["RRR", "YYY"]


def test_8_tile_is_drawn_without_room() -> None:
    start = in_nooks(["BGR RRR", "BBB"], bag="BGY BGR", nooks=[LOW], walls=LOW_WALLS)
    table = after(start, f"RGB {LOW}")
    assert table.draw_due == 1
    table.draw("BGY")
    assert table.over
    assert table.hand(0) == ("BGY", "RRR")


def test_8_end_cancels_an_extra_turn() -> None:
    table = after(in_nooks(["BGR RRR", "BBB"], walls=EXTRA_WALLS), f"RGB {LOW}")
    assert table.over


@pytest.mark.parametrize(("options", "over"), [("-", True), ("children", False)])
def test_8_end_depends_on_the_options(options: str, over: bool) -> None:
    # BRB in the high nook: blue meets blue at one end, red meets green in the middle.
    table = after(in_nooks(["BGR", "BRB"], options=options), f"RGB {LOW}")
    assert table.over is over
    if not over:
        assert points(table, f"BRB {HIGH}") == 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_8_three_exchanges_per_player_in_a_row_end_the_game(players: int) -> None:
    table = axio.new_game("trio", players, seed=6)
    for n in range(3 * players):
        assert not table.over
        assert table.turn == n % players
        table.play(f"exchange {table.hand(n % players)[0]}")
    assert table.over
    assert [len(table.hand(seat)) for seat in range(players)] == [3] * players
    assert table.in_bag == 80 - 3 * players
    assert table.result is not None


def test_8_placement_resets_the_count_of_exchanges() -> None:
    start = position([], ["RGB RRR BBB", "YYY GGG"], exchanges=5)
    assert after(start, "exchange BBB", "draw GYG").over
    table = after(start, "RGB g11-g12-g13", "draw RYR")
    for n in range(6):
        assert not table.over
        table.play(f"exchange {table.hand(1 - n % 2)[0]}")
        table.draw(next(iter(table.unseen)))
    assert table.over


def test_8_exchanges_do_not_end_a_solo_game() -> None:
    table = axio.new_game("trio", 1, seed=6)
    for _ in range(25):  # 3 tiles each time, and 77 in the bag
        table.play("exchange " + " ".join(table.hand(0)))
        assert not table.over
    assert table.in_bag == 77 - 75


# ---------------------------------------------------------------- 9: who wins


def test_9_highest_score_wins() -> None:
    assert ranks(17, 23) == (2, 1)
    assert ranks(40, 7, 31, 100) == (2, 4, 3, 1)
    assert ranks(0, 300) == (2, 1)


def test_9_equal_scores_share_a_rank() -> None:
    assert ranks(12, 12, 3) == (1, 1, 3)
    assert ranks(5, 9, 5, 9) == (3, 1, 3, 1)
    assert ranks(8, 2, 2, 1) == (1, 2, 2, 4)
    assert ranks(0, 0) == (1, 1)


# ---------------------------------------------------------------- 10: options


def test_10_children_need_one_matching_edge_only() -> None:
    # f13 beside green and blue, h13 below yellow: only the first matches, and only it scores.
    plain, children = (position([], ["GRR YRY", ""], options=options) for options in ("-", "children"))
    assert refusal(plain, "GRR f13-g13-h13") is Reason.COLOURS_DO_NOT_MATCH
    assert points(children, "GRR f13-g13-h13") == 1
    assert refusal(plain, "YRY f13-g13-h13") is Reason.COLOURS_DO_NOT_MATCH
    assert points(children, "YRY f13-g13-h13") == 1


def test_10_children_need_at_least_one_matching_edge() -> None:
    at = position([], ["RRR GRG", ""], options="children")
    assert refusal(at, "RRR f13-g13-h13") is Reason.NO_EDGE_MATCHES  # beside green, blue and yellow
    assert refusal(at, "GRG g11-g12-g13") is Reason.NO_EDGE_MATCHES  # red is in the middle
    assert refusal(at, "RRR b12-b13-b14") is Reason.NO_EDGE_MATCHES  # nothing around


def test_10_children_score_stars_and_extra_turns() -> None:
    # h11 and i11, a star, match red below them; g11 is yellow above red: 2 edges, doubled.
    at = position(BELOW, ["YRR", ""], options="children")
    assert points(at, "YRR g11-h11-i11") == 4
    table = after(position([BESIDE], ["RGB YYY", "GGG"], options="children"), "RGB g11-g12-g13", "draw BBB")
    assert (table.scores[0], table.turn) == ({"points": 3}, 0)


def test_10_short_removes_forty_tiles_before_the_deal() -> None:
    table = axio.Table(find_variant("trio", 2, {"short": True}))
    assert table.draw_due == 40
    table = axio.new_game("trio", 2, seed=2, options={"short": True})
    assert table.in_bag == 40 - 6
    first = table.events[0]
    assert isinstance(first, Removed)
    assert len(first.tiles) == 40
    assert len([event for event in table.events if isinstance(event, Removed)]) == 1
    others = axio.new_game("trio", 2, seed=3, options={"short": True}).events[0]
    assert others != first  # at random


def test_10_record_contains_the_removed_tiles() -> None:
    kinds = list(find_variant("trio", 2).kinds)
    table = short_table(kinds, "RRR GGG BBB", "YYY RGB GBR")
    record = axio.record_of(table)
    assert record.events[0] == Removed(tuple(kinds))
    again = axio.replay(axio.Record.parse(record.to_json()))
    assert again.position == table.position


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_10_removed_tiles_are_hidden_in_views(seat: int | None) -> None:
    # Either one tile of each kind is removed, or two of half of the kinds.
    kinds = list(find_variant("trio", 2).kinds)
    dealt = ("RRR GGG BBB", "YYY RGB GBR")
    held = {same_tile(tile) for hand in dealt for tile in hand.split()}
    free = [tile for tile in kinds if tile not in held]
    one = short_table(kinds, *dealt).view(seat)
    two = short_table([*free[:20], *free[:20]], *dealt).view(seat)
    assert one.events[0] == Removed(("?",) * 40)
    assert one.position == two.position
    assert one.events == two.events
    assert one.unseen == two.unseen
    assert one.in_bag == two.in_bag == 34
    known = 0 if seat is None else 3
    assert sum(one.unseen.values()) == 80 - known


def test_10_removed_tiles_do_not_continue_a_short_game() -> None:
    # All tiles that fit the high nook are removed.
    table = after(in_nooks(["BGR RRR", "BBB"], options="short"), f"RGB {LOW}")
    assert table.over


def test_10_both_options_together() -> None:
    table = axio.new_game("trio", 2, seed=2, options={"short": True, "children": True})
    assert table.options == {"short": True, "children": True}
    assert table.in_bag == 34


# ---------------------------------------------------------------- 11: alone


def test_11_solo_exchanged_tiles_leave_the_game() -> None:
    start = position([], ["RGB YYY BBB"])
    assert start.in_bag == 77
    table = after(start, "exchange RGB YYY", "draw GYG RYR")
    assert table.in_bag == 75
    left = Counter(table.unseen)
    assert (left["BGR"], left["YYY"]) == (1, 1)  # of two each
    assert table.turn == 0


def test_11_solo_exchanges_can_empty_the_bag() -> None:
    start = in_nooks(["RRR BBB"], bag="YYY BGY")
    table = after(start, "exchange RRR", "draw YYY")
    assert table.in_bag == 1
    table = after(start, "exchange RRR BBB", "draw YYY BGY")
    assert table.in_bag == 0
    assert kinds_of_move(table) == {"place"}
    table = after(start, "exchange RRR", "draw BGY", "exchange BGY")
    table.draw("YYY")
    assert table.over  # the last fitting tile has left the game


def test_11_solo_three_matching_edges_give_3_points() -> None:
    table = after(position([BESIDE], ["RGB YYY BBB"]), "RGB g11-g12-g13", "draw GYG")
    assert table.scores[0] == {"points": 3 + 3}
    at = position(["RGB f11-f12-f13"], ["RGB"])
    assert points(at, "RGB g11-g12-g13") == 4 + 3  # four edges: still 3


def test_11_solo_two_matching_edges_give_no_bonus() -> None:
    assert points(position([], ["GRY"]), "GRY f13-g13-h13") == 2
    assert points(position(BELOW[1:], ["RGR"]), "RGR g11-h11-i11") == 4  # two on a star


def test_11_solo_star_does_not_double_the_bonus() -> None:
    assert points(position(BELOW, ["RRR"]), "RRR g11-h11-i11") == 2 * 3 + 3


RULES: TestsByRule = by_rule(globals())
