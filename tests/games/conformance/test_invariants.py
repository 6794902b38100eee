"""External states: reachable ones are accepted, and every accepted one can be played to the end."""

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
# Rollouts from a position: moves, determinizations and turns.
ROLLOUTS = (1, 1, 1) if INTERPRETED else (4, 2, TO_THE_END)


def accepted(text: str) -> tuple[Variant, np.ndarray] | None:
    """Return the state of a position text, `None` if it is refused."""
    try:
        return read_position(text)
    except ParseError:
        return None


def survive(case: Case, seed: str, mutants: int) -> int:
    """Mutate positions of a game, play on from the accepted ones, and return their number."""
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
def test_reachable_states_are_accepted(case: Case) -> None:
    rng = random.Random(f"states {case}")
    for number, table in enumerate(game(case, rng)):
        if number % (40 if INTERPRETED else 5) == 0 or table.over or not table.plies:
            table.variant.check_state(table.state)
            for seat in (None, *range(1 if INTERPRETED else table.players)):
                view = table.view(seat)
                table.variant.check_state(view.state)
                assert read_position(view.position)[1]["in_bag"] == view.in_bag


@pytest.mark.parametrize("case", EACH, ids=str)
def test_mutated_positions_are_refused_or_playable(case: Case) -> None:
    played = survive(case, "mutants", MUTANTS)
    if not INTERPRETED:  # with few mutants, all may be refused
        assert played, "all mutants were refused, so nothing was played"


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_many_mutated_positions_are_refused_or_playable(case: Case) -> None:
    assert sum(survive(case, f"many {n}", 200) for n in range(20))


def texts_of(case: Case, rng: random.Random) -> list[str]:
    """Return position texts of a game, complete ones and views of a random seat or spectator."""
    texts = []
    for table in game(case, rng):
        texts += [table.position, table.view(rng.choice((None, *range(table.players)))).position]
    return texts


@pytest.mark.skipif(INTERPRETED, reason="reading a position runs few rules")
@pytest.mark.parametrize("case", EACH, ids=str)
def test_most_mutants_are_refused_and_plausible_ones_accepted(case: Case) -> None:
    """Guards the tests of mutants, which would be vacuous if all or no mutants were accepted."""
    rng = random.Random(f"shares {case}")
    texts = texts_of(case, rng)
    refused = dict.fromkeys(split(texts[0])[1], 0)
    for name in refused:
        for _ in range(12):
            text = rng.choice(texts)
            mutant = mutated_field(text, name, rng)
            refused[name] += mutant != text and accepted(mutant) is None
    assert min(refused.values()) >= 1, refused
    assert sum(refused.values()) >= 6 * len(refused), refused  # typically 10 of 12
    mutants = [mutant for text in rng.choices(texts, k=100) if (mutant := plausible(text, rng)) != text]
    parsed = sum(accepted(mutant) is not None for mutant in mutants)
    assert len(mutants) >= 20
    assert parsed >= len(mutants) / 4, (parsed, len(mutants))


@pytest.mark.parametrize("case", EACH, ids=str)
def test_rollouts_from_accepted_mutants_stay_in_bounds(case: Case) -> None:
    rng, rolled = random.Random(f"rollouts {case}"), 0
    texts = texts_of(case, rng)
    for n in range(2 if INTERPRETED else 200):
        if rolled == 12:
            break
        found = accepted((mutated if n % 4 == 0 else plausible)(rng.choice(texts), rng))
        if found is not None:
            moves, determinizations, turns = ROLLOUTS
            rolled += roll_out(*found, rng, moves=moves, determinizations=determinizations, turns=turns)
    assert rolled >= (0 if INTERPRETED else 8)


@pytest.mark.parametrize("case", EACH, ids=str)
def test_mutated_states_are_refused_or_playable(case: Case) -> None:
    rng = random.Random(f"bytes {case}")
    states = [table.state.copy() for table in game(case, rng)]
    for _ in range(MUTANTS):
        state = mutated_state(rng.choice(states), rng).view(type(states[0]))
        try:
            case.variant().check_state(state)
        except ParseError:
            continue
        play_to_the_end(case.variant(), state, rng, check_every=20 if INTERPRETED else 5)


@pytest.mark.skipif(INTERPRETED, reason="interpreted games of strong players are slow")
@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_states_of_strong_play_are_accepted(case: Case) -> None:
    for style in ("balanced", "level5", "greedy"):
        for n in range(12):
            for table in play(case.variant(), (style,), f"strong {n}"):
                table.variant.check_state(table.state)
                for seat in (None, *range(table.players)):
                    read_position(table.view(seat).position)


# ---------------------------------------------------------------- invalid states found by an audit (b1-b24)


