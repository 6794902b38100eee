"""The text form of whole games, for people to read and write.

    Game: axio
    Players: "Ann" "Ben"
    deal 0: RG BB OP GO RP
    deal 1: GG RB PP GB OO
      1. 0: GR k8-j8 (G 1) draws RO
      2. 1: RB g10-f10 (R 1)
      3. 1: exchanges GG PP GB OO draws RP RR BO GP RG
    Unfinished

Seats count from 0. After a placement, its points and pyramids (`^c5`) are in brackets. The source of tiles
and the setup of the game follow from the rules, so the text leaves them out.
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

_MOVE_LINE = re.compile(r"(?P<number>[0-9]{1,6})\. (?P<seat>[0-9]): (?P<what>.+?)(?: draws (?P<drawn>.+))?")
_DEAL_LINE = re.compile(r"deal (?P<seat>[0-9]): (?P<tiles>.+)")
_POINTS = re.compile(r"[0-9]{1,4}")
_HEAD = ("Game: ", "Players: ", "Options: ")
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
                elif isinstance(before, Draw):  # a draw that the record has in parts
                    lines[-1] += f" {' '.join(tiles)}"
                else:
                    lines[-1] += f" draws {' '.join(tiles)}"
            case _:
                moves += 1
                lines.append(f"{moves:>3}. {event.p}: {_words(event)}")
    lines.append(_result(record))
    return "\n".join(lines) + "\n"


def _words(event: Place | Exchange | Pass) -> str:
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
    told = []
    for name, place, points in seats:
        counted = ", ".join(f"{track} {n}" for track, n in points.items())
        told.append(f"{place}. {json.dumps(name, ensure_ascii=False)} ({counted})")
    return "Result: " + "; ".join(told)


def read_game(text: str) -> Record:
    """Parse the text of a game and check every line against the rules.

    Returns:
        The record of the game.

    Raises:
        ParseError: a line is malformed or breaks a rule; the message names the line.
    """
    if not isinstance(text, str):
        raise ParseError(f"a game is text, not {abbreviated(text)}")
    # Not `splitlines`, which also splits at other characters that names may contain.
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    head: dict[str, str] = {}
    while lines and lines[0][1].startswith(_HEAD):
        number, line = lines.pop(0)
        name, _, value = line.partition(": ")
        if name in head:
            raise ParseError(f"line {number}: a game has one line '{name}: …'")
        head[name] = value
    if "Game" not in head or "Players" not in head:
        raise ParseError("a game starts with the lines 'Game: …' and 'Players: \"…\" \"…\"'")
    names = _names(head["Players"])
    options = dict.fromkeys(head.get("Options", "").split(), True)
    try:
        table = Table(find_variant(head["Game"], len(names), options))
    except AxioError as error:
        raise ParseError(shortened(f"the head of the game: {error}")) from None
    if not lines:
        raise ParseError("the game ends after its head: a line 'Unfinished' or 'Result: …' should close it")
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
        raise ParseError(f"line {number}: the game should close with {_result(record)!r}")
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
    except (ValueError, RecursionError):  # such as half a surrogate pair, which cannot be encoded
        pass
    raise ParseError(f"{text[:60]!r} should be names in quotes")


def _events(table: Table, line: str, next_move: int) -> Iterator[Event]:
    """Yield the events of a line, lazily: the source of a draw depends on the event before it."""
    kind, _, rest = line.partition(": ")
    if kind == "start":
        words = rest.split()
        if len(words) % 2:
            raise ParseError(
                f"{line[:60]!r} should be tiles with their positions, such as 'start: RGBO 0,0 …'"
            )
        yield Start(tuple(Display(tile, at) for tile, at in zip(words[::2], words[1::2], strict=True)))
    elif kind == "removed":
        yield Removed(tuple(rest.split()))
    elif deal := _DEAL_LINE.fullmatch(line):
        if next_move > 1:
            raise ParseError("tiles are dealt before the first move; later ones follow a move, as 'draws RO'")
        yield Draw(int(deal["seat"]), tuple(deal["tiles"].split()), table.variant.source(table.state))
    elif told := _MOVE_LINE.fullmatch(line):
        if int(told["number"]) != next_move:
            raise ParseError(f"move {told['number']} should have the number {next_move}")
        yield _move(int(told["seat"]), told["what"])
        if told["drawn"]:
            drawn = tuple(told["drawn"].split())
            yield Draw(int(told["seat"]), drawn, table.variant.source(table.state))
    else:
        raise ParseError(f"{line[:60]!r} is no line of a game, such as '1. 0: GR k8-j8 (G 1) draws RO'")


def _move(seat: int, words: str) -> Event:
    if words == "passes":
        return Pass(seat)
    if words.startswith("exchanges "):
        return Exchange(seat, tuple(words.split()[1:]))
    placed = _PLACED.fullmatch(words)
    if placed is None:
        raise ParseError(
            f"{words[:60]!r} should be a placement and what it scored, 'exchanges …' or 'passes'"
        )
    move = Move.parse(placed["move"])
    gain, pyramids = _scored((placed["scored"] or "").split(", "))
    return Place(seat, move.tile, move.at, gain, move.named, pyramids)


def _scored(items: Sequence[str]) -> tuple[dict[str, int], tuple[str, ...]]:
    gain: dict[str, int] = {}
    pyramids = []
    for item in filter(None, items):
        track, _, points = item.partition(" ")
        if item.startswith("^"):
            pyramids.append(item[1:])
        elif track in gain:
            raise ParseError(f"the points of {track} stand twice")
        elif _POINTS.fullmatch(points):
            gain[track] = int(points)
        else:
            raise ParseError(
                f"{item!r} should be a colour and its points, such as 'G 1', or a pyramid, '^c5'"
            )
    return gain, tuple(pyramids)
