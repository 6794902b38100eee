"""Records with one error are refused with the event and the reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from axiogames.errors import AxioError, IllegalMove, InvalidFile, InvalidRecord
from axiogames.files import MAX_LINE_BYTES, read_json
from axiogames.games import find_variant
from axiogames.model.record import MAX_SEED_LENGTH, Record, read_records, record_of, replay
from axiogames.model.table import Table, new_game
from tests.games.conformance.positions import Case
from tests.model.games import Json, record, record_where, refusal, refusal_of_text

AXIO, HEX, ROTA, TRIO = Case("axio", 2), Case("hex", 2), Case("rota", 2), Case("trio", 2)
SHORT = Case("trio", 2, ("short",))
EMPTY_START = {"t": "start", "display": []}
NO_TEXT: list[Any] = [None, 5, 10**5000, 1.5, True, [], ["{}"], {}, object(), Path("x")]


def assert_refused(value: Json, event: int | None, *words: str) -> None:
    """Check that the record is refused at this event, counted from 1, with these words in the message."""
    error = refusal(value)
    assert error is not None, "the record was accepted"
    assert error.event == event, error
    assert all(word in str(error) for word in words), error


def first(value: Json, kind: str) -> int:
    """Return the index of the first event of a kind."""
    return next(n for n, event in enumerate(value["events"]) if event["t"] == kind)


# ---------------------------------------------------------------- exchanges (audit B8 a)


@pytest.mark.parametrize("case", [AXIO, HEX, TRIO], ids=str)
def test_exchange_lists_exactly_the_exchanged_tiles(case: Case) -> None:
    value, at = record_where(case, lambda event: event["t"] == "exchange" and len(event["shown"]) > 1)
    assert refusal(value) is None
    shown = value["events"][at]["shown"]
    value["events"][at]["shown"] = [tile[::-1] for tile in shown[::-1]]
    assert refusal(value) is None, "any order and orientation is valid"
    value["events"][at]["shown"] = []
    assert_refused(value, at + 1, "an exchange of no tiles")
    for wrong in (shown[:-1], [*shown, shown[0]], ["RR", *shown[1:]], ["ZZ", *shown[1:]], ["", *shown]):
        value["events"][at]["shown"] = wrong
        error = refusal(value)
        assert error is not None
        assert error.event is not None
        assert error.event >= at + 1


# ---------------------------------------------------------------- opening displays (audit B8 b, h, r, B26)


@pytest.mark.parametrize("case", [AXIO, HEX, ROTA, TRIO, SHORT], ids=str)
def test_empty_display_is_refused(case: Case) -> None:
    length = len(record(case)["events"])
    for at in (0, 1, 2, length // 2, length - 1, length):
        value = record(case)
        value["events"].insert(at, EMPTY_START)
        assert_refused(value, at + 1)
    value["events"] += [EMPTY_START] * 50_000
    assert_refused(value, length + 1, "the game is over")


def test_display_tiles_may_be_in_any_order() -> None:
    value = record(ROTA)
    end = replay(Record.parse(json.dumps(value))).position
    for display in permutations(value["events"][0]["display"]):
        value["events"][0]["display"] = list(display)
        assert replay(Record.parse(json.dumps(value))).position == end


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda display: display.pop(), "is on 0,0 1,0 0,1, expected 0,0 1,0 0,1 1,1"),
        (lambda display: display.append(display[0]), "each once"),
        (lambda display: display[1].update(at="0,0"), "is on 0,0 0,0 0,1 1,1"),
        (lambda display: display[1].update(at="2,0"), "is on 0,0 2,0 0,1 1,1"),
        (lambda display: display[1].update(at="1,0\n"), "expected"),
        (lambda display: display[1].update(at="1,00"), "expected"),
        (lambda display: display[1].update(tile=display[0]["tile"]), "none is left"),
        (lambda display: display[1].update(tile="RRRR"), "'RRRR' is not a tile of this game"),
        (lambda display: display[1].update(tile=""), "'' is not a tile of this game"),
        (lambda display: display.clear(), "is on no cell"),
    ],
)
def test_display_has_four_tiles_on_four_cells(change: Callable[[Json], Any], words: str) -> None:
    value = record(ROTA)
    change(value["events"][0]["display"])
    assert_refused(value, 1, words)


def test_display_is_one_event() -> None:
    value = record(ROTA)
    display = value["events"][0]["display"]
    value["events"][:1] = [{"t": "start", "display": display[:2]}, {"t": "start", "display": display[2:]}]
    assert_refused(value, 1, "expected 0,0 1,0 0,1 1,1")
    value = record(ROTA)
    value["events"].insert(1, value["events"][0])
    assert_refused(value, 2, "the opening display is complete")
    value = record(ROTA)
    value["events"][:2] = value["events"][1::-1]
    assert_refused(value, 1, "before the opening display is complete")


def test_empty_corner_of_a_display_points_to_the_middle() -> None:
    value, _ = record_where(ROTA, lambda event: "_" in str(event.get("display")))
    shown = next(shown for shown in value["events"][0]["display"] if "_" in shown["tile"])
    shown["tile"] = shown["tile"][1:] + shown["tile"][0]
    assert_refused(value, 1, f"draw {shown['tile']} {shown['at']}: the tile is not among those")


def test_undrawable_display_error_quotes_the_record() -> None:
    table = Table(find_variant("rota", 2))
    with pytest.raises(IllegalMove, match=r"^draw RRRR 0,0: the tile is not among"):
        table.draw("RRRR 0,0")


# ---------------------------------------------------------------- removed tiles (audit B8 c, d, e)


def test_tiles_are_removed_once_before_the_deal_of_a_short_game() -> None:
    value = record(SHORT)
    removed = value["events"][0]["tiles"]
    assert refusal(value) is None
    assert len(removed) == 40
    value["events"].insert(1, value["events"][0])
    assert_refused(value, 2, "no tiles can be removed now")
    value = record(SHORT)
    value["events"][0] = {"t": "draw", "p": 0, "tiles": removed}
    assert_refused(value, 1, "seat 0 draws before 40 tiles have been removed")
    value = record(SHORT)
    value["events"][0]["tiles"] = removed + value["events"][1]["tiles"]
    assert_refused(value, 1, "43 tiles are removed, expected 40")
    del value["events"][1]
    assert_refused(value, 1, "43 tiles are removed")
    value = record(SHORT)
    value["events"][:1] = [{"t": "removed", "tiles": removed[:20]}, {"t": "removed", "tiles": removed[20:]}]
    assert_refused(value, 1, "20 tiles are removed, expected 40 in one event")
    for at in (0, 1, 5, len(record(SHORT)["events"])):
        value = record(SHORT)
        value["events"].insert(at, {"t": "removed", "tiles": []})
        assert_refused(value, at + 1)


@pytest.mark.parametrize("case", [TRIO, Case("trio", 2, ("children",)), SHORT, AXIO, ROTA], ids=str)
def test_draw_is_not_a_removal(case: Case) -> None:
    events = record(case)["events"]
    for at in [n for n, event in enumerate(events) if event["t"] == "draw"][:6]:
        value = record(case)
        value["events"][at] = {"t": "removed", "tiles": events[at]["tiles"]}
        assert_refused(value, at + 1, "no tiles can be removed now" if at else "")


# ---------------------------------------------------------------- named colours (audit B8 f, g)


@pytest.mark.parametrize(
    "named", ["RGBOP", "RG", "GB", "", "_", "Y", "r", " R", "R ", "R\n", 0, 1, True, ["R"]]
)
def test_named_colour_is_one_letter_of_the_game(named: Json) -> None:
    value, at = record_where(ROTA, lambda event: event["t"] == "place" and "_" in event["tile"])
    value["events"][at]["named"] = named
    assert_refused(value, at + 1)


def test_only_empty_corners_are_named() -> None:
    value, at = record_where(ROTA, lambda event: event["t"] == "place" and "_" not in event["tile"])
    value["events"][at]["named"] = "R"
    assert_refused(value, at + 1, "only a tile with an empty corner can name a colour")
    for case in (AXIO, HEX, TRIO):
        value = record(case)
        at = first(value, "place")
        value["events"][at]["named"] = "R"
        assert_refused(value, at + 1, "no colour is named in this game")


# ---------------------------------------------------------------- positions (audit B7, B8 n, o, p)


@pytest.mark.parametrize(
    "at",
    ["1,2,3", "a,b", "1,", ",1", ",", "", "1", "1;2", "9" * 5000 + ",0", "0x1,0", "1.0,0", "1e0,0", "--1,0"],
)
def test_invalid_position_is_refused(at: str) -> None:
    value = record(ROTA)
    n = first(value, "place")
    value["events"][n]["at"] = [at]
    assert_refused(value, n + 1, "a tile covers one position such as 2,-1")


@pytest.mark.parametrize(
    "written",
    [
        lambda x, y: f"{x}_0,{y}" if x else f"0_0,{y}",
        lambda x, y: f"{x},{y}\n",
        lambda x, y: f" {x},{y}",
        lambda x, y: f"{x}, {y}",
        lambda x, y: f"+{x},{y}" if x >= 0 else f"{x},{y}+",
        lambda x, y: f"0{x},{y}" if x >= 0 else f"-0{-x},{y}",
        lambda x, y: f"{x},-0" if y == 0 else f"{x},{y}.0",
        lambda x, y: f"{x},{y}".translate({ord("0") + n: 0x0660 + n for n in range(10)}),
        lambda x, y: f"{x},{y}".translate({ord("0") + n: 0xFF10 + n for n in range(10)}),
        lambda x, y: f"{x},{y}".replace("-", "\u2212") if x < 0 or y < 0 else f"{x}\uff0c{y}",
    ],
)
def test_position_text_is_canonical(written: Callable[[int, int], str]) -> None:
    value = record(ROTA)
    for n in [n for n, event in enumerate(value["events"]) if event["t"] == "place"][:12]:
        changed = record(ROTA)
        x, y = map(int, value["events"][n]["at"][0].split(","))
        changed["events"][n]["at"] = [written(x, y)]
        assert_refused(changed, n + 1, "a tile covers one position such as 2,-1")


# ---------------------------------------------------------------- setup (audit B8 l)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tiles: tiles.update(RG=10, GR=-2), "-2 tiles GR: the count cannot be negative"),
        (lambda tiles: tiles.update(RG=-8), "-8 tiles RG"),
        (lambda tiles: tiles.update(RG=7), "7 tiles RG, not 8"),
        (lambda tiles: tiles.pop("RG"), "0 tiles RG, not 8"),
        (lambda tiles: tiles.update(YY=0), "'YY', which is not a tile of axio"),
        (lambda tiles: tiles.update({"RG ": 0}), "'RG ', which is not a tile of axio"),
        (lambda tiles: tiles.update(GR=8), "16 tiles RG, not 8"),
        (lambda tiles: tiles.update(RG=10**30), "tiles RG, not 8"),
        (lambda tiles: tiles.update(RG=8.0), "Expected `int`, got `float`"),
        (lambda tiles: tiles.update(RG="8"), "Expected `int`, got `str`"),
        (lambda tiles: tiles.update(RG=True), "Expected `int`, got `bool`"),
        (lambda tiles: tiles.clear(), "differs"),
    ],
)
def test_tileset_must_match(change: Callable[[Json], Any], words: str) -> None:
    value = record(AXIO)
    change(value["setup"]["tileset"])
    assert_refused(value, None, words)


def test_tileset_accepts_tiles_in_any_orientation() -> None:
    value = record(AXIO)
    tiles = value["setup"]["tileset"]
    tiles.update(RG=5, GR=3)
    assert refusal(value) is None
    tiles.update(RG=0, GR=8)
    assert refusal(value) is None


# ---------------------------------------------------------------- JSON (audit B7, B8 m, s, B26)


def line() -> str:
    return json.dumps(record(AXIO), separators=(",", ":"))


@pytest.mark.parametrize(
    ("old", "new", "event"),
    [
        ('"p":0', '"p":1,"p":0', 1),
        ('"t":"draw"', '"t":"pass","t":"draw"', 1),
        ('"game":"axio"', '"game":"hex","game":"axio"', None),
        ('"events":[', '"events":[],"events":[', None),
        ('"setup":{', '"setup":{},"setup":{', None),
        ('"tileset":{', '"tileset":{"RR":1,', None),
        ('"printed":{', '"printed":{"g7":"R",', None),
        ('"place":[', '"place":[],"place":[', None),
        ('"scores":[{', '"scores":[{"R":1,', None),
        ('"format":', '"x":1,"x":2,"format":', None),
    ],
)
def test_repeated_key_is_refused(old: str, new: str, event: int | None) -> None:
    text = line()
    assert refusal_of_text(text) is None
    assert old in text
    error = refusal_of_text(text.replace(old, new, 1))
    assert error is not None
    assert "occurs twice in one object" in str(error)
    assert error.event == event


def test_repeated_key_in_an_event_is_refused_with_its_index() -> None:
    text = line()
    n = first(json.loads(text), "place")
    gain = json.dumps(json.loads(text)["events"][n]["gain"], separators=(",", ":"))
    assert gain != "{}"
    twice = "{" + gain[1:-1] + "," + gain[1:-1] + "}"
    error = refusal_of_text(text.replace(f'"gain":{gain}', f'"gain":{twice}', 1))
    assert error is not None
    assert error.event == n + 1
    text = json.dumps(record(ROTA), separators=(",", ":"))
    error = refusal_of_text(text.replace('"at":"1,0"', '"at":"1,0","at":"1,0"', 1))
    assert error is not None
    assert error.event == 1


def test_unknown_keys_are_ignored_with_their_contents() -> None:
    extra = '"x":{"a":[1,null,{"b":"\\u00e9 é"}],"a":2},"n":' + "9" * 5000 + ',"f":1e999,'
    text = line().replace('{"format"', "{" + extra + '"format"', 1)
    text = text.replace('{"t":"draw"', "{" + extra + '"t":"draw"', 1)
    text = text.replace('"result":{', '"result":{' + extra, 1).replace('"setup":{', '"setup":{' + extra, 1)
    assert text.count(extra) == 4
    assert refusal_of_text(text) is None
    value = record(ROTA)
    value["events"][0]["display"][0]["note"] = {"x": 1}
    value["events"][0]["p"] = "nobody"
    assert refusal(value) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"x":"\xff"}', "not UTF-8: byte 0xff at offset 6"),
        (b'{"\xc3":1}', "not UTF-8"),
        (b"\xed\xa0\x80", "not UTF-8"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"{\x00}", "not JSON"),
        (b'{"x":NaN}', "NaN is not a JSON number"),
        (b'{"x":-Infinity}', "-Infinity is not a JSON number"),
        (b'{"x":"\\ud800"}', "lone surrogate"),
        (b'{"x":"\x01"}', "not JSON"),
        (b"{}{}", "not JSON"),
        (b"", "not JSON"),
        (b"[]", "Expected `object`, got `array`"),
        (b"null", "Expected `object`, got `null`"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"x":' * 100_000, "nested too deeply"),
        (b" " * (MAX_LINE_BYTES + 1), f"longer than {MAX_LINE_BYTES} bytes"),
        (b"9" * 100_000, "Expected `object`, got `float`"),
    ],
)
def test_invalid_bytes_are_refused(text: bytes, words: str) -> None:
    error = refusal_of_text(text)
    assert error is not None
    assert words in str(error)


REPEATING = '{"a":1,"a":2}'


def test_repeated_keys_take_linear_time() -> None:
    """The keys repeat at the bottom of deep JSON, so each of their paths is as long as the JSON is deep."""
    for inner in (
        f"[{','.join([REPEATING] * 200)}]",
        '{"a":' * 100 + "[" * 100 + "]" * 100 + ',"a":1}' * 100,
    ):
        deep = "[" * 500 + inner + "]" * 500
        for opened, closed in (("[", "]"), ('{"x":', "}"), ('{"x":1,"x":', "}")):
            text = opened * 200 + deep + closed * 200
            _, repeated = read_json(text)
            assert sum(len(way) + 1 for way, _ in repeated) <= len(text)
    assert read_json(f'{{"x":[{REPEATING}]}}')[1] == [(("x", 0), "a")]


def test_repeated_keys_of_deep_json_give_short_errors() -> None:
    deep = '"x":' + '{"a":0,"a":[' * 300 + REPEATING + "]}" * 300 + ","
    assert refusal_of_text(line().replace("{", "{" + deep, 1)) is None
    assert refusal_of_text(line().replace('{"t":"draw"', "{" + deep + '"t":"draw"', 1)) is None
    error = refusal_of_text(line().replace('{"t":"draw"', "{" + deep * 2 + '"t":"draw"', 1))
    assert error is not None
    assert (error.event, len(str(error)) < 100) == (1, True)
    assert "the key 'x' occurs twice" in str(error)


@pytest.mark.parametrize("text", NO_TEXT, ids=lambda value: type(value).__name__)
def test_record_must_be_text(text: Any) -> None:
    with pytest.raises(InvalidRecord, match=r"not a record: .* is not text: give a line of JSON") as caught:
        Record.parse(text)
    assert len(str(caught.value)) < 200


def test_record_is_parsed_from_text_or_bytes() -> None:
    text: Any
    for text in (line().encode(), bytearray(line().encode())):
        assert Record.parse(text) == Record.parse(line())


@pytest.mark.parametrize("source", [None, 5, b"games.jsonl", ["games.jsonl"]])
def test_invalid_file_names_are_refused(source: Any) -> None:
    with pytest.raises(InvalidFile, match="is not a file name"):
        list(read_records(source))


def test_player_names_are_text() -> None:
    table = Table(find_variant("axio", 2))
    names: Any
    for names in (["Ann", 5], [None, "Ben"], ["Ann", "\ud800"]):
        with pytest.raises(AxioError, match="a player's name is text"):
            record_of(table, names)


def test_invalid_bytes_in_an_unknown_key_are_refused() -> None:
    good = line().encode()
    for bad in (b'{"x":"\xff",', b'{"\xff":1,', b'{"x":"\xed\xa0\x80",'):
        error = refusal_of_text(good.replace(b"{", bad, 1))
        assert error is not None
        assert "not UTF-8" in str(error)


def test_lone_surrogate_is_refused() -> None:
    for text in ("\ud800", '{"x":"\udfff"}'):
        with pytest.raises(InvalidRecord, match="lone surrogate"):
            Record.parse(text)


def test_error_messages_of_records_are_short() -> None:
    long = "R" * 100_000
    n = first(record(AXIO), "place")
    changes: tuple[Callable[[Json], Any], ...] = (
        lambda value: value["events"][n].update(tile=long),
        lambda value: value["events"][n].update(t=long),
        lambda value: value["events"][n].update(gain={long: 1}),
        lambda value: value["events"][n].update(pyramids=[long]),
        lambda value: value["events"][0].update(tiles=[long]),
        lambda value: value.update(game=long),
        lambda value: value.update(format=long),
        lambda value: value["setup"]["tileset"].update({long: 1}),
        lambda value: value.update(commitment=long),
        lambda value: value["result"]["scores"][0].update({long: 1}),
    )
    for change in changes:
        value = record(AXIO)
        change(value)
        error = refusal(value)
        assert error is not None
        assert len(str(error)) < 500


# ---------------------------------------------------------------- the rest of the head


def test_commitment_is_a_digest() -> None:
    value = record(AXIO)
    value["commitment"] = "0" * 64
    assert refusal(value) is None
    for wrong in ("", "0" * 63, "g" * 64, "0" * 64 + "\n"):
        value["commitment"] = wrong
        assert_refused(value, None, "expected a SHA-256 in 64 hexadecimal digits")


def test_seed_length_is_limited() -> None:
    table = new_game("axio", seed="x" * MAX_SEED_LENGTH)
    assert replay(record_of(table, with_seed=True)) == replay(record_of(table))
    longer = record_of(new_game("axio", seed="x" * (MAX_SEED_LENGTH + 1)), with_seed=True)
    with pytest.raises(InvalidRecord, match="the seed has 10001 characters, more than the limit of 10000"):
        replay(longer)


def test_impossible_file_name_is_refused() -> None:
    with pytest.raises(InvalidFile, match="is not a valid file name"):
        list(read_records("a\0b"))
    with pytest.raises(InvalidFile, match="is not a valid file name"):
        list(read_records("\ud800"))


def test_invalid_record_of_a_file_keeps_its_event(tmp_path: Path) -> None:
    value = record(AXIO)
    value["events"][4] = None
    file = tmp_path / "games.jsonl"
    file.write_text(f"\n{json.dumps(value)}\n", encoding="utf-8")
    with pytest.raises(InvalidRecord, match=r"games.jsonl, line 2: event 5: not a record") as caught:
        list(read_records(file))
    assert caught.value.event == 5
