"""Rules of hex: board, placement and scoring (1-5), and `RULES`, the tests by rule.

`test_hex_turn` tests turn, end and the solo game (6-7).

Pictures show the oblique grid as a square one, with letters to the right and numbers upwards. The neighbours
of a cell are then the cells to its left, right, top, bottom, upper left and lower right.
"""

from __future__ import annotations

from functools import partial

import pytest

from axiogames import Reason, Table, new_game
from axiogames.games import find_variant
from tests.games import test_hex_turn as turn
from tests.games.numbered import TestsByRule, by_rule
from tests.games.playing import table_at as table
from tests.games.positions_dominoes import cells, dealt, may, on_board, play, position, reason, spots

COUNTS = pytest.mark.parametrize("players", [1, 2, 3, 4])

# The corners of the area with side 6, clockwise from the top left.
CORNERS = {
    1: ("a11", "f11", "k6", "k1", "f1", "a6"),
    2: ("a11", "f11", "k6", "k1", "f1", "a6"),
    3: ("b12", "g12", "l7", "l2", "g2", "b7"),
    4: ("c13", "h13", "m8", "m3", "h3", "c8"),
}
# For each corner of side 6, a pair of cells of which only the first touches the corner.
BESIDE = ("b11-c11", "e11-e10", "k5-k4", "j1-i1", "f2-f3", "a7-b7")


at_board = partial(position, game="hex")


# ------------------------------------------------------------ 1-3: board and tiles


@pytest.mark.parametrize(
    ("players", "letters", "low", "high", "count"),
    [
        (1, "abcdefghijk", 7, 17, 91),
        (2, "abcdefghijk", 7, 17, 91),
        (3, "abcdefghijklm", 8, 20, 127),
        (4, "abcdefghijklmno", 9, 23, 169),
    ],
)
def test_1_cells_by_the_sum_of_letter_and_number(
    players: int, letters: str, low: int, high: int, count: int
) -> None:
    numbers = range(1, len(letters) + 1)
    area = {f"{letters[x - 1]}{y}" for x in numbers for y in numbers if low <= x + y <= high}
    assert len(area) == count
    assert cells(at_board(players=players)) == area - set(CORNERS[players])


@pytest.mark.parametrize(("players", "move"), [(1, "a5-a6"), (2, "g11-g10"), (3, "m8-l8"), (4, "p5-o5")])
def test_1_cells_beyond_the_edge_are_refused(players: int, move: str) -> None:
    assert reason(at_board(players=players, hands=["RG"]), f"RG {move}") == Reason.OUTSIDE


@pytest.mark.parametrize(
    ("players", "centre", "around"),
    [
        (1, "f6", "e6 g6 f5 f7 g5 e7"),
        (2, "f6", "e6 g6 f5 f7 g5 e7"),
        (3, "g7", "f7 h7 g6 g8 h6 f8"),
        (4, "h8", "g8 i8 h7 h9 i7 g9"),
    ],
)
def test_1_a_cell_has_six_neighbours(players: int, centre: str, around: str) -> None:
    at = at_board(players=players)
    assert {cell for spot in spots(at) if centre in spot for cell in spot - {centre}} == set(around.split())


@COUNTS
def test_1_i7_and_h8_are_neighbours(players: int) -> None:
    at = at_board(players=players, hands=["RG"])
    assert may(at, "RG i7-h8")
    assert reason(at, "RG h7-i8") == Reason.WRONG_SHAPE  # the other diagonal


@COUNTS
def test_2_corners_of_the_side_6_area_are_printed(players: int) -> None:
    printed = new_game("hex", players, seed=1).content().printed
    assert set(printed) == set(CORNERS[players])
    assert sorted(printed.values()) == sorted("RGBOPY")  # one of each colour
    # Corners have the same colours on boards of all sizes.
    small = new_game("hex", 2, seed=1).content().printed
    assert [printed[cell] for cell in CORNERS[players]] == [small[cell] for cell in CORNERS[2]]


@pytest.mark.parametrize("corner", range(6))
def test_2_printed_symbol_counts(corner: int) -> None:
    printed = new_game("hex", 2, seed=1).content().printed[CORNERS[2][corner]]
    for colour in "RGBOPY":
        other = "G" if colour == "R" else "R"
        gain = at_board(hands=[colour + other]).gain(f"{colour}{other} {BESIDE[corner]}")
        assert gain == ({colour: 1} if colour == printed else {})


