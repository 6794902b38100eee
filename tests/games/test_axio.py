"""Rules of axio: board, placement, scoring and pyramids (1-8), and `RULES`, the tests by rule.

`test_axio_turn` tests turn and end (9-15), `test_axio_solo` the solo game (16-18).
"""

from __future__ import annotations

import pytest

from axiogames import Reason, Table, new_game
from axiogames.games import find_variant
from tests.games import test_axio_solo as solo
from tests.games import test_axio_turn as turn
from tests.games.numbered import TestsByRule, by_rule
from tests.games.playing import table_at as table
from tests.games.positions_dominoes import (
    cells,
    dealt,
    draw_all,
    may,
    on_board,
    picture,
    play,
    position,
    reason,
    spots,
)

PRINTED = {"g7": "P", "g11": "R", "k7": "G", "g3": "B", "c7": "O"}
COUNTS = pytest.mark.parametrize("players", [1, 2, 3, 4])


# ------------------------------------------------------------ 1-3: board and tiles


@pytest.mark.parametrize(
    ("players", "letters", "numbers"),
    [
        (1, "cdefghijk", range(3, 12)),
        (2, "cdefghijk", range(3, 12)),
        (3, "bcdefghijkl", range(2, 13)),
        (4, "abcdefghijklm", range(1, 14)),
    ],
)
def test_1_play_area_depends_on_the_number_of_players(players: int, letters: str, numbers: range) -> None:
    area = {f"{letter}{number}" for letter in letters for number in numbers}
    assert cells(position(players=players)) == area - set(PRINTED)


@pytest.mark.parametrize(("players", "move"), [(1, "b5-c5"), (2, "g11-g12"), (3, "a6-b6"), (4, "m13-m14")])
def test_1_tile_beyond_the_edge_is_refused(players: int, move: str) -> None:
    assert reason(position(players=players, hands=["RG"]), f"RG {move}") == Reason.OUTSIDE


@COUNTS
def test_1_cell_names_are_the_same_for_all_numbers_of_players(players: int) -> None:
    # In every play area, d5 and c5 are to the left of e5, and g8 is next to g7.
    at = position("c d e\n5 R R .", players=players, hands=["RP"])
    assert at.gain("RP e5-e6") == {"R": 2}
    assert at.gain("PR g8-h8") == {"P": 1}


@pytest.mark.parametrize(("players", "from_below", "left"), [(1, 2, 4), (2, 2, 4), (3, 3, 5), (4, 4, 6)])
def test_1_letters_are_columns_and_numbers_rows(players: int, from_below: int, left: int) -> None:
    at = dealt("axio", "RG", players=players)
    at.play("RG g4-h4")
    rows = at.position.split()[3].removeprefix("board=").split("/")  # from the top
    assert rows[-from_below] == f"{left}RG{left - 1}"  # the same number of squares on both sides of g


@COUNTS
def test_2_five_squares_are_printed(players: int) -> None:
    assert dict(new_game("axio", players, seed=1).content().printed) == PRINTED


@COUNTS
@pytest.mark.parametrize(
    ("spot", "printed"),
    [("g8-h8", "P"), ("g10-h10", "R"), ("j7-i7", "G"), ("g4-h4", "B"), ("d7-e7", "O")],
)
def test_2_printed_square_counts_as_a_symbol(players: int, spot: str, printed: str) -> None:
    for colour in "RGBOP":
        other = "G" if colour == "R" else "R"
        at = position(players=players, hands=[colour + other])
        assert at.gain(f"{colour}{other} {spot}") == ({colour: 1} if colour == printed else {})


@COUNTS
@pytest.mark.parametrize("move", ["g7-g8", "g10-g11", "k7-k8", "f3-g3", "c7-d7"])
def test_2_printed_square_cannot_be_covered(players: int, move: str) -> None:
    assert reason(position(players=players, hands=["RG"]), f"RG {move}") == Reason.OCCUPIED


def test_3_tile_set_has_100_tiles() -> None:
    mixed = {"RG": 8, "RB": 8, "RO": 8, "RP": 8, "GB": 8, "GO": 8, "GP": 8, "BO": 8, "BP": 8, "OP": 8}
    doubles = {"RR": 4, "GG": 4, "BB": 4, "OO": 4, "PP": 4}
    before_the_deal = Table(find_variant("axio", 2))
    assert before_the_deal.unseen == mixed | doubles
    assert before_the_deal.in_bag == 100