def text_of(name: str, players: int = 2, moves: int = 0, **fields: object) -> str:
    """Return the position text of a game after some moves, with changed fields."""
    table = new_game(name, players, seed=7)
    for _ in range(moves):
        table.play(table.legal_moves()[0])
    head, rest = table.position.split()[:3], table.position.split()[3:]
    known = dict(word.partition("=")[::2] for word in rest)
    assert not fields.keys() - known.keys()
    return " ".join((*head, *(f"{key}={value}" for key, value in (known | fields).items())))


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("dealing", [1, 2, 34, 127])
def test_b1_second_deal_is_refused(name: str, dealing: int) -> None:
    with pytest.raises(ParseError, match="`dealing` is"):
        axio.Position.parse(text_of(name, moves=1, dealing=dealing))


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("players", [1, 2, 4])
@pytest.mark.parametrize("due", [1, 5, 80, 100, 127])
def test_b2_draws_beyond_a_full_hand_are_refused(name: str, players: int, due: int) -> None:
    with pytest.raises(ParseError):
        axio.Position.parse(text_of(name, players, moves=players, phase="draw", due=due))


@pytest.mark.parametrize("name", ["axio", "hex", "trio"])
@pytest.mark.parametrize("phase", ["place", "offer", "draw", "over"])
def test_b3_tiles_aside_are_refused_outside_an_exchange(name: str, phase: str) -> None:
    table = new_game(name, seed=7)
    text = text_of(name, moves=2, phase=phase, aside=",".join(table.hand(0)))
    with pytest.raises(ParseError):
        axio.Position.parse(text)


@pytest.mark.parametrize("name", ["axio", "hex"])
@pytest.mark.parametrize(("begun", "claimed"), [(2, 63), (127, 0), (0, 63), (1, 2), (5, 5), (15, 63), (0, 0)])
def test_b4_inconsistent_first_tiles_are_refused(name: str, begun: int, claimed: int) -> None:
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
            "the scores have 36 points in R; the board gives at most",
        ),
        (
            "rota",
            {"scores": "12,0,0,0,0;0,0,0,0,0"},
            "the scores have 12 points in R; the display gives at most",
        ),
        ("trio", {"scores": "32767;0"}, "the scores have 32767 points; the board gives at most 0"),
        ("axio", {"extra": 127}, "`extra` is 127; seat 0 can have at most 0"),
        ("rota", {"extra": 127}, "have taken or have left 127 extra turns, but won 0"),
        ("axio", {"begun": 127}, "`begun` is 127; after 0 placements it must be 0"),
        ("axio", {"phase": "start", "due": 3}, "this game has no phase 'start'"),
        ("rota", {"phase": "offer"}, "this game has no phase 'offer'"),
        ("trio", {"phase": "remove", "due": 40}, "this game has no phase 'remove'"),
        ("axio", {"seat": 1}, "it cannot be the turn of seat 1 after 0 placements"),
        ("rota", {"seat": 1}, "it cannot be the turn of seat 1"),
        ("trio", {"again": 1}, "`again` is set, but"),
        ("rota", {"from_supply": 1}, "`from_supply` is set, but"),
        ("rota", {"from_supply": 2}, "2 is too large: it can be at most 1"),
    ],
)
def test_b5_unreachable_positions_are_refused(name: str, fields: dict[str, object], message: str) -> None:
    with pytest.raises(ParseError, match=message):
        axio.Position.parse(text_of(name, 2, 0, **fields))


def test_b5_rota_seats_without_a_tile_are_refused() -> None:
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


def test_turn_order_counts_only_used_extra_placements() -> None:
    """Three colours are at the cap and one extra placement is left, so two have been used."""
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


def test_colours_on_the_board_must_match_the_placed_tiles() -> None:
    table = new_game("axio", seed=7)
    table.play(table.legal_moves()[0])
    tile = table.moves[0].tile
    other = next(kind for kind in table.variant.kinds if not {*kind} & {*tile} and table.unseen.get(kind))
    same = table.variant.kinds[table.variant.kind_of(tile) or 0]
    counts = table.unseen | {same: table.unseen.get(same, 0) + 1, other: table.unseen[other] - 1}
    bag = ",".join(f"{kind}{counts[kind]}" for kind in table.variant.kinds if counts.get(kind))
    with pytest.raises(ParseError, match=r"the board has \d+ symbols .; the other tiles leave \d+"):
        axio.Position.parse(table.position.replace(table.position.split("bag=")[1].split()[0], bag))


