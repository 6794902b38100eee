"""The text form of whole games, for people to read and write.

    Game: axio
    Players: "Ann" "Ben"
    deal 0: RG BB OP GO RP
    deal 1: GG RB PP GB OO
      1. 0: GR k8-j8 (G 1) draws RO
      2. 1: RB g10-f10 (R 1)
      3. 1: exchanges GG PP GB OO draws RP RR BO GP RG
    Unfinished

Seats are counted from 0. A placement is followed by its points and pyramids (`^c5`) in parentheses. The
source of tiles and the setup of the game follow from the rules, so the text omits them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from ..errors import AxioError, ParseError, abbreviated, shortened
from ..games import find_variant
from ..moves import Move
from .events import Display, Draw, Event, Exchange, Pass, Place, Removed, Start
from .record import Record, apply_event, record_of
from .table import Table

_MOVE_LINE = re.compile(r"(?P<number>[0-9]{1,6})\. (?P<seat>[0-9]): (?P<move>.+?)(?: draws (?P<drawn>.+))?")
_DEAL_LINE = re.compile(r"deal (?P<seat>[0-9]): (?P<tiles>.+)")
_POINTS = re.compile(r"[0-9]{1,4}")
_HEADER = ("Game: ", "Players: ", "Options: ")
_PLACED = re.compile(r"(?P<move>\S+ \S+)(?: \((?P<scored>[^)]*)\))?")


def write_game(record: Record) -> str:
    """Return the text of a game."""
    lines = [
        f"Game: {record.game}",
        f"Players: {' '.join(json.dumps(name, ensure_ascii=False) for name in record.players)}",
    ]
    if switched_on := sorted(name for name, value in record.options.items() if value):
        lines.append(f"Options: {' '.join(switched_on)}")
    moves = 0
    for before, event in zip((None, *record.events), record.events, strict=False):
        match event:
            case Start(display):
                lines.append("start: " + " ".join(f"{shown.tile} {shown.at}" for shown in display))
            case Removed(tiles):
                lines.append("removed: " + " ".join(tiles))
            case Draw(p, tiles):
                if moves == 0:
                    lines.append(f"deal {p}: {' '.join(tiles)}")
                elif isinstance(before, Draw):  # a draw that is split in the record
                    lines[-1] += f" {' '.join(tiles)}"
                else:
                    lines[-1] += f" draws {' '.join(tiles)}"
            case _:
                moves += 1
                lines.append(f"{moves:>3}. {event.p}: {_write_move(event)}")
    lines.append(_result(record))
    return "\n".join(lines) + "\n"


def _write_move(event: Place | Exchange | Pass) -> str:
    if isinstance(event, Place):
        scored = [f"{track} {points}" for track, points in event.gain.items()]
        scored += [f"^{cell}" for cell in event.pyramids]
        return f"{Move('place', event.tile, event.at, event.named)}" + (
            f" ({', '.join(scored)})" if scored else ""
        )
    if isinstance(event, Exchange):
        return f"exchanges {' '.join(event.shown)}"
    return "passes"


def _result(record: Record) -> str:
    if not record.result:
        return "Unfinished"
    seats = zip(record.players, record.result.place, record.result.scores, strict=True)
    results = []
    for name, rank, scores in seats:
        points = ", ".join(f"{track} {n}" for track, n in scores.items())
        results.append(f"{rank}. {json.dumps(name, ensure_ascii=False)} ({points})")
    return "Result: " + "; ".join(results)


def read_game(text: str) -> Record:
    """Parse the text of a game and check every line against the rules.

    Args:
        text: the game, as `write_game` writes it.

    Returns:
        The record of the game.

    Raises:
        ParseError: a line is malformed or breaks a rule; the message names the line.
    """
    if not isinstance(text, str):
        raise ParseError(f"a game is text, not {abbreviated(text)}")
    # Not `splitlines`, which also splits at other characters that names may contain.
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    header: dict[str, str] = {}
    while lines and lines[0][1].startswith(_HEADER):
        number, line = lines.pop(0)
        name, _, value = line.partition(": ")
        if name in header:
            raise ParseError(f"line {number}: a second line '{name}: …'")
        header[name] = value
    if "Game" not in header or "Players" not in header:
        raise ParseError("a game starts with the lines 'Game: …' and 'Players: \"…\" \"…\"'")
    names = _names(header["Players"])
    options = dict.fromkeys(header.get("Options", "").split(), True)
    try:
        table = Table(find_variant(header["Game"], len(names), options))
    except AxioError as error:
        raise ParseError(shortened(f"header: {error}")) from None
    if not lines:
        raise ParseError("the last line is missing: it is 'Unfinished' or 'Result: …'")
    moves = 0
    for number, line in lines[:-1]:
        try:
            for event in _events(table, line, moves + 1):
                apply_event(table, event)
                moves += isinstance(event, Place | Exchange | Pass)
        except AxioError as error:
            raise ParseError(shortened(f"line {number}: {error}")) from None
    record = record_of(table, names)
    number, last = lines[-1]
    if last != _result(record):
        raise ParseError(f"line {number}: the last line of this game should be {_result(record)!r}")
    return record


def _names(text: str) -> list[str]:
    decoder, names, at = json.JSONDecoder(), [], 0
    try:
        while at < len(text):
            name, at = decoder.raw_decode(text, at)
            names.append(name)
            at += 1
        if all(isinstance(name, str) for name in names):
            "".join(names).encode("utf-8")
            return names
    except (ValueError, RecursionError):  # for example, a lone surrogate cannot be encoded
        pass
    raise ParseError(f"{text[:60]!r} should be names in double quotes")


def _events(table: Table, line: str, next_move: int) -> Iterator[Event]:
    """Yield the events of a line. Apply each before the next: it determines the source of a draw."""
    kind, _, rest = line.partition(": ")
    if kind == "start":
        words = rest.split()
        if len(words) % 2:
            raise ParseError(f"{line[:60]!r} should be tiles with their cells, such as 'start: RGBO 0,0 …'")
        yield Start(tuple(Display(tile, at) for tile, at in zip(words[::2], words[1::2], strict=True)))
    elif kind == "removed":
        yield Removed(tuple(rest.split()))
    elif deal := _DEAL_LINE.fullmatch(line):
        if next_move > 1:
            raise ParseError("'deal' comes before the first move; later draws follow a move, as 'draws RO'")
        yield Draw(int(deal["seat"]), tuple(deal["tiles"].split()), table.variant.source(table.state))
    elif found := _MOVE_LINE.fullmatch(line):
        if int(found["number"]) != next_move:
            raise ParseError(f"move {found['number']} should have the number {next_move}")
        yield _read_move(int(found["seat"]), found["move"])
        if found["drawn"]:
            drawn = tuple(found["drawn"].split())
            yield Draw(int(found["seat"]), drawn, table.variant.source(table.state))
    else:
        raise ParseError(f"{line[:60]!r} is not a line of a game, such as '1. 0: GR k8-j8 (G 1) draws RO'")


def _read_move(seat: int, text: str) -> Event:
    if text == "passes":
        return Pass(seat)
    if text.startswith("exchanges "):
        return Exchange(seat, tuple(text.split()[1:]))
    placed = _PLACED.fullmatch(text)
    if placed is None:
        raise ParseError(f"{text[:60]!r} should be a placement with its points, 'exchanges …' or 'passes'")
    move = Move.parse(placed["move"])
    gain, pyramids = _read_scored((placed["scored"] or "").split(", "))
    return Place(seat, move.tile, move.at, gain, move.named, pyramids)


def _read_scored(items: Sequence[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    gain: dict[str, int] = {}
    pyramids = []
    for item in filter(None, items):
        track, _, points = item.partition(" ")
        if item.startswith("^"):
            pyramids.append(item[1:])
        elif track in gain:
            raise ParseError(f"the points of {track} occur twice")
        elif _POINTS.fullmatch(points):
            gain[track] = int(points)
        else:
            raise ParseError(
                f"{item!r} should be a track and its points, such as 'G 1', or a pyramid, such as '^c5'"
            )
    return gain, tuple(pyramids)