def test_3_tile_can_be_placed_in_both_orientations() -> None:
    at = position("c\n6 B\n5 R", hands=["RB"])
    # In one orientation both halves are next to their colour, in the other neither.
    assert at.gain("RB d5-d6") == {"R": 1, "B": 1}
    assert at.gain("BR d5-d6") == {}
    moves = [str(move) for move in at.legal_moves() if set(move.at) == {"d5", "d6"}]
    assert sorted(moves) == ["BR d5-d6", "RB d5-d6"]
    assert len(spots(at)) * 2 == len(at.legal_moves())


def test_3_double_has_one_orientation() -> None:
    at = position(hands=["RR"])
    assert len(spots(at)) == len(at.legal_moves())


# ------------------------------------------------------------ 4-5: legal placements


def test_4_tile_covers_two_adjacent_squares() -> None:
    at = position(hands=["RG"], players=1)
    # 9x9 squares have 2 * 9 * 8 = 144 pairs, less 4 at the centre square and 3 at each of four side squares.
    assert len(spots(at)) == 144 - 4 - 4 * 3
    assert len(at.legal_moves()) == 2 * 128
    for apart in ("d4-e5", "d4-d6", "d4-f4", "d4-d4", "d4-e4-f4", "k5-c6"):
        assert reason(at, f"RG {apart}") == Reason.WRONG_SHAPE


def test_4_both_squares_must_be_empty() -> None:
    at = position("d e\n5 R G", hands=["RG"])
    assert reason(at, "RG c5-d5") == Reason.OCCUPIED
    assert reason(at, "RG e5-e6") == Reason.OCCUPIED
    assert reason(at, "RG d5-e5") == Reason.OCCUPIED
    assert may(at, "RG d6-e6")


def test_4_tile_need_not_touch_anything() -> None:
    assert position("d e\n5 R G", hands=["RG"]).gain("RG i9-i10") == {}


def test_4_tile_must_be_in_hand() -> None:
    assert reason(position(hands=["RG BB"]), "RB d4-d5") == Reason.NOT_IN_HAND


FIRST = ("g8-h8", "g10-h10", "k8-k9", "g4-g5", "c6-c5")  # each touches another printed square


@COUNTS
def test_5_first_tile_must_touch_a_printed_square(players: int) -> None:
    at = dealt("axio", "RG" if players == 1 else "RG RG RG RG RG", players=players)
    for spot in FIRST:
        assert may(at, f"RG {spot}")
    assert reason(at, "RG e5-e6") == Reason.FIRST_TILE
    assert reason(at, "RG f6-f5") == Reason.FIRST_TILE  # f6 and g7 share only a corner
    assert reason(at, "RG g9-h9") == Reason.FIRST_TILE  # g7 and g11 are two squares away


def test_5_number_of_places_for_a_first_tile() -> None:
    # Around g7, four squares with 3 free sides each: 12 places. Around each printed square at an edge, one
    # square with 3 free sides and two with 2: 7 places.
    assert len(spots(dealt("axio", "RG", players=1))) == 12 + 4 * 7


@pytest.mark.parametrize("players", [2, 3, 4])
def test_5_first_tiles_must_touch_different_printed_squares(players: int) -> None:
    at = dealt("axio", *["RG GB BO OP RP"] * players, players=players)
    second_choice = ("f7-e7", "f11-e11", "j7-i7", "f3-e3", "d7-d8")
    for seat in range(players):
        assert at.turn == seat
        for taken in range(seat):
            assert reason(at, f"RG {second_choice[taken]}") == Reason.FIRST_TILE
        for free in range(seat, 5):
            assert may(at, f"RG {second_choice[free]}")
        play(at, f"RG {FIRST[seat]}")


def test_5_second_tile_can_be_placed_anywhere() -> None:
    at = play(dealt("axio", "RG RB RO RP GB", "RG RB RO RP GB"), "RG g8-h8", "RG g10-h10")
    assert at.turn == 0
    assert may(at, "RB e5-e6")
    assert may(at, "RB f11-e11")  # at the other player's printed square


def test_5_only_first_tiles_claim_a_printed_square() -> None:
    # Red reaches 18 with the first tile, so seat 0 places a second one before seat 1 has begun.
    at = table(position(begun=False, hands=["RB GB GB GB GB", "OP"], scores=[{"R": 17}]))
    at.play("RB g10-h10")
    play(at, "GB g8-h8")
    assert at.turn == 1
    assert reason(at, "OP f11-e11") == Reason.FIRST_TILE
    assert may(at, "OP f7-e7")


# ------------------------------------------------------------ 6: the two halves


def test_6_each_half_scores_in_three_directions() -> None:
    at = position(
        """
             c d e f g
        11   . . R . R
        10   . . R . .
         9   R R . . B
         8   . . R . .
        """,
        hands=["RB"],
    )
    # Red on e9: two to the left, two above, one below. Blue on f9: one to the right.
    assert at.gain("RB e9-f9") == {"R": 2 + 2 + 1, "B": 1}