@pytest.mark.parametrize("name", GAMES)
def test_b24_moves_of_another_position_are_not_scored(name: str) -> None:
    table = new_game(name, seed=7)
    moves = table.legal_moves()
    for view in (table.view(1), table.view(None)):  # without the hand of the seat to move
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
def test_unusual_and_very_long_numbers_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        axio.Position.parse(text)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("zero", ["٠", "０", "০", "²"])
def test_digits_of_other_scripts_are_refused(name: str, zero: str) -> None:
    """`int` and `str.isdigit` accept them, so bags, scores, counters and boards need their own check."""
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
def test_superscript_digits_are_refused(field: str, value: str) -> None:
    with pytest.raises(ParseError, match=f"position, {field}: "):
        axio.Position.parse(text_of("axio", 2, 1, **{field: value}))


# ---------------------------------------------------------------- boards without a tiling


def moved(table: axio.Table, cells: dict[str, str]) -> str:
    """Return the position text of a table with the content of cells moved to other cells."""
    variant: Any = table.variant
    state, index = table.state.copy(), variant.cell_index
    for source, target in cells.items():
        assert state["cells"][0, index[target]] == -1, f"{target} is not empty"
        state["cells"][0, index[target]] = state["cells"][0, index[source]]
        state["cells"][0, index[source]] = -1
    head, fields = split(table.position)
    return joined(head, fields | {"board": variant.write_board(state)})


@pytest.mark.parametrize("name", ["axio", "hex"])
def test_separated_halves_are_refused(name: str) -> None:
    table = new_game(name, 4, seed=7)
    for _ in range(6):
        table.play(table.legal_moves()[0])
    variant: Any = table.variant
    empty = [cell for n, cell in enumerate(variant.names) if table.state["cells"][0, n] == -1]
    apart = 0
    for half in table.moves[-1].at:
        for cell in empty:
            near = variant.constants["near"][0, variant.cell_index[cell]]
            isolated = (table.state["cells"][0, near] < 0).all()
            if isolated:
                with pytest.raises(ParseError, match="do not form whole tiles"):
                    axio.Position.parse(moved(table, {half: cell}))
                apart += 1
    assert apart > 20


def test_trio_tiles_that_are_not_rows_of_three_are_refused() -> None:
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
    with pytest.raises(ParseError, match="each on three squares in a row"):
        axio.Position.parse(moved(table, {end: "p1"}))


def test_trio_tiles_apart_from_starter_squares_are_refused() -> None:
    table = new_game("trio", 2, seed=7)
    table.play(table.legal_moves()[0])
    far = dict(zip(table.moves[-1].at, ("a14", "a13", "a12"), strict=True))
    with pytest.raises(ParseError, match="is not connected to a starter square"):
        axio.Position.parse(moved(table, far))


@pytest.mark.parametrize("name", ["axio", "hex", "trio"])
def test_tiling_search_is_exact(name: str) -> None:
    """Compared with a brute-force search on small sets of cells."""
    variant: Any = find_variant(name, 2)
    rng, found = random.Random(f"tiling {name}"), Counter[bool]()
    slots = [frozenset(slot) for slot in variant.slots]
    tiling, cells = Tiling(len(variant.names), variant.slots, ()), range(len(variant.names))

    def brute_force(left: frozenset[int]) -> bool:
        if not left:
            return True
        lowest = min(left)
        return any(brute_force(left - slot) for slot in slots if lowest in slot and slot <= left)

    for _ in range(150):
        middle = rng.choice(slots)
        near = [slot for slot in slots if abs(min(slot) - min(middle)) < 25]
        chosen = {*rng.choice(near), *rng.choice(near), *rng.choice(near)}
        if rng.randrange(2):
            chosen ^= {rng.choice(list(chosen)), rng.choice(list(cells))}
        laid = np.isin(cells, list(chosen))
        assert tiling.can_cover(laid) == brute_force(frozenset(chosen))
        found[tiling.can_cover(laid)] += 1
    assert min(found[True], found[False]) > 30, found


def test_tiling_search_gives_up_after_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board is accepted if neither the four orders nor the final search finish."""
    variant: Any = find_variant("hex", 4)
    monkeypatch.setattr(invariants, "SWITCH_LIMITS", (3, 3))
    monkeypatch.setattr(invariants, "LIMIT", 3)
    laid = np.ones(len(variant.names), np.bool_)
    laid[0] = False
    assert Tiling(len(laid), variant.slots, ()).can_cover(laid)


def test_states_of_another_game_are_refused() -> None:
    state = find_variant("axio", 2).new_state()
    with pytest.raises(ParseError, match="this is not a state of hex for 2 players"):
        find_variant("hex", 2).check_state(state)
    with pytest.raises(ParseError, match="this is not a state of axio for 2 players"):
        find_variant("axio", 2).check_state(np.concatenate([state, state]))
