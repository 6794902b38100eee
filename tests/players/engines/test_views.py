"""The text of a view contains all that a seat knows and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from axiogames.errors import ParseError
from axiogames.games import GAMES, find_variant
from axiogames.model.record import apply_event
from axiogames.model.table import Table, new_game
from axiogames.model.view import View
from axiogames.players.engines.views import MAX_EVENTS, read_view, write_view
from axiogames.players.search.determinization import hidden_tiles
from axiogames.rng import Generator
from tests.games.conformance.positions import CASES, EACH, EACH_FOR_SEVERAL, STYLES, Case, play
from tests.games.conformance.test_views import redealt

# Field of a state that may differ in equal views: points of the last move.
ARBITRARY = ("gain",)


def content_of(view: View) -> dict[str, Any]:
    """Return everything that distinguishes views for rules and players."""
    state = view.state
    names = [name for name in state.dtype.names if name not in ARBITRARY]
    moves = view.legal_moves()
    return {
        "variant": view.variant,
        "seat": view.seat,
        "events": view.events,
        "state": {name: state[name].tobytes() for name in names},
        "moves": moves.actions.tolist(),
        "gains": view.gains(moves).tolist(),
        "unseen": view.unseen,
        "drawing": view.svg(),
    }


@pytest.mark.parametrize("case", EACH, ids=str)
def test_view_text_round_trips(case: Case) -> None:
    for table in play(case.variant(), STYLES, "lines"):
        if table.plies % 11 and not table.over:
            continue
        for seat in range(table.players):
            view = table.view(seat)
            line = write_view(view)
            assert "\n" not in line
            assert content_of(read_view(line)) == content_of(view)
            assert write_view(read_view(line)) == line


@pytest.mark.parametrize("case", EACH_FOR_SEVERAL, ids=str)
def test_view_text_does_not_depend_on_hidden_tiles(case: Case) -> None:
    rng = Generator(f"{case} lines")
    varied = 0
    for table in play(case.variant(), STYLES, "lines"):
        seat = table.turn
        other = None if seat is None or table.plies % 5 else redealt(table, seat, rng)
        if seat is not None and other is not None and other.state.tobytes() != table.state.tobytes():
            varied += 1
            assert write_view(other.view(seat)) == write_view(table.view(seat))
    assert varied > 0


def example(name: str = GAMES[0], options: tuple[str, ...] = ()) -> dict[str, Any]:
    tables = [table.copy() for table in play(Case(name, 2, options).variant(), STYLES, "example")]
    table = next(table for table in tables if table.plies > 10 and table.turn == 0)
    data: dict[str, Any] = json.loads(write_view(table.view(0)))
    return data


def replaced(position: str, field: str, value: str) -> str:
    return " ".join(f"{field}={value}" if word.startswith(f"{field}=") else word for word in position.split())


@pytest.mark.parametrize("name", GAMES)
def test_visible_hand_of_another_seat_is_refused(name: str) -> None:
    data = example(name)
    hands = data["position"].partition("hands=")[2].partition(" ")[0].split(";")
    kinds = sorted(data["unseen"])
    shown = ",".join(kinds[: len(hands[1].split(","))])
    data["position"] = replaced(data["position"], "hands", f"{hands[0]};{shown}")
    # As at a table, tiles of a known hand are not unseen.
    counts = {tile: n - (tile in shown.split(",")) for tile, n in data["unseen"].items()}
    bag = ",".join(f"{tile}{n}" for tile, n in counts.items() if n)
    data["position"] = replaced(data["position"], "bag", bag)
    for field in ("hands", "unseen"):
        del data[field]
    with pytest.raises(ParseError, match="does not see the hand of seat 1"):
        read_view(json.dumps(data))


def test_position_of_a_table_is_refused() -> None:
    *_, table = (table.copy() for table in play(Case(GAMES[-1], 2, ("short",)).variant(), STYLES, "all"))
    table.undo()
    for seat in range(2):
        with pytest.raises(ParseError, match=r"does not see|removed tiles are hidden"):
            read_view(json.dumps({"seat": seat, "position": table.position}))
        data = {
            "seat": seat,
            "position": table.view(seat).position,
            "events": [{"t": "removed", "tiles": [table.variant.kinds[0]]}],
        }
        with pytest.raises(ParseError, match=f"event 1: seat {seat} does not see these tiles"):
            read_view(json.dumps(data))


def test_visible_draws_of_others_are_refused() -> None:
    data = example()
    number = next(n for n, event in enumerate(data["events"]) if event["t"] == "draw" and event["p"] == 1)
    data["events"][number]["tiles"][-1] = "RR"
    with pytest.raises(ParseError, match=f"event {number + 1}: seat 0 does not see these tiles"):
        read_view(json.dumps(data))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hands": [["RR"], ["RR"]]}, "`hands` does not agree with the position"),
        ({"moves": []}, "`moves` does not agree with the position"),
        ({"turn": 1}, "`turn` does not agree with the position"),
        ({"secret": 1}, "secret"),
        ({"seat": 2}, "no seat 2"),
        ({"seat": -1}, "no seat -1"),
        ({"seat": None}, "seat"),
        ({"seat": 1}, "does not see the hand of seat 0"),
        ({"position": "chess 2 -"}, "chess"),
        ({"events": [{"t": "draw", "p": 7, "tiles": ["?"]}]}, "event 1: there is no seat 7: 0 to 1"),
        ({"events": [{"t": "draw", "p": 0, "tiles": ["?"]}]}, "event 1: there is no tile '.'"),
        ({"events": [{"t": "exchange", "p": 1, "shown": ["XX"]}]}, "event 1: there is no tile 'XX'"),
        ({"events": [{"t": "jump"}]}, "jump"),
    ],
)
def test_invalid_view_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_view(json.dumps(example() | change))


ODD_CELLS: tuple[list[str], ...] = (
    [],
    [""],
    ["a1"],
    ["\u0000", "\u0000"],
    ["a99999999", "b99999999"],
    ["99999999,0"],
    ["0,0,0"],
    ["0"],
    ["00,0"],
    ["0,0", "1,0"],
    ["999,999"],
    ["a1", "a2"],
    ["f6", "f7", "f8"],
    ["f6", "f7", "f8", "f9"],
    ["f6", "f6"],
    ["f6"] * 3,
    ["x" * 5000] * 3,
)
ODD_FIELDS: tuple[dict[str, Any], ...] = (
    *({"named": named} for named in ("", "?", "RG", "\u0000", "_")),
    *({"gain": gain} for gain in ({"": 1}, {"Z": 1}, {"\u0000": 0})),
    *({"pyramids": [cell]} for cell in ("", "a99999999", "\u0000", "z1", "0,0")),
)


@pytest.mark.parametrize("name", GAMES)
def test_invalid_cells_of_events_are_refused(name: str) -> None:
    data = example(name)
    number, place = next((n, e) for n, e in enumerate(data["events"]) if e["t"] == "place")
    events = data["events"]
    track = data["tracks"][0]
    odd = [*({"at": at} for at in ODD_CELLS), *ODD_FIELDS]
    odd += [{"gain": {track: points}} for points in (-1, 1 << 15, 1 << 62)]
    odd += [
        {"at": place["at"] * 2},
        {"at": place["at"][1:]},
        {"at": [at.upper() + " " for at in place["at"]]},
    ]
    for change in odd:
        data["events"] = [*events[:number], place | change, *events[number + 1 :]]
        with pytest.raises(ParseError, match=f"event {number + 1}: "):
            read_view(json.dumps(data))
    for again in ([place], [{"t": "start", "display": [{"tile": place["tile"], "at": place["at"][0]}]}]):
        data["events"] = [*events, *again]
        with pytest.raises(ParseError, match=f"event {len(events) + 1}: "):
            read_view(json.dumps(data))


@pytest.mark.parametrize("at", ["", "0", "0,0,0", "\u0000", "a1", "99999999,0", "2,0", "00,0"])
def test_invalid_cells_of_a_display_are_refused(at: str) -> None:
    data = example("rota")
    data["events"][0]["display"][1]["at"] = at
    with pytest.raises(ParseError, match="event 1: no tile of an opening display"):
        read_view(json.dumps(data))


@pytest.mark.parametrize("case", [case for case in CASES if case.players == 2], ids=str)
def test_partial_events_are_accepted(case: Case) -> None:
    *_, table = play(case.variant(), STYLES, "part")
    for since in range(0, len(table.events), 7):
        view = table.view(0, since=since)
        assert read_view(write_view(view)) == view


def mutated(events: list[dict[str, Any]], rng: Generator) -> list[dict[str, Any]]:
    """Return the events with a few parts swapped, removed, repeated or replaced."""
    odd = ("", "\u0000", "a1", "a99999999", "0,0", "-1,2", "999,-999", "R", "?", "f6", "g7")
    events = json.loads(json.dumps(events))
    for _ in range(1 + rng.randint(2)):
        event = events[rng.randint(len(events))]
        inside = event.get("display") or [event]
        event = inside[rng.randint(len(inside))]
        keys = sorted(event)
        key = keys[rng.randint(len(keys))]
        match event[key]:
            case list() as items if items:
                n, way = rng.randint(len(items)), rng.randint(4)
                new = ([], [items[n]] * 2, [items[-1 - n]], [odd[rng.randint(len(odd))]])[way]
                event[key] = items[:n] + new + items[n + 1 :]
            case dict():
                event[key] = {odd[rng.randint(len(odd))]: rng.randint(9)}
            case int():
                event[key] = rng.randint(3)
            case _:
                other = events[rng.randint(len(events))]
                event[key] = other.get(key, odd[rng.randint(len(odd))])
    return events


@pytest.mark.parametrize("mutations", [75, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", GAMES)
def test_mutated_events_are_refused_or_usable(name: str, mutations: int) -> None:
    data, rng = example(name), Generator(f"{name} mutated")
    events, refused = data["events"], 0
    for _ in range(mutations):
        data["events"] = mutated(events, rng)
        try:
            view = read_view(json.dumps(data))
        except ParseError:
            refused += 1
            continue
        assert view.text()
        assert view.svg()
    assert 0 < refused < mutations


def longest_game() -> Table:
    """Return a game with as many exchanges as possible, and therefore about as many events as possible."""
    table = new_game("trio", 4, seed=1)
    variant = table.variant
    while not table.over:
        actions = table.legal_moves().actions
        exchanges = [at for at in actions.tolist() if at >= variant.placements]
        exchange = exchanges and (
            table.state["idle"][0] < 3 * table.players - 1 or actions[0] == exchanges[0]
        )
        table.play_unchecked(exchanges[0] if exchange else int(actions[0]))
    return table


def test_the_longest_games_have_views() -> None:
    table = longest_game()
    assert MAX_EVENTS // 2 < len(table.events) < MAX_EVENTS
    for seat in range(4):
        view = table.view(seat)
        assert read_view(write_view(view)) == view


def test_number_of_events_is_limited() -> None:
    data = example("trio")
    draw = {"t": "draw", "p": 1, "tiles": ["?"]}
    data["events"] += [draw] * (MAX_EVENTS - len(data["events"]))
    view = read_view(json.dumps(data))
    hidden_tiles(view)
    data["events"].append({"t": "draw", "p": 9, "tiles": ["?"] * 100})
    with pytest.raises(ParseError, match=f"{MAX_EVENTS + 1} events, more than the limit of {MAX_EVENTS}"):
        read_view(json.dumps(data))


@pytest.mark.parametrize("name", GAMES)
def test_number_of_tiles_in_an_event_is_limited(name: str) -> None:
    data, variant = example(name), find_variant(name)
    hand, start = variant.hand, len(variant.start_places)
    many: list[tuple[dict[str, Any], int, int]] = []
    for p in range(2):
        tiles = [variant.kinds[0]] if p == 0 or variant.exchange_is_public else ["?"]
        many.append(({"t": "exchange", "p": p, "shown": tiles * (hand + 1)}, hand + 1, hand))
        many.append(({"t": "draw", "p": p, "tiles": (["?"] if p else tiles) * (hand + 1)}, hand + 1, hand))
    many.append(({"t": "removed", "tiles": ["?"]}, 1, 0))
    shown = {"tile": variant.kinds[0], "at": "0,0"}
    many.append(({"t": "start", "display": [shown] * (start + 1)}, start + 1, start))
    for event, count, limit in many:
        broken = data | {"events": [*data["events"], event]}
        message = f"event {len(broken['events'])}: {count} tiles, more than the limit of {limit}"
        with pytest.raises(ParseError, match=message):
            read_view(json.dumps(broken))


def test_number_of_removed_tiles_is_limited() -> None:
    variant = find_variant("trio", 2, {"short": True})
    data = json.loads(write_view(Table(variant, 1).view(0)))
    assert len(data["events"][0]["tiles"]) == 40
    data["events"][0]["tiles"].append("?")
    with pytest.raises(ParseError, match="event 1: 41 tiles, more than the limit of 40"):
        read_view(json.dumps(data))


def test_error_messages_of_views_are_short() -> None:
    long = "R" * 100_000
    number = int("9" * 4000)
    data = example()
    place = next(event for event in data["events"] if event["t"] == "place")
    changes: tuple[dict[str, Any], ...] = (
        {long: 1},
        {"seat": number},
        {"position": long},
        {"position": f"{long[:7000]} 2 -"},
        *(
            {"events": [place | change]}
            for change in ({"t": long}, {"p": number}, {"tile": long}, {"at": [long]})
        ),
        *({"events": [place | change]} for change in ({"gain": {long: 1}}, {"gain": {"R": number}})),
        *({"events": [place | change]} for change in ({"pyramids": [long]}, {"named": long})),
    )
    for change in changes:
        with pytest.raises(ParseError) as caught:
            read_view(json.dumps(data | change))
        assert len(str(caught.value)) < 500, str(caught.value)[:200]


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "{", "[" * 5000, '{"seat":0}', "\ufffd"])
def test_view_must_be_text(text: str) -> None:
    with pytest.raises(ParseError):
        read_view(text)


@pytest.mark.parametrize("text", ["\ud800", '{"x":"\udfff"}', b"\xff", b'{"position":"\xff"}', b'{"\xff":1}'])
def test_view_that_is_not_unicode(text: str | bytes) -> None:
    with pytest.raises(ParseError, match="not a view"):
        read_view(text)


def test_view_between_exchange_and_draw_round_trips() -> None:
    *_, finished = play(Case(GAMES[-1], 2).variant(), STYLES, "start")
    table = Table(finished.variant)
    for event in finished.events:
        apply_event(table, event)
        for seat in range(2):
            text = write_view(table.view(seat))
            assert write_view(read_view(text)) == text