@pytest.mark.parametrize("move", ["a11-b11", "f11-f10", "k6-j6", "k1-j1", "f1-f2", "a6-a7"])
def test_2_printed_symbol_cannot_be_covered(move: str) -> None:
    assert reason(at_board(hands=["RG"]), f"RG {move}") == Reason.OCCUPIED


def test_3_tile_set_has_120_tiles() -> None:
    mixed = ("RG", "RB", "RO", "RP", "RY", "GB", "GO", "GP", "GY", "BO", "BP", "BY", "OP", "OY", "PY")
    doubles = ("RR", "GG", "BB", "OO", "PP", "YY")
    before_the_deal = Table(find_variant("hex", 2))
    assert before_the_deal.unseen == dict.fromkeys(mixed, 6) | dict.fromkeys(doubles, 5)
    assert before_the_deal.in_bag == 120


@pytest.mark.parametrize("players", [2, 3, 4])
def test_3_hands_have_six_tiles(players: int) -> None:
    at = new_game("hex", players, seed=1)
    assert [len(at.hand(seat)) for seat in range(players)] == [6] * players
    assert at.in_bag == 120 - 6 * players


# ------------------------------------------------------------ 4: legal placements


def test_4_tile_covers_two_neighbouring_cells() -> None:
    at = at_board(players=1, hands=["RG"])
    # Side 6 has 240 pairs of neighbours (91 cells with 6 sides each, less the 66 sides at the edge, halved);
    # each of the six printed corners has 3 of them.
    assert len(spots(at)) == (91 * 6 - 66) // 2 - 6 * 3
    assert len(at.legal_moves()) == 2 * 222
    for apart in ("f6-g7", "f6-e5", "f6-h6", "f6-f6", "f6-f8", "f6-g6-h6"):
        assert reason(at, f"RG {apart}") == Reason.WRONG_SHAPE


def test_4_both_cells_must_be_empty() -> None:
    at = at_board("e f\n6 R G", hands=["RG"])
    assert reason(at, "RG f6-g6") == Reason.OCCUPIED
    assert reason(at, "RG d7-e6") == Reason.OCCUPIED
    assert may(at, "RG e7-f7")


def test_4_tile_can_be_placed_anywhere_in_both_orientations() -> None:
    at = at_board("e f\n6 R G", hands=["RG"])
    assert at.gain("RG i3-i4") == {}
    assert at.gain("GR i3-i4") == {}


def test_4_tile_must_be_in_hand() -> None:
    assert reason(at_board(hands=["RG YY"]), "RY f6-g6") == Reason.NOT_IN_HAND


@pytest.mark.parametrize("players", [1, 2])
def test_4_first_tile_must_touch_a_printed_symbol(players: int) -> None:
    at = dealt("hex", "RG" if players == 1 else "RG RG RG RG RG RG", players=players)
    for beside in BESIDE:
        assert may(at, f"RG {beside}")
    assert reason(at, "RG f6-g6") == Reason.FIRST_TILE
    assert reason(at, "RG c11-d11") == Reason.FIRST_TILE  # one cell away from a11
    # Around a corner: three cells, with 3, 3 and 5 free sides, two of which are between them.
    assert len(spots(at)) == 6 * (3 + 3 + 5 - 2)


@pytest.mark.parametrize(("players", "outside"), [(3, ("a12-a11", "b13-c12")), (4, ("b13-a14", "b14-a15"))])
def test_4_printed_symbols_of_larger_boards_can_be_touched_from_outside(
    players: int, outside: tuple[str, str]
) -> None:
    at = dealt("hex", "RG RG RG RG RG RG", players=players)
    for beside in outside:
        assert may(at, f"RG {beside}")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_4_first_tiles_must_touch_different_printed_symbols(players: int) -> None:
    at = dealt("hex", *["RG RB RO RP RY GB"] * players, players=players)
    # Two places at each printed symbol: a pair towards the middle and an adjacent one.
    places = {
        2: [("b10-c9", "a10-a9"), ("f10-f9", "e11-d11")],
        3: [("c11-d10", "b11-b10"), ("g11-g10", "f12-e12"), ("k7-j7", "l6-l5")],
        4: [("d12-e11", "c12-c11"), ("h12-h11", "g13-f13"), ("l8-k8", "m7-m6"), ("l4-k5", "l3-k3")],
    }[players]
    for seat, (mine, _) in enumerate(places):
        assert at.turn == seat
        for _, taken in places[:seat]:
            assert reason(at, f"RG {taken}") == Reason.FIRST_TILE
        for _, free in places[seat:]:
            assert may(at, f"RG {free}")
        play(at, f"RG {mine}")
    assert may(at, "RB f6-f7")  # seat 0 again: a second tile can be placed anywhere


