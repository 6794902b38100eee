"""Invalid input: every error names the value and the reason, and nothing changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axiogames as axio
from axiogames.errors import (
    AxioError,
    IllegalMove,
    InvalidFile,
    InvalidOption,
    InvalidPlayers,
    InvalidRecord,
    ParseError,
    Reason,
    UnknownGame,
)
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime import loops
from axiogames.games.runtime.state import OFFER
from axiogames.model.game_text import read_game, write_game
from axiogames.model.position_text import parse_unchecked
from axiogames.model.record import Record, read_records, record_of, replay
from axiogames.model.table import Table, new_game
from axiogames.players import player
from axiogames.players.engines.seat_tracker import SeatTracker
from axiogames.players.engines.views import read_view
from axiogames.players.match import play_match
from tests.games.conformance.positions import Case, play, twisted
from tests.games.playing import table_at

# ---------------------------------------------------------------- unknown names and numbers


def test_unknown_game_error_lists_the_games() -> None:
    with pytest.raises(UnknownGame, match="unknown game 'chess': choose one of axio, hex, rota, trio"):
        new_game("chess")


@pytest.mark.parametrize("players", [0, 5, -1, True, 2.0, "2"])
def test_invalid_number_of_players_is_refused(players: Any) -> None:
    with pytest.raises(InvalidPlayers, match="is for 1 to 4 players, not"):
        new_game("axio", players)


def test_unknown_option_or_value_is_refused() -> None:
    with pytest.raises(InvalidOption, match="axio has no option 'children': it has no options"):
        new_game("axio", options={"children": True})
    with pytest.raises(InvalidOption, match="trio has no option 'long': its options are children, short"):
        new_game("trio", options={"long": True})
    with pytest.raises(InvalidOption, match="is true or false, not 1"):
        new_game("trio", options={"short": 1})  # type: ignore[dict-item]


def test_unknown_player_is_refused() -> None:
    with pytest.raises(InvalidPlayers, match="unknown player 'deep': choose from random, greedy, balanced"):
        player("deep")


def test_unknown_seat_is_refused() -> None:
    with pytest.raises(AxioError, match="there is no seat 2: 0 to 1"):
        new_game("axio").view(2)


# ---------------------------------------------------------------- illegal moves, each with its reason


def first_where(case: Case, condition: Callable[[Table], bool], twist: str = "plain") -> Table:
    """Return the first table in games of a case for which the condition holds."""
    for n in range(60):
        for table in play(twisted(case, twist), ("balanced", "random"), f"bad input {n}"):
            if condition(table):
                return table
    raise AssertionError("no game has such a position")


def finished(name: str) -> Table:
    return play_match(name, [player("greedy")] * 2, "end")


def with_offer() -> Table:
    return first_where(Case("axio", 2), lambda table: bool(table.state["phase"][0] == OFFER))


def refused_placements(table: Table, reason: Reason) -> Iterator[str]:
    """Yield placements that are illegal for a reason."""
    variant = table.variant
    for action in range(variant.placements):
        if variant.kernels[loops.step](variant.constants, table.state.copy(), action, True) == reason:
            yield str(variant.decode(table.state, action))


def bag_is_empty_and_can_place(table: Table) -> bool:
    moves = table.legal_moves()
    return table.in_bag == 0 and bool(moves) and moves[0].kind == "place"


def illegal() -> Iterator[tuple[str, Reason, Callable[[], tuple[Table, str]]]]:
    """Yield a name, a reason, and a table with a move that is refused for it."""
    square = [
        ("outside the play area", Reason.OUTSIDE, "RR a1-a2"),
        ("unknown cells", Reason.OUTSIDE, "RR z1-z2"),
        ("a colour the game does not have", Reason.NO_SUCH_TILE, "YY g8-g9"),
        ("a tile of another game", Reason.NO_SUCH_TILE, "RGB g8-g9-g10"),
        ("cells that are not neighbours", Reason.WRONG_SHAPE, "RR g8-i8"),
        ("three cells", Reason.WRONG_SHAPE, "RR g8-g9-g10"),
        ("the same cell twice", Reason.WRONG_SHAPE, "RR g8-g8"),
        ("on a printed symbol", Reason.OCCUPIED, "RR g7-g8"),
        ("a tile of another seat", Reason.NOT_IN_HAND, "BB g8-g9"),
        ("a first tile away from the printed symbols", Reason.FIRST_TILE, "RR d4-d5"),
        ("an exchange that is not offered", Reason.EXCHANGE_NOT_ALLOWED, "exchange"),
        ("keeping without an offer", Reason.EXCHANGE_NOT_ALLOWED, "keep"),
        ("passing", Reason.NOT_IN_THIS_GAME, "pass"),
        ("naming a colour", Reason.NOT_IN_THIS_GAME, "RR(P) g8-g9"),
    ]
    for name, reason, move in square:
        yield name, reason, lambda move=move: (new_game("axio", seed=7), move)  # type: ignore[misc]
    yield "after the end", Reason.GAME_OVER, lambda: (finished("axio"), "RR g8-g9")
    yield "before the deal", Reason.DRAW_DUE, lambda: (Table(find_variant("axio", 2)), "RR g8-g9")
    yield "placing instead of answering", Reason.OFFER_OPEN, lambda: (with_offer(), "RR g8-g9")
    yield (
        "exchanging tiles not held",
        Reason.NOT_IN_HAND,
        lambda: ((table := with_offer()), f"exchange {' '.join(['RR'] * len(table.hand(table.turn or 0)))}"),
    )

    def rota(move: str) -> tuple[Table, str]:
        table = first_where(Case("rota", 2), lambda table: "_" not in table.hand(table.turn or 0)[0])
        return table, move.replace("TILE", table.hand(table.turn or 0)[0])

    yield "away from the display", Reason.NOT_BESIDE_DISPLAY, lambda: rota("TILE 40,40")
    yield "around the torus", Reason.NOT_BESIDE_DISPLAY, lambda: rota("TILE 66,0")
    yield "on the display", Reason.OCCUPIED, lambda: rota("TILE 0,0")
    yield "naming without an empty corner", Reason.NOTHING_TO_NAME, lambda: rota("TILE(R) 2,0")
    yield "naming no colour", Reason.NOTHING_TO_NAME, lambda: rota("TILE(Y) 2,0")
    yield "a mirrored tile", Reason.NO_SUCH_TILE, lambda: rota("RBG_ 2,0")
    yield "cells for a position", Reason.WRONG_SHAPE, lambda: rota("TILE a1-a2")
    yield "an exchange in rota", Reason.NOT_IN_THIS_GAME, lambda: rota("exchange")
    yield "another tile", Reason.NOT_IN_HAND, lambda: rota_other()

    def rota_other() -> tuple[Table, str]:
        table = new_game("rota", seed=1)
        return table, f"{next(iter(table.unseen))} 2,0"

    trio, few = Case("trio", 2), "short of tiles"

    def refused(reason: Reason) -> tuple[Table, str]:
        table = first_where(trio, lambda table: table.plies == 6)
        return table, next(refused_placements(table, reason))

    for reason in (Reason.NO_EDGE_MATCHES, Reason.COLOURS_DO_NOT_MATCH, Reason.OCCUPIED, Reason.NOT_IN_HAND):
        yield f"trio {reason.name}", reason, lambda reason=reason: refused(reason)  # type: ignore[misc]
    yield "a bent tile", Reason.WRONG_SHAPE, lambda: (new_game("trio", seed=1), "RGB a1-a2-b2")
    yield "off the board", Reason.OUTSIDE, lambda: (new_game("trio", seed=1), "RGB a16-a17-a18")
    yield "over a black square", Reason.OCCUPIED, lambda: (new_game("trio", seed=1), "RGB a3-b3-c3")
    yield "exchanging nothing", Reason.NOT_IN_HAND, lambda: (new_game("trio", seed=1), "exchange")
    yield (
        "exchanging an unknown tile",
        Reason.NO_SUCH_TILE,
        lambda: (new_game("trio", seed=1), "exchange OOO"),
    )
    yield "keeping", Reason.NOT_IN_THIS_GAME, lambda: (new_game("trio", seed=1), "keep")
    yield (
        "more than the bag holds",
        Reason.EXCHANGE_TOO_MANY,
        lambda: (
            table := first_where(trio, lambda t: 0 < t.in_bag < 3 and t.turn is not None, few),
            f"exchange {' '.join(table.hand(table.turn or 0))}",
        ),
    )
    yield (
        "exchanging with an empty bag",
        Reason.BAG_EMPTY,
        lambda: (
            table := first_where(trio, bag_is_empty_and_can_place, few),
            f"exchange {table.hand(table.turn or 0)[0]}",
        ),
    )
    yield (
        "passing with a legal placement",
        Reason.CAN_PLACE,
        lambda: (first_where(trio, bag_is_empty_and_can_place, few), "pass"),
    )
    yield (
        "passing with tiles in the bag",
        Reason.BAG_NOT_EMPTY,
        lambda: (almost_full(), "pass"),
    )


def almost_full() -> Table:
    """Return a red board with room for one red tile, which is still in the bag."""
    variant = find_variant("trio", 2)
    rows = [row.replace(".", "R").replace("*", "R") for row in variant.setup()["board"]]
    rows[-1] = "3" + rows[-1][3:]
    counters = "scores=0;0 seat=0 phase=place due=0 dealing=0 idle=0 again=0 aside=- removed=-"
    text = f"trio 2 - board={'/'.join(rows)} hands=GGG;BBB bag=RRR1,YYY1,GYG1 {counters}"
    return table_at(axio.Position(*parse_unchecked(text)))


ILLEGAL = list(illegal())


@pytest.mark.parametrize(("name", "reason", "make"), ILLEGAL, ids=[name for name, _, _ in ILLEGAL])
def test_illegal_move_has_a_reason_and_changes_nothing(
    name: str, reason: Reason, make: Callable[[], tuple[Table, str]]
) -> None:
    table, move = make()
    before = table.state.tobytes(), list(table.actions), table.events
    with pytest.raises(IllegalMove) as caught:
        table.play(move)
    assert caught.value.reason is reason
    assert str(caught.value).startswith(str(axio.Move.parse(move)))
    assert (table.state.tobytes(), table.actions, table.events) == before
    with pytest.raises(IllegalMove):
        table.preview(move)
    assert axio.Move.parse(move) not in table.legal_moves()


def test_seat_moves_only_in_its_turn() -> None:
    table = new_game("axio", seed=7)
    with pytest.raises(IllegalMove) as caught:
        table.play(table.legal_moves()[0], seat=1)
    assert caught.value.reason is Reason.NOT_YOUR_TURN
    with pytest.raises(IllegalMove) as caught:
        table.view(1).preview("RR g8-g9")
    assert caught.value.reason is Reason.NOT_YOUR_TURN


def test_wrong_types_of_arguments_are_reported() -> None:
    table = new_game("axio", players=4, seed=7)
    for seat in (-1, 4, 99):
        with pytest.raises(AxioError, match=f"there is no seat {seat}: 0 to 3"):
            table.hand(seat)
    wrong: Any
    for wrong in (None, 0, ["RG"]):
        for use in (table.play, table.preview, table.action_of):
            with pytest.raises(ParseError, match="is not a move: give a Move, or text"):
                use(wrong)
        with pytest.raises(ParseError, match="is not a tile"):
            table.draw(wrong)
        with pytest.raises(ParseError, match="a position is a line of text"):
            axio.Position.parse(wrong)


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError


NO_SEAT: tuple[Any, ...] = (
    "0", b"0", None, True, False, 0.0, 1.5, float("nan"), [0], (0,), -1, 2, 10**5000, -(10**5000),
    np.int64(2), np.True_, np.array([0, 1]), Unprintable(),
)  # fmt: skip


@pytest.mark.parametrize("seat", NO_SEAT, ids=lambda seat: type(seat).__name__)
def test_invalid_seats_are_refused(seat: Any) -> None:
    table = new_game("axio", seed=7)
    uses: list[Callable[[], Any]] = [
        lambda: table.hand(seat),
        lambda: table.view(0).hand(seat),
        lambda: SeatTracker(table.variant, seat),
        lambda: SeatTracker(table.variant, 0).draw(seat, ["?"]),
        lambda: SeatTracker(table.variant, 0).play(seat, axio.Move("pass")),
    ]
    uses += [lambda: table.view(seat)] if seat is not None else []
    for use in uses:
        with pytest.raises(AxioError, match=r"there is no seat .*: 0 to 1") as caught:
            use()
        assert len(str(caught.value)) < 200
    if seat is not None:
        with pytest.raises(IllegalMove) as refused:
            table.play(table.legal_moves()[0], seat)
        assert refused.value.reason is Reason.NOT_YOUR_TURN
    assert table.plies == 0


def test_numpy_integers_are_seats() -> None:
    table = new_game("axio", seed=7)
    number: Any
    for seat in range(2):
        for number in (np.int8(seat), np.int64(seat)):
            assert table.hand(number) == table.hand(seat)
            assert table.view(number) == table.view(seat)
            assert type(table.view(number).seat) is int


@pytest.mark.parametrize("wrong", [None, 5, 10**5000, b"pass", ["pass"], Unprintable()], ids=type)
def test_arguments_that_are_not_text_are_refused(wrong: Any) -> None:
    table = new_game("axio", seed=7)
    for use in (
        axio.Move.parse,
        axio.Move.of,
        axio.Position.parse,
        read_game,
        read_view,
        table.play,
        table.draw,
    ):
        with pytest.raises(ParseError) as caught:
            use(wrong)
        assert len(str(caught.value)) < 300


def test_drawing_checks_the_number_of_names() -> None:
    table = new_game("axio", seed=7)
    for names in (["Ann"], ["Ann", "Ben", "Cem"]):
        for draw in (table.svg, lambda names: table.text(names=names), table.scene):
            with pytest.raises(AxioError, match=f"{len(names)} names for 2 seats"):
                draw(names)


def test_tiles_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(IllegalMove) as caught:
        new_game("axio", seed=7).draw("RG")
    assert caught.value.reason is Reason.NO_DRAW_DUE
    table = Table(find_variant("axio", 2))
    with pytest.raises(IllegalMove) as caught:
        table.draw("YY")
    assert caught.value.reason is Reason.NOT_IN_BAG
    assert table.actions == []


def test_every_reason_is_tested() -> None:
    tested = {reason for _, reason, _ in ILLEGAL}
    assert tested | {Reason.NOT_YOUR_TURN, Reason.NO_DRAW_DUE, Reason.NOT_IN_BAG} == set(Reason)


# ---------------------------------------------------------------- malformed texts


@pytest.mark.parametrize(
    "text", ["", "GR", "GR k8", "GR k8_j8", "gr k8-j8", "(P) 2,-1", "exchange rg", "x" * 9999]
)
def test_invalid_move_text_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="is not a move: write a placement as 'GR k8-j8'"):
        axio.Move.parse(text)


OPENING = new_game("axio", seed=7).position


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "a position starts with game, number of players and options"),
        (lambda text: text.replace("axio 2", "chess 2"), "unknown game 'chess'"),
        (lambda text: text.replace("axio 2", "axio 9"), "for 1 to 4 players"),
        (lambda text: text.replace("axio 2 -", "axio 2 short"), "has no option 'short'"),
        (lambda text: text.replace("board=4R4/", "board="), "the board has 8 rows, not 9"),
        (lambda text: text.replace("4R4", "4R5"), "row 1 of the board has 10 cells, not 9"),
        (lambda text: text.replace("4R4", "4Y4"), "row 1 of the board has 'Y'; letters are"),
        (lambda text: text.replace("4R4", "4G4"), "g11 must show its printed R"),
        (lambda text: text.replace("4R4", "4R3^"), "must be exactly the cells marked"),
        (lambda text: text.replace("hands=RR", "hands=YY"), "there is no tile 'YY'"),
        (lambda text: text.replace("hands=RR", "hands=?"), "a hand is known or hidden, not both"),
        (lambda text: text.replace("hands=RR", "hands=RR,RR"), "6 tiles, more than the limit of 5"),
        (lambda text: text.replace("hands=RR", "hands=BB"), "the state has 5 tiles BB, the tile set 4"),
        (lambda text: text.replace("bag=RR2", "bag=RR9"), "the game has . of this tile"),
        (lambda text: text.replace("bag=RR2", "bag=2RR"), "is not a tile and its number"),
        (lambda text: text.replace("bag=RR2", "bag=RR1"), "the state has 99 tiles, not 100"),
        (lambda text: text.replace("scores=0,0", "scores=0"), "should be 5 numbers"),
        (lambda text: text.replace("scores=0,0", "scores=19,0"), "numbers from 0 to 18"),
        (lambda text: text.replace("seat=0", "seat=2"), "seat: 2 is too large"),
        (lambda text: text.replace("phase=place", "phase=wait"), "'wait' should be one of"),
        (lambda text: text.replace("due=0", "due=x"), "'x' should be 1 number"),
        (lambda text: text.replace("due=0", "due=1"), "it must be positive exactly in a chance phase"),
        (
            lambda text: text.replace("phase=place", "phase=draw"),
            "it must be positive exactly in a chance phase",
        ),
        (lambda text: text.replace(" due=0", ""), "has the fields board hands bag"),
        (lambda text: text + " more=1", "has the fields board hands bag"),
    ],
)
def test_invalid_position_text_is_refused(change: Callable[[str], str], message: str) -> None:
    text = change(OPENING)
    assert text != OPENING
    with pytest.raises(ParseError, match=message):
        axio.Position.parse(text)


@pytest.mark.parametrize(
    ("game", "changes", "message"),
    [
        ("axio", [("4R4/9", "4R4/R8")], "an odd number of symbols"),
        ("axio", [("4R4/9", "1R2R4/R8"), ("bag=RR2", "bag=RR1")], "c11 is shut in and must have a pyramid"),
        ("rota", [("supply=32", "supply=31")], "the supply and the stacks do not add up"),
        ("rota", [("stack=11,11,0,0", "stack=11,10,1,0")], "2 seats have at most 12 each"),
        ("rota", [("stack=11,11,0,0", "stack=13,9,0,0")], "2 seats have at most 12 each"),
        ("trio", [("removed=-", "removed=BBB1"), ("BBB2", "BBB1")], "1 tiles are removed, not 0"),
        ("trio", [("idle=0", "idle=6")], "the game is over after 6 consecutive exchanges"),
        ("trio", [("board=2#", "board=R1#")], "is not a multiple of three"),
    ],
)
def test_unreachable_position_is_refused(game: str, changes: list[tuple[str, str]], message: str) -> None:
    text = new_game(game, seed=7).position
    for old, new in changes:
        assert text.count(old) >= 1, text
        text = text.replace(old, new, 1)
    with pytest.raises(ParseError, match=message):
        axio.Position.parse(text)


def test_tile_cannot_be_in_the_display_and_a_hand() -> None:
    table = new_game("rota", seed=7)
    laid = table.laid()[0].letters
    held = table.hand(1)[0]
    with pytest.raises(ParseError, match="is in the display and also in a hand"):
        axio.Position.parse(table.position.replace(f";{held} bag", f";{laid} bag"))


def test_invalid_game_text_is_refused() -> None:
    text = write_game(record_of(finished("axio"), ["Ann", "Ben"]))
    read_game(text)
    lines = text.splitlines(keepends=True)
    for wrong, message in [
        ("", "a game starts with the lines"),
        (text.replace("Game: axio", "Game: chess"), "unknown game"),
        (text.replace('"Ann"', "Ann"), "names in double quotes"),
        (text.replace('"Ann"', "7"), "names in double quotes"),
        ("".join(lines[:2]), "the last line is missing"),
        ("".join(lines[:-1]), "the last line of this game should be"),
        ("".join(lines[:8]), "the last line of this game should be"),
        (text.replace("  1. 0:", "  1. 1:"), "line 5: .*not this seat's turn"),
        (text.replace("draws", "takes", 1), "line 5: .*should be a placement"),
        (text.replace("deal 0:", "give 0:"), "line 3: .*is not a line of a game"),
        (text.replace(" (", " (x, ", 1), "should be a track and its points"),
        (text.replace("Result: 1.", "Result: 2."), "the last line of this game should be"),
    ]:
        assert wrong != text
        with pytest.raises(ParseError, match=message):
            read_game(wrong)


# ---------------------------------------------------------------- records


GOLDENS = {name: Path(__file__).parents[1] / "games" / "goldens" / f"{name}.jsonl" for name in GAMES}


def numbers_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all numbers in a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers_in(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from numbers_in(inner, (*path, i))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield path


@pytest.mark.parametrize("name", GAMES)
def test_changing_any_number_of_a_record_is_detected(name: str) -> None:
    lines = GOLDENS[name].read_text(encoding="utf-8").splitlines()
    whole = json.loads(lines[1])
    found = 0
    for path in numbers_in(whole):
        changed = json.loads(lines[1])
        *way, last = path
        holder = changed
        for step in way:
            holder = holder[step]
        holder[last] += 1
        with pytest.raises(InvalidRecord):
            replay(Record.parse(json.dumps(changed)))
        found += 1
    assert found > 60


@pytest.mark.parametrize("name", GAMES)
def test_removing_any_event_of_a_record_is_detected(name: str) -> None:
    lines = GOLDENS[name].read_text(encoding="utf-8").splitlines()
    events = json.loads(lines[1])["events"]
    for n in range(len(events)):
        changed = json.loads(lines[1])
        del changed["events"][n]
        with pytest.raises(InvalidRecord):
            replay(Record.parse(json.dumps(changed)))


def test_record_error_names_the_event() -> None:
    record = json.loads(GOLDENS["axio"].read_text(encoding="utf-8").splitlines()[1])
    record["events"][2]["gain"]["R"] = 7
    with pytest.raises(InvalidRecord, match=r"event 3: .* the record says") as caught:
        replay(Record.parse(json.dumps(record)))
    assert caught.value.event == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(format="axio-record/2"), "the format is 'axio-record/2'"),
        (lambda r: r.pop("format"), "missing required field `format`"),
        (lambda r: r.pop("events"), "missing required field `events`"),
        (lambda r: r.update(game="chess"), "unknown game"),
        (lambda r: r.update(players=[]), "for 1 to 4 players"),
        (lambda r: r.update(players="Ann"), r"Expected `array`, got `str` - at `\$.players`"),
        (lambda r: r.update(options={"short": True}), "has no option 'short'"),
        (lambda r: r["setup"]["printed"].update(g7="R"), "the setup's printed differs"),
        (lambda r: r["setup"]["tileset"].update(RR=5), "the setup's tileset differs"),
        (lambda r: r["setup"].update(board=["."]), "the setup's board differs"),
        (lambda r: r["events"][0].update(t="steal"), "Invalid value 'steal'"),
        (lambda r: r["events"][0].update(p="0"), "event 1: not a record: Expected `int`, got `str`"),
        (lambda r: r["events"][0].update(tiles=[]), "event 1: a draw of no tiles"),
        (lambda r: r["events"][0]["tiles"].append("RR"), "event 1: 6 tiles are drawn, but 5 are due"),
        (lambda r: r["events"][0].update(p=1), "event 1: seat 1 draws, but seat 0 has to draw"),
        (
            lambda r: r["events"][0].update({"from": "stack"}),
            "event 1: the tile is drawn from 'stack', expected 'bag'",
        ),
        (lambda r: r["events"].insert(0, {"t": "removed", "tiles": ["RR"]}), "no tiles can be removed now"),
        (
            lambda r: r["events"].insert(0, {"t": "start", "display": [{"tile": "RR", "at": "0,0"}]}),
            "event 1",
        ),
        (lambda r: r["events"].append({"t": "pass", "p": 0}), "the game is over"),
        (lambda r: r.pop("result"), "the game is over, but the record has no result"),
        (lambda r: r["events"].pop(), "the record has a result, but the game is not over"),
        (lambda r: r["result"].update(winners=[0, 1]), "the result is"),
    ],
)
def test_invalid_record_is_refused(change: Callable[[dict[str, Any]], Any], message: str) -> None:
    record = json.loads(GOLDENS["axio"].read_text(encoding="utf-8").splitlines()[1])
    replay(Record.parse(json.dumps(record)))
    change(record)
    with pytest.raises(InvalidRecord, match=message):
        replay(Record.parse(json.dumps(record)))


def test_unknown_keys_are_ignored_and_setup_is_optional() -> None:
    record = json.loads(GOLDENS["axio"].read_text(encoding="utf-8").splitlines()[1])
    del record["setup"]
    record["comment"] = record["events"][0]["comment"] = "hello"
    assert replay(Record.parse(json.dumps(record))).over


def test_tiles_in_any_orientation_and_split_draws_are_accepted() -> None:
    record = json.loads(GOLDENS["axio"].read_text(encoding="utf-8").splitlines()[1])
    first = record["events"][0]
    first["tiles"] = [tile[::-1] for tile in first["tiles"]]
    record["events"][:1] = [{**first, "tiles": first["tiles"][:2]}, {**first, "tiles": first["tiles"][2:]}]
    assert replay(Record.parse(json.dumps(record))).over


def test_invalid_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="No such file"):
        list(read_records(tmp_path / "none.jsonl"))
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(InvalidFile, match="the file is empty"):
        list(read_records(tmp_path / "empty.jsonl"))
    text = GOLDENS["axio"].read_text(encoding="utf-8")
    (tmp_path / "cut.jsonl").write_text(text[: len(text) - 300], encoding="utf-8")
    with pytest.raises(InvalidRecord, match=r"cut.jsonl, line 4: not a record"):
        list(read_records(tmp_path / "cut.jsonl"))
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(InvalidRecord, match=r"line 1: not a record"):
        list(read_records(tmp_path / "bytes.jsonl"))


def test_record_checks_the_number_of_names() -> None:
    with pytest.raises(AxioError, match="1 names for 2 seats"):
        record_of(new_game("axio", seed=1), ["Ann"])
