"""The exact record of a game, `axio-record/1`: written, read and re-checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from .chance import commitment
from .drawing.scene import Laid
from .engine.phases import OFFER
from .errors import AxioError, BadFile, BadRecord
from .events import Draw, Event, Exchange, Pass, Place, Removed, Result, Start
from .games import find_variant
from .games.variant import Variant
from .moves import Move
from .table import Table

FORMAT = "axio-record/1"


class Setup(Struct, frozen=True):
    """What of a game is reconstruction, so that a record stands alone."""

    printed: dict[str, str] | UnsetType = UNSET
    tileset: dict[str, int] | UnsetType = UNSET
    board: tuple[str, ...] | UnsetType = UNSET


class Record(Struct, frozen=True, kw_only=True):
    """One game, finished or abandoned. Reads and writes as one line of JSON."""

    format: str
    game: str
    players: tuple[str, ...]
    options: dict[str, bool] = {}
    setup: Setup | UnsetType = UNSET
    events: tuple[Event, ...]
    result: Result | UnsetType = UNSET
    # Of games dealt fairly: what was shown of the seed at the start, and the seed, told at the end.
    commitment: str | UnsetType = UNSET
    seed: str | UnsetType = UNSET

    def to_json(self) -> str:
        """The record as one line of JSON."""
        return _ENCODER.encode(self).decode()

    @classmethod
    def parse(cls, text: str | bytes) -> Record:
        """Read a record. Raises `BadRecord` if the text is no JSON or no record."""
        try:
            record = _DECODER.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            # The decoder counts events from 0 where it says in which one it stumbled; people count from 1.
            where = re.search(r"\$\.events\[(\d+)\]", str(error))
            raise BadRecord(f"not a record: {error}", int(where[1]) + 1 if where else None) from None
        if record.format != FORMAT:
            raise BadRecord(f"the format is {record.format!r}, it should be {FORMAT!r}")
        return record


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Record)


def record_of(table: Table, names: Sequence[str] | None = None, *, with_seed: bool = False) -> Record:
    """The record of a table, with a name for each seat and, if it may be known by now, the seed."""
    names = tuple(names) if names else tuple(f"seat {seat}" for seat in range(table.players))
    if len(names) != table.players:
        raise AxioError(f"{len(names)} names for {table.players} seats")
    return Record(
        format=FORMAT,
        game=table.game,
        players=names,
        options=table.options,
        setup=msgspec.convert(table.variant.setup(), Setup),
        events=table.events,
        result=table.result or UNSET,
        commitment=commitment(table.seed) if with_seed and table.seed is not None else UNSET,
        seed=str(table.seed) if with_seed and table.seed is not None else UNSET,
    )


def read_records(path: str | Path) -> Iterator[tuple[int, Record]]:
    """The records of a file of JSON lines, each with its line number.

    Raises `BadFile` for a file that cannot be read and `BadRecord`, naming the line, for one that is wrong.
    """
    for number, line in read_lines(path):
        try:
            yield number, Record.parse(line)
        except BadRecord as error:
            raise BadRecord(f"{path}, line {number}: {error}") from None


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not empty, with their numbers. Raises `BadFile`."""
    empty = True
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    empty = False
                    yield number, line
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror or error}") from None
    if empty:
        raise BadFile(f"{path}: the file is empty, it should hold one record a line")


def replay(record: Record, *, upto: int | None = None) -> Table:
    """The table of a record, every event of it re-checked against the rules.

    With `upto`, stops after so many moves of players. Raises `BadRecord` (with the number of the event,
    counted from 1) if the record is not what the rules say.
    """
    try:
        variant = find_variant(record.game, len(record.players), record.options)
    except AxioError as error:
        raise BadRecord(str(error)) from None
    _check_setup(record.setup, variant)
    table = Table(variant)
    for number, event in enumerate(record.events, 1):
        if upto is not None and table.plies >= upto and not _is_due(table, event):
            return table
        try:
            carry_out(table, event)
        except BadRecord as error:
            raise BadRecord(str(error), number) from None
        except AxioError as error:
            raise BadRecord(str(error), number) from None
    if upto is None:
        _check_result(record.result, table)
        _check_seed(record, table)
    return table