# ------------------------------------------------------------ 5: the two halves


def test_5_each_half_scores_in_five_directions() -> None:
    at = at_board(
        """
            d e f g
        8   . . . .
        7   . R R .
        6   R R . .
        5   . . R R
        """,
        hands=["RB"],
    )
    # Red on f6: two at e6, one each at e7, f7, f5 and g5. Blue on g6 finds nothing.
    assert at.gain("RB f6-g6") == {"R": 2 + 1 + 1 + 1 + 1}


@pytest.mark.parametrize("other", ["e6", "g6", "f5", "f7", "g5", "e7"])
def test_5_the_direction_of_the_other_half_does_not_count(other: str) -> None:
    # Two reds in each of the six directions from f6, except on the cell of the other half.
    lines = ("e6", "d6", "g6", "h6", "f5", "f4", "f7", "f8", "g5", "h4", "e7", "d8")
    board = {cell: "R" for cell in lines if cell != other} | {"k3": "O"}
    assert at_board(board, hands=["RB"]).gain(f"RB f6-{other}") == {"R": 5 * 2}


@pytest.mark.parametrize(
    ("board", "points"),
    [
        ("d e f\n8 R . .\n7 . R .", 2),
        ("f g h\n5 . R .\n4 . . R", 2),
        ("f\n9 B\n8 R\n7 R\n5 R", 3),
        ("c d e\n6 R R R\n5 . . O", 3),
    ],
)
def test_5_lines_are_straight(board: str, points: int) -> None:
    assert at_board(board, hands=["RO"]).gain("RO f6-g6") == {"R": points}


def test_5_other_diagonal_is_not_a_line() -> None:
    at = at_board("e f g\n7 . . R\n6 . . .\n5 R . .", hands=["RO"])
    assert at.gain("RO f6-f7") == {}


@pytest.mark.parametrize(
    "board",
    [
        pytest.param("b c d e\n6 O R B R", id="another colour"),
        pytest.param("c d e\n6 R . R", id="an empty cell"),
    ],
)
def test_5_counting_stops(board: str) -> None:
    assert at_board(board, hands=["RO"]).gain("RO f6-g6") == {"R": 1}


@pytest.mark.parametrize(
    ("red", "move"),
    [("i8 a9", "RO h8-g8"), ("b5 k4", "RO c5-c6"), ("e11 e2", "RO e10-d10"), ("i1 b11", "RO i2-h2")],
)
def test_5_counting_stops_at_the_edge(red: str, move: str) -> None:
    # One red is between the tile and the edge, the other at another edge.
    assert at_board(dict.fromkeys(red.split(), "R"), hands=["RO"]).gain(move) == {"R": 1}


@pytest.mark.parametrize(("players", "letters"), [(1, "ijk"), (2, "ijk"), (3, "ijklm"), (4, "ijklmno")])
def test_5_edge_of_the_board_stops_the_count(players: int, letters: str) -> None:
    board = {f"{letter}4": "R" for letter in letters} | {"h9": "O"}
    assert at_board(board, players=players, hands=["RO"]).gain("RO h4-g4") == {"R": len(letters)}


def test_5_cell_adjacent_to_both_halves_counts_twice() -> None:
    # f7 is a neighbour of f6 and of g6.
    at = at_board("f g\n9 . O\n7 R .\n6 . .", hands=["RR"])
    assert at.gain("RR f6-g6") == {"R": 1 + 1}


def test_5_own_symbols_do_not_count() -> None:
    at = at_board("c d e f g h\n6 O R R . . R", hands=["RR RB"])
    # Two to the left of one half, one to the right of the other.
    assert at.gain("RR f6-g6") == {"R": 2 + 1}
    assert at.gain("RB f6-g6") == {"R": 2}


@pytest.mark.parametrize(
    ("board", "spot"),
    [("g h\n2 O .\n1 . R", "f2-f3"), ("h i\n1 R R", "f2-g2")],
)
def test_5_no_pyramids(board: str, spot: str) -> None:
    # The tile shuts in g1, between the printed f1 and red h1, with one half or both, which scores nothing.
    at = table(at_board(board, hands=["GB"]))
    preview = at.preview(f"GB {spot}")
    assert (preview.gain, preview.pyramids) == ({}, ())
    at.play(f"GB {spot}")
    assert on_board(at).pyramids == ()


RULES: TestsByRule = {**by_rule(globals()), **turn.RULES}
