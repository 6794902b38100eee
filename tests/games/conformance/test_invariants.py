"""States from outside: those of games are accepted, and whatever is accepted plays to the end unharmed."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import axiogames as axio
from axiogames.errors import IllegalMove, ParseError, Reason
from axiogames.games import GAMES, find_variant, invariants
from axiogames.games.invariants import Tiling
from axiogames.games.runtime.compile import INTERPRETED
from axiogames.games.runtime.state import OVER
from axiogames.games.variant import Variant
from axiogames.model.position_text import read_position
from axiogames.model.table import new_game
from axiogames.players.search.rollouts import TO_THE_END
from tests.games.conformance.mutations import (
    game,
    joined,
    mutated,
    mutated_field,
    mutated_state,
    plausible,
    play_to_the_end,
    roll_out,
    split,
    without_hidden,
)
from tests.games.conformance.positions import EACH, Case, cases, play

MUTANTS = 5 if INTERPRETED else 60
# What rollouts are made from a position: moves, guesses of what is hidden, and turns.
ROLLOUTS = (1, 1, 1) if INTERPRETED else (4, 2, TO_THE_END)


def accepted(text: str) -> tuple[Variant, np.ndarray] | None:
    """What is read from a text, `None` if it is refused as it should be."""
    try:
        return read_position(text)
    except ParseError:
        return None


def survive(case: Case, seed: str, mutants: int) -> int:
    """Mutate positions of a game and play on from those that are accepted; how many these are."""
    rng, played = random.Random(f"{seed} {case}"), 0
    texts = texts_of(case, rng)
    for _ in range(mutants):
        found = accepted(mutated(rng.choice(texts), rng))
        if found is None or found[1]["phase"][0] == OVER:
            continue
        variant, state = found
        filled = without_hidden(variant, state, rng)
        if filled is not None:
            play_to_the_end(variant, filled, rng, check_every=20 if INTERPRETED else 5)
            played += 1
    return played


@pytest.mark.parametrize("case", EACH, ids=str)
def test_every_state_of_a_game_is_accepted(case: Case) -> None:
    rng = random.Random(f"states {case}")
    for number, table in enumerate(game(case, rng)):
        if number % (40 if INTERPRETED else 5) == 0 or table.over or not table.plies:
            table.variant.check_state(table.state)
            for seat in (None, *range(1 if INTERPRETED else table.players)):
                view = table.view(seat)
                table.variant.check_state(view.state)
                assert read_position(view.position)[1]["in_bag"] == view.in_bag


@pytest.mark.parametrize("case", EACH, ids=str)
def test_a_mutated_position_is_refused_or_plays_to_the_end(case: Case) -> None:
    played = survive(case, "mutants", MUTANTS)
    assert played or INTERPRETED, "all mutants were refused, so nothing was played"  # few are made there


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_many_mutated_positions_are_refused_or_play_to_the_end(case: Case) -> None:
    assert sum(survive(case, f"many {n}", 200) for n in range(20))


def texts_of(case: Case, rng: random.Random) -> list[str]:
    """Positions of a game, as the table knows them and as a seat or a spectator does."""
    texts = []
    for table in game(case, rng):
        texts += [table.position, table.view(rng.choice((None, *range(table.players)))).position]
    return texts


@pytest.mark.skipif(INTERPRETED, reason="reading runs no rules but those that lay tiles")
@pytest.mark.parametrize("case", EACH, ids=str)
def test_mutants_of_every_field_are_refused_and_plausible_ones_accepted(case: Case) -> None:
    """Without both shares, the tests of mutants might test nothing."""
    rng = random.Random(f"shares {case}")
    texts = texts_of(case, rng)
    refused = dict.fromkeys(split(texts[0])[1], 0)
    for name in refused:
        for _ in range(12):
            text = rng.choice(texts)
            mutant = mutated_field(text, name, rng)
            refused[name] += mutant != text and accepted(mutant) is None
    assert min(refused.values()) >= 1, refused
    assert sum(refused.values()) >= 6 * len(refused), refused  # 10 of 12 are usual
    mutants = [mutant for text in rng.choices(texts, k=100) if (mutant := plausible(text, rng)) != text]
    parsed = sum(accepted(mutant) is not None for mutant in mutants)
    assert len(mutants) >= 20
    assert parsed >= len(mutants) / 4, (parsed, len(mutants))


@pytest.mark.parametrize("case", EACH, ids=str)
def test_rollouts_from_accepted_mutants_write_nothing_else(case: Case) -> None:
    rng, rolled = random.Random(f"rollouts {case}"), 0
    texts = texts_of(case, rng)
    for n in range(2 if INTERPRETED else 200):
        if rolled == 12:
            break
        found = accepted((mutated if n % 4 == 0 else plausible)(rng.choice(texts), rng))
        if found is not None:
            moves, guesses, turns = ROLLOUTS
            rolled += roll_out(*found, rng, moves=moves, guesses=guesses, turns=turns)
    assert rolled >= (0 if INTERPRETED else 8)


@pytest.mark.parametrize("case", EACH, ids=str)
def test_a_mutated_state_is_refused_or_plays_to_the_end(case: Case) -> None:
    rng = random.Random(f"bytes {case}")
    states = [table.state.copy() for table in game(case, rng)]
    for _ in range(MUTANTS):
        state = mutated_state(rng.choice(states), rng).view(type(states[0]))
        try:
            case.variant().check_state(state)
        except ParseError:
            continue
        play_to_the_end(case.variant(), state, rng, check_every=20 if INTERPRETED else 5)


@pytest.mark.skipif(INTERPRETED, reason="needs whole games of strong play")
@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_every_state_of_strong_play_is_accepted(case: Case) -> None:
    for style in ("balanced", "level5", "greedy"):
        for n in range(12):
            for table in play(case.variant(), (style,), f"strong {n}"):
                table.variant.check_state(table.state)
                for seat in (None, *range(table.players)):
                    read_position(table.view(seat).position)


# ---------------------------------------------------------------- what the audit found


def text_of(name: str, players: int = 2, moves: int = 0, **fields: object) -> str:
    """A position of a game after some first moves, with other fields."""
    table = new_game(name, players, seed=7)
    for _ in range(moves):
        table.play(table.legal_moves()[0])
    head, rest = table.position.split()[:3], table.position.split()[3:]
    known = dict(word.partition("=")[::2] for word in rest)
    assert not fields.keys() - known.keys()
    return " ".join((*head, *(f"{key}={value}" for key, value in (known | fields).items())))


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("dealing", [1, 2, 34, 127])
def test_b1_nobody_is_dealt_in_twice(name: str, dealing: int) -> None:
    with pytest.raises(ParseError, match="`dealing` is"):
        axio.Position.parse(text_of(name, moves=1, dealing=dealing))


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("players", [1, 2, 4])
@pytest.mark.parametrize("due", [1, 5, 80, 100, 127])
def test_b2_no_more_tiles_are_due_than_a_hand_has_room_for(name: str, players: int, due: int) -> None:
    with pytest.raises(ParseError):
        axio.Position.parse(text_of(name, players, moves=players, phase="draw", due=due))


@pytest.mark.parametrize("name", ["axio", "hex", "trio"])
@pytest.mark.parametrize("phase", ["place", "offer", "draw", "over"])
def test_b3_nothing_is_laid_aside_but_in_an_exchange(name: str, phase: str) -> None:
    table = new_game(name, seed=7)
    text = text_of(name, moves=2, phase=phase, aside=",".join(table.hand(0)))
    with pytest.raises(ParseError):
        axio.Position.parse(text)


@pytest.mark.parametrize("name", ["axio", "hex"])
@pytest.mark.parametrize(("begun", "claimed"), [(2, 63), (127, 0), (0, 63), (1, 2), (5, 5), (15, 63), (0, 0)])
def test_b4_first_tiles_are_those_of_the_seats_that_have_moved(name: str, begun: int, claimed: int) -> None:
    text = text_of(name, 4, moves=2, begun=begun, claimed=claimed)
    with pytest.raises(ParseError):
        axio.Position.parse(text)


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("axio", {"phase": "over"}, "the game is over, but nobody has won"),
        ("hex", {"phase": "over"}, "the game is over, but nobody has won"),
        ("rota", {"phase": "over"}, "the game is over, but"),
        ("trio", {"phase": "over"}, "the game is over, but a tile can be placed"),
        (
            "axio",
            {"scores": "18,18,18,18,18;18,18,18,18,18"},
            "36 points in R, but the board can have given",
        ),
        (
            "rota",
            {"scores": "12,0,0,0,0;0,0,0,0,0"},
            "12 points in R, but the display can have given",
        ),
        ("trio", {"scores": "32767;0"}, "32767 points, but the board can have given at most 0"),
        ("axio", {"extra": 127}, "`extra` is 127, but seat 0 can have at most 0"),
        ("rota", {"extra": 127}, "127 extra turns, but the seats have won 0"),
        ("axio", {"begun": 127}, "`begun` is 127, but after 0 placements it should be 0"),
        ("axio", {"phase": "start", "due": 3}, "the phase 'start' does not occur in this game"),
        ("rota", {"phase": "offer"}, "the phase 'offer' does not occur in this game"),
        ("trio", {"phase": "remove", "due": 40}, "the phase 'remove' does not occur in this game"),
        ("axio", {"seat": 1}, "it cannot be the turn of seat 1 after 0 placements"),
        ("rota", {"seat": 1}, "it cannot be the turn of seat 1"),
        ("trio", {"again": 1}, "`again` is set, but"),
        ("rota", {"from_supply": 1}, "`from_supply` is set, but"),
        ("rota", {"from_supply": 2}, "2 is too large: it can be at most 1"),
    ],
)
def test_b5_a_position_to_which_no_game_leads(name: str, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ParseError, match=message):
        axio.Position.parse(text_of(name, 2, 0, **fields))


def test_b5_every_seat_has_a_tile_in_rota() -> None:
    table = new_game("rota", seed=7)
    mine, other = table.hand(0)[0], table.hand(1)[0]
    text = table.position.replace(f"hands={mine};{other} bag=", f"hands=-;{other} bag={mine}1,")
    with pytest.raises(ParseError, match="the supply and the stacks do not add up"):
        axio.Position.parse(text)
    with pytest.raises(ParseError, match="seat 0 has no tile to place"):
        axio.Position.parse(text.replace("stack=11,", "stack=12,"))
    waiting = table.position.replace(f"hands={mine};{other} bag=", f"hands={mine};- bag={other}1,")
    with pytest.raises(ParseError, match="seat 1 has no tile to place"):
        axio.Position.parse(waiting.replace("stack=11,11,", "stack=11,12,"))


def test_extra_placements_still_to_come_have_not_been_used() -> None:
    """Three colours are capped, and one extra placement is still to come, so two were used."""
    text = (
        "hex 4 - board=4RGG1/1OR1RGGGG/RRRRRRGGGG/1B2R1GGGG1/3YRRPOOGGB/4YPPPOGBBB/2YYGGP1OBBBBB/"
        "GYYYY1POOYGBBR1/YYYYRRROYYBB2/RYYRRROYYBB2/RYRRROYPBOB1/YPPPOPPOOO1/YPPOOPBO2/PPPPPBOO1/"
        "OYPPBOGG "
        "hands=RB,RO,GO,BP,BY,PP;?,?,?,?,?,?;?,?,?,?;?,?,?,?,?,? "
        "bag=RR2,RG3,RB3,RO1,RP3,RY1,GB2,GO3,GP5,GY4,BB2,BO2,BP3,BY3,OO3,OP2,OY3,PP1,PY1,YY2 "
        "scores=12,13,14,13,11,13;16,12,12,14,12,12;13,18,18,14,17,18;14,15,15,17,10,12 seat=2 ph"
        "ase=place due=0 extra=1 dealing=0 begun=15 claimed=46 aside=-"
    )
    with pytest.raises(ParseError, match="it cannot be the turn of seat 2 after 65 placements"):
        axio.Position.parse(text)


def test_colours_on_the_board_are_those_of_the_tiles_that_are_gone() -> None:
    table = new_game("axio", seed=7)
    table.play(table.legal_moves()[0])
    tile = table.moves[0].tile
    other = next(kind for kind in table.variant.kinds if not {*kind} & {*tile} and table.unseen.get(kind))
    same = table.variant.kinds[table.variant.kind_of(tile) or 0]
    counts = table.unseen | {same: table.unseen.get(same, 0) + 1, other: table.unseen[other] - 1}
    bag = ",".join(f"{kind}{counts[kind]}" for kind in table.variant.kinds if counts.get(kind))
    with pytest.raises(ParseError, match="but by the bag and the hands there should be"):
        axio.Position.parse(table.position.replace(table.position.split("bag=")[1].split()[0], bag))


@pytest.mark.parametrize("name", GAMES)
def test_b24_moves_of_another_position_are_not_rated(name: str) -> None:
    table = new_game(name, seed=7)
    moves = table.legal_moves()
    for view in (table.view(1), table.view(None)):  # to whom the hand is hidden
        with pytest.raises(IllegalMove) as caught:
            view.gains(moves)
        assert caught.value.reason is Reason.NOT_YOUR_TURN
    again = new_game(name, seed=7)
    assert np.array_equal(again.gains(moves), table.gains(moves))
    other = next(n for n in GAMES if n != name)
    with pytest.raises((IllegalMove, ParseError)):
        new_game(other, seed=7).gains(moves)


@pytest.mark.parametrize(
    "text",
    [
        "axio ² - =",
        "axio 2 - board=²" + "/9" * 8,
        f"axio {'9' * 5000} - board=9",
        f"axio 2 - board={'9' * 5000}",
        "axio 2 - " + "x" * 100_000,
    ],
)
def test_digits_are_plain_and_few(text: str) -> None:
    with pytest.raises(ParseError):
        axio.Position.parse(text)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("zero", ["٠", "０", "০", "²"])
def test_no_number_of_a_position_has_digits_of_other_scripts(name: str, zero: str) -> None:
    """`int` and `str.isdigit` take them: in bags, points, counters and in the runs of a board."""
    text = axio.new_game(name, seed=7).position
    for found in re.finditer("[0-9]", text):
        other = zero if zero == "²" else chr(ord(zero) + int(found[0]))
        with pytest.raises(ParseError):
            axio.Position.parse(f"{text[: found.start()]}{other}{text[found.end() :]}")
        with pytest.raises(ParseError):
            axio.Position.parse(f"{text[: found.end()]}{other}{text[found.end() :]}")


@pytest.mark.parametrize(
    ("field", "value"),
    [("scores", "0,0,0,0,²;0,0,0,0,0"), ("bag", "RR²"), ("bag", "RR1²"), ("seat", "²"), ("hands", "RR²;RG")],
)
def test_superscripts_are_no_digits(field: str, value: str) -> None:
    with pytest.raises(ParseError, match=f"position, {field}: "):
        axio.Position.parse(text_of("axio", 2, 1, **{field: value}))


# ---------------------------------------------------------------- boards that no placements make


def moved(table: axio.Table, cells: dict[str, str]) -> str:
    """The position of a table with what lies on some cells moved to others."""
    variant: Any = table.variant
    state, number = table.state.copy(), variant.number
    for here, there in cells.items():
        assert state["cells"][0, number[there]] == -1, f"{there} is not empty"
        state["cells"][0, number[there]] = state["cells"][0, number[here]]
        state["cells"][0, number[here]] = -1
    head, fields = split(table.position)
    return joined(head, fields | {"board": variant.write_board(state)})


@pytest.mark.parametrize("name", ["axio", "hex"])
def test_both_halves_of_a_tile_lie_side_by_side(name: str) -> None:
    table = new_game(name, 4, seed=7)
    for _ in range(6):
        table.play(table.legal_moves()[0])
    variant: Any = table.variant
    empty = [cell for n, cell in enumerate(variant.names) if table.state["cells"][0, n] == -1]
    apart = 0
    for half in table.moves[-1].at:
        for cell in empty:
            near = variant.constants["near"][0, variant.number[cell]]
            alone = (table.state["cells"][0, near] < 0).all()
            if alone:
                with pytest.raises(ParseError, match="not those of whole tiles"):
                    axio.Position.parse(moved(table, {half: cell}))
                apart += 1
    assert apart > 20


def test_a_tile_of_trio_is_a_row_of_three() -> None:
    table = new_game("trio", 2, seed=7)
    for _ in range(2):
        table.play(table.legal_moves()[0])
    variant: Any = table.variant
    *_, end = table.moves[-1].at
    empty = [cell for n, cell in enumerate(variant.names) if table.state["cells"][0, n] == -1]
    for cell in empty:
        if cell != end:
            with pytest.raises(ParseError):
                axio.Position.parse(moved(table, {end: cell}))
    with pytest.raises(ParseError, match="each on three in a row"):
        axio.Position.parse(moved(table, {end: "p1"}))


def test_every_tile_of_trio_is_joined_to_a_starting_square() -> None:
    table = new_game("trio", 2, seed=7)
    table.play(table.legal_moves()[0])
    far = dict(zip(table.moves[-1].at, ("a14", "a13", "a12"), strict=True))
    with pytest.raises(ParseError, match="is not joined to the starting squares"):
        axio.Position.parse(moved(table, far))


@pytest.mark.parametrize("name", ["axio", "hex", "trio"])
def test_the_search_for_whole_tiles_is_exact(name: str) -> None:
    """Beside a plain search, on small sets of cells: those of some tiles, and those of any cells."""
    variant: Any = find_variant(name, 2)
    rng, found = random.Random(f"tiling {name}"), Counter[bool]()
    slots = [frozenset(slot) for slot in variant.slots]
    whole, cells = Tiling(len(variant.names), variant.slots, ()), range(len(variant.names))

    def plainly(left: frozenset[int]) -> bool:
        if not left:
            return True
        first = min(left)
        return any(plainly(left - slot) for slot in slots if first in slot and slot <= left)

    for _ in range(150):
        middle = rng.choice(slots)
        near = [slot for slot in slots if abs(min(slot) - min(middle)) < 25]
        chosen = {*rng.choice(near), *rng.choice(near), *rng.choice(near)}
        if rng.randrange(2):
            chosen ^= {rng.choice(list(chosen)), rng.choice(list(cells))}
        laid = np.isin(cells, list(chosen))
        assert whole.can_cover(laid) == plainly(frozenset(chosen))
        found[whole.can_cover(laid)] += 1
    assert min(found[True], found[False]) > 30, found


def test_the_search_for_whole_tiles_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board that takes longer is accepted; all four orders and then a longer search have been tried."""
    variant: Any = find_variant("hex", 4)
    monkeypatch.setattr(invariants, "SWITCH_LIMITS", (3, 3))
    monkeypatch.setattr(invariants, "LIMIT", 3)
    laid = np.ones(len(variant.names), np.bool_)
    laid[0] = False
    assert Tiling(len(laid), variant.slots, ()).can_cover(laid)


def test_a_state_of_another_game_is_none() -> None:
    state = find_variant("axio", 2).new_state()
    with pytest.raises(ParseError, match="this is no state of hex for 2 players"):
        find_variant("hex", 2).check_state(state)
    with pytest.raises(ParseError, match="this is no state of axio for 2 players"):
        find_variant("axio", 2).check_state(np.concatenate([state, state]))