def test_6_upright_tile_scores() -> None:
    at = position("e\n8 B\n7 B\n4 R\n3 R", hands=["RB"])
    assert at.gain("RB e5-e6") == {"R": 2, "B": 2}
    assert at.gain("BR e6-e5") == {"R": 2, "B": 2}  # the same placement


def test_6_both_halves_of_a_double_score() -> None:
    at = position("d e f\n6 . . G\n5 G . .", hands=["GG"])
    assert at.gain("GG e5-f5") == {"G": 1 + 1}


def test_6_own_symbols_do_not_count() -> None:
    at = position("c d e f g h\n9 B R . . R R", hands=["RR RB"])
    # The left half counts one red, the right half two. Neither counts the other half or symbols beyond it.
    assert at.gain("RR e9-f9") == {"R": 1 + 2}
    assert at.gain("RB e9-f9") == {"R": 1}


@pytest.mark.parametrize(
    "board",
    [
        pytest.param("d e f g\n9 O R B R", id="another colour"),
        pytest.param("e f g\n9 R . R", id="an empty square"),
        pytest.param("e f g\n10 . B .\n9 R ^ R\n8 . B .", id="a pyramid"),
    ],
)
def test_6_counting_stops(board: str) -> None:
    # One red is to the left of h9; symbols beyond f9 do not count.
    assert position(board, hands=["RO"]).gain("RO h9-i9") == {"R": 1}


def test_6_pyramid_stops_the_count_from_both_sides() -> None:
    at = table(position("e f g\n10 . B .\n9 R ^ R\n8 . B .", hands=["RO", "RO"]))
    play(at, "RO h9-i9")
    assert at.gain("RO d9-d8") == {"R": 1}  # e9; g9 and the new h9 are beyond f9


@pytest.mark.parametrize(
    ("board", "move"),
    [("c k\n6 R .\n5 . R", "OR i5-j5"), ("j\n11 R\n3 R", "RO j10-i10"), ("c k\n9 R .\n8 . R", "RO c8-d8")],
)
def test_6_counting_stops_at_the_edge(board: str, move: str) -> None:
    # One red is between the tile and the edge, the other at the opposite edge.
    assert position(board, hands=["RO"]).gain(move) == {"R": 1}


@pytest.mark.parametrize(
    ("players", "row", "reds"),
    [
        (1, "c d j k\n5 R R R R", 2),
        (2, "c d j k\n5 R R R R", 2),
        (3, "b c d k\n5 R R R R", 3),
        (4, "a b c d\n5 R R R R", 4),
    ],
)
def test_6_edge_of_the_play_area_stops_the_count(players: int, row: str, reds: int) -> None:
    assert position(row, players=players, hands=["RO"]).gain("RO e5-e6") == {"R": reds}


def test_6_printed_squares_count_in_lines() -> None:
    at = position("g\n6 P\n5 P", hands=["PO"])
    assert at.gain("PO g8-h8") == {"P": 3}  # g7 is printed, then g6 and g5


# ------------------------------------------------------------ 7-8: pyramids


def test_7_isolated_square_scores_adjacent_symbols() -> None:
    at = position("d e f\n7 . R .\n6 G . .\n5 . B .\n4 . P .", hands=["OG"])
    # Orange f6 and green f5 score nothing; then e6 has R above, G left, B below, and O on the right.
    preview = at.preview("OG f6-f5")
    assert preview.gain == {"R": 1, "G": 1, "B": 1, "O": 1}
    assert preview.pyramids == ("e6",)


def test_7_pyramid_counts_every_symbol_of_a_colour() -> None:
    at = position("d e f\n7 . R .\n6 R . .\n5 . B .\n4 . P .", hands=["RR"])
    # Red f7 scores 1 by e7. The pyramid on e6 has three reds (e7, d6, the tile's f6) and blue e5.
    assert at.gain("RR f6-f7") == {"R": 1 + 3, "B": 1}


@pytest.mark.parametrize(
    ("players", "gain", "pyramids"),
    [(2, {"G": 1, "R": 1}, ("c3",)), (3, {}, ()), (4, {}, ())],
)
def test_7_edge_of_the_play_area_closes_a_side(
    players: int, gain: dict[str, int], pyramids: tuple[str, ...]
) -> None:
    at = position("c\n5 O\n4 G", players=players, hands=["RB"])
    # c3 is a corner for two players: green above, red on the right. For three and four it is not.
    preview = at.preview("RB d3-e3")
    assert (preview.gain, preview.pyramids) == (gain, pyramids)


def test_7_printed_square_closes_a_side_and_scores() -> None:
    at = position("f g h\n8 R . G\n7 . P .", hands=["BO"])
    preview = at.preview("BO g9-g10")
    assert preview.gain == {"R": 1, "G": 1, "B": 1, "P": 1}
    assert preview.pyramids == ("g8",)