def _is_due(table: Table, event: Event) -> bool:
    """Whether an event is chance that the last move has made due, not the next move of a player."""
    return isinstance(event, Draw | Start | Removed) and table.draw_due > 0


def carry_out(table: Table, event: Event) -> None:
    """Let an event happen at a table that does not deal. Raises an `AxioError` if it cannot have happened."""
    match event:
        case Start(display):
            for shown in display:
                table.draw(Laid(shown.tile, (shown.at,)))
        case Removed(tiles):
            if not table.variant.options or "removed" not in table.state.dtype.names:
                raise BadRecord("no tiles are removed in this game")
            _draw_all(table, tiles)
        case Draw(p, tiles, source):
            if table.state["phase"][0] == OFFER and p == table.turn:
                table.play(Move("keep"))
            _check_seat(table, p)
            if table.draw_due and source != table.variant.source(table.state):
                raise BadRecord(f"the tile comes from {table.variant.source(table.state)}, not {source}")
            if not tiles:
                raise BadRecord("a draw of no tiles")
            if len(tiles) > table.draw_due:
                raise BadRecord(f"{len(tiles)} tiles are drawn, {table.draw_due} are due")
            _draw_all(table, tiles)
        case Place(p, tile, at, gain, named, pyramids):
            _check_gain(table, event, table.play(Move("place", tile, at, named), p), gain)
            new = table.events[-1]
            assert isinstance(new, Place)
            if sorted(pyramids) != sorted(new.pyramids):
                raise BadRecord(f"pyramids on {_list(pyramids)}, the rules set them on {_list(new.pyramids)}")
        case Exchange(p, shown):
            table.play(Move("exchange", tiles=shown), p)
        case Pass(p):
            table.play(Move("pass"), p)


def _draw_all(table: Table, tiles: Sequence[str]) -> None:
    for tile in tiles:
        table.draw(tile)


def _check_seat(table: Table, seat: int) -> None:
    due = int(table.state["seat"][0])
    if table.draw_due and seat != due:
        raise BadRecord(f"seat {seat} draws, it is seat {due} that has to")


def _check_gain(table: Table, event: Place, counted: Mapping[str, int], written: Mapping[str, int]) -> None:
    if dict(written) != dict(counted):
        raise BadRecord(
            f"{event.tile} {'-'.join(event.at)} gains {dict(counted)}, the record says {dict(written)}"
        )


def _check_setup(setup: Setup | UnsetType, variant: Variant) -> None:
    if setup is UNSET:
        return
    ours: dict[str, Any] = variant.setup()
    for name in ("printed", "board"):
        theirs = getattr(setup, name)
        if theirs is not UNSET and (name not in ours or type(ours[name])(theirs) != ours[name]):
            raise BadRecord(f"the setup's {name} differs from this program's {variant.game.id}")
    if setup.tileset is not UNSET:
        counts: Counter[int | None] = Counter()
        for tile, count in setup.tileset.items():
            counts[variant.kind_of(tile)] += count
        if counts != {variant.kind_of(tile): count for tile, count in variant.tileset.items()}:
            raise BadRecord(f"the setup's tileset differs from this program's {variant.game.id}")


def _check_result(result: Result | UnsetType, table: Table) -> None:
    if result is UNSET:
        if table.over:
            raise BadRecord("the game is over but the record has no result")
    elif not table.over:
        raise BadRecord("the record has a result but the game is not over")
    elif result != table.result:
        raise BadRecord(f"the result is {_plain(table.result)}, the record says {_plain(result)}")


def _check_seed(record: Record, table: Table) -> None:
    if record.seed is UNSET:
        return
    if record.commitment is not UNSET and commitment(record.seed) != record.commitment:
        raise BadRecord("the seed is not the one that was committed to: its SHA-256 differs")
    if not table.follows_from(record.seed):
        raise BadRecord("the tiles drawn are not the ones that the seed deals")


def _plain(result: object) -> str:
    return msgspec.json.encode(result).decode()


def _list(cells: Sequence[str]) -> str:
    return " ".join(cells) or "no square"