def test_7_placement_can_isolate_several_squares() -> None:
    at = position(
        """
            d e f g h
        7   . R . P .
        6   R . . . G
        5   . B . G .
        4   . P . R .
        3   . . R B .
        """,
        hands=["OB"],
    )
    # Blue f5 scores 1 by e5. Then three pyramids:
    # e6: R R B and the tile's O; g6: P G G and the tile's O; f4: P R R and the tile's B.
    preview = at.preview("OB f6-f5")
    assert preview.gain == {"R": 2 + 2, "G": 2, "B": 1 + 1 + 1, "O": 1 + 1, "P": 1 + 1}
    assert sorted(preview.pyramids) == ["e6", "f4", "g6"]


def test_7_two_adjacent_empty_squares_are_not_isolated() -> None:
    at = position("c d\n6 O .\n5 G .", hands=["RB"])
    preview = at.preview("RB d3-d4")  # c3 and c4 are isolated together
    assert (preview.gain, preview.pyramids) == ({}, ())


def test_7_isolated_square_scores_once() -> None:
    at = table(position("c d\n6 B P\n5 O .\n4 G .", hands=["RB", "OP"]))
    play(at, "RB d3-e3")
    assert on_board(at).pyramids == ("c3",)
    preview = at.preview("OP d4-d5")  # beside c4 and d3, the sides of c3; purple d5 scores by d6
    assert (preview.gain, preview.pyramids) == ({"P": 1}, ())


TWENTY = """
         c d e f g h i j k
    11   B ^ B ^ R ^ B ^ B
    10   ^ G ^ G G G ^ G ^
     9   B ^ B ^ B ^ B ^ B
     8   ^ G ^ G G B ^ G ^
     7   O ^ B ^ P ^ B ^ G
     6   G B G B G B G B G
     5   . . . . . . . . .
     4   O B . . . . . B G
"""


def test_8_twenty_first_pyramid_moves_the_oldest() -> None:
    assert list(picture(TWENTY).values()).count("^") == 20
    at = table(position(TWENTY, hands=["RO"], oldest="h7 e8 d11"))
    assert at.play("RO i3-j3") == {"G": 1, "O": 1}  # k3: green above, orange on the left
    drawn = on_board(at)
    assert drawn.spent == ("h7",)
    assert len(drawn.pyramids) == 20
    assert "k3" in drawn.pyramids


def test_8_pyramids_move_from_oldest_to_newest() -> None:
    at = play(table(position(TWENTY, hands=["RO", "PR"], oldest="h7 e8 d11")), "RO i3-j3")
    assert at.play("PR d3-e3") == {"O": 1, "P": 1}  # c3: orange above, purple on the right
    assert sorted(on_board(at).spent) == ["e8", "h7"]
    assert len(on_board(at).pyramids) == 20


def test_8_spent_square_stays_empty_and_stops_the_count() -> None:
    board = """
         c d e f g h i j k
    11   B ^ B ^ R ^ B ^ B
    10   ^ G ^ G G G ^ G ^
     9   B ^ B ^ B ^ B ^ B
     8   ^ G ^ G G B ^ G O
     7   O ^ B ^ P ^ B ^ G
     6   G B G B G B G B G
     5   . R ^ R . . . . .
     4   . . B . . . . B G
    """
    at = play(table(position(board, hands=["RO RO", "RO"], oldest="e5")), "RO i3-j3")
    assert on_board(at).spent == ("e5",)
    assert "e5" not in cells(at)
    assert at.play("RO g5-h5") == {"R": 1}  # f5; d5 is beyond e5
    assert on_board(at).spent == ("e5",)
    draw_all(at)
    assert at.play("RO c5-c4") == {"R": 1}  # d5; f5 and the new g5 are beyond e5


def test_8_supply_is_used_up_before_a_pyramid_moves() -> None:
    nineteen = TWENTY.replace("8   ^ G ^ G G B ^ G ^", "8   ^ G ^ G G B ^ G O")
    at = table(position(nineteen.replace("4   O B . . . .", "4   O B . . . P"), hands=["RO"], oldest="h7"))
    # h3: printed blue, purple above, red on the right; k3: green above, orange on the left.
    assert at.play("RO i3-j3") == {"B": 1, "P": 1, "R": 1, "G": 1, "O": 1}
    assert on_board(at).spent == ("h7",)
    assert len(on_board(at).pyramids) == 20
    assert {"h3", "k3"} <= set(on_board(at).pyramids)


RULES: TestsByRule = {**by_rule(globals()), **turn.RULES, **solo.RULES}
