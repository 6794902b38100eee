"""Records of games: writing, reading and replaying the format `axio-record/1`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ..drawing.scene import PlacedTile
from ..errors import AxioError, InvalidRecord, ParseError, abbreviated, shortened
from ..files import MAX_LINE_BYTES, is_unicode, read_json, read_lines
from ..games import find_variant
from ..games.runtime.state import DRAW, OFFER, REMOVE, START
from ..games.variant import Variant
from ..moves import Move
from ..rng import commitment
from .events import Display, Draw, Event, Exchange, Pass, Place, Removed, Result, Start
from .table import Table

FORMAT = "axio-record/1"
MAX_SEED_LENGTH = 10_000  # characters; the check of each draw hashes the seed
_IN_EVENT = re.compile(r" - at `\$\.events\[(\d+)\][^`]*`$")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Setup(Struct, frozen=True):
    """The components of a game, which make a record complete without this package.

    Attributes:
        printed: the printed symbols of the board, by cell.
        tileset: the number of tiles of each kind.
        board: the cells of the board.
    """

    printed: dict[str, str] | UnsetType = UNSET
    tileset: dict[str, int] | UnsetType = UNSET
    board: tuple[str, ...] | UnsetType = UNSET

    def __hash__(self) -> int:
        return hash(msgspec.json.encode(self, order="sorted"))


class Record(Struct, frozen=True, kw_only=True):
    """A game, finished or abandoned, as one line of JSON.

    Attributes:
        format: always `axio-record/1`.
        game: the name of the game.
        players: the name of the player on each seat.
        options: the options of the game that are switched on.
        setup: the components of the game.
        events: all events, draws included.
        result: the result; unset for abandoned games.
        commitment: the SHA-256 of the seed, published before the game.
        seed: the seed of the draws, published after the game.

    >>> from axiogames import new_game
    >>> record = record_of(new_game("axio", players=2, seed=7), ["Ann", "Ben"])
    >>> Record.parse(record.to_json()) == record
    True
    """

    format: str
    game: str
    players: tuple[str, ...]
    options: dict[str, bool] = {}
    setup: Setup | UnsetType = UNSET
    events: tuple[Event, ...]
    result: Result | UnsetType = UNSET
    commitment: str | UnsetType = UNSET
    seed: str | UnsetType = UNSET

    def __hash__(self) -> int:
        return hash(msgspec.json.encode(self, order="sorted"))

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return _ENCODER.encode(self).decode()

    @classmethod
    def parse(cls, text: str | bytes) -> Record:
        """Parse a record. Its events are not checked against the rules; see `replay`.

        Args:
            text: one line of JSON. Keys that are not part of the format are ignored.

        Raises:
            InvalidRecord: the text is not a record; `event` is set if one event is malformed.
        """
        if not isinstance(text, str | bytes | bytearray):
            raise InvalidRecord(f"not a record: {abbreviated(text)} is not text: give a line of JSON")
        if len(text) > MAX_LINE_BYTES:
            raise InvalidRecord(f"not a record: longer than {MAX_LINE_BYTES} bytes")
        try:
            value, repeated = read_json(text)
        except ParseError as error:
            raise InvalidRecord(f"not a record: {error}") from None
        for path, name in repeated:
            if _is_in_format(path):
                event = path[1] if path[:1] == ("events",) else None
                raise _error(f"not a record: the key {name!r} occurs twice in one object", event)
        if isinstance(value, dict) and isinstance(value.get("format"), str) and value["format"] != FORMAT:
            raise _error(f"the format is {value['format']!r}, expected {FORMAT!r}")
        try:
            return msgspec.convert(value, cls)
        except msgspec.ValidationError as error:
            in_event = _IN_EVENT.search(str(error))
            raise _error(f"not a record: {error}", int(in_event[1]) if in_event else None) from None


_ENCODER = msgspec.json.Encoder()


def _is_in_format(path: tuple[str | int, ...]) -> bool:
    """Return whether the object at a path of a record is part of the format, not below an ignored key."""
    match path:
        case () | ("options",) | ("setup",) | ("setup", "printed" | "tileset"):
            return True
        case ("events", int()) | ("events", int(), "gain") | ("events", int(), "display", int()):
            return True
        case ("result",) | ("result", "scores", int()):
            return True
    return False


def _error(message: str, event: int | str | None = None) -> InvalidRecord:
    """Return an error. `event` is an index, from 0; the message counts from 1.

    The message is shortened, since it may quote a tile or a number of any length.
    """
    return InvalidRecord(shortened(message), event + 1 if isinstance(event, int) else None)


def record_of(table: Table, names: Sequence[str] | None = None, *, with_seed: bool = False) -> Record:
    """Return the record of a table.

    Args:
        table: the table. The game may be unfinished.
        names: a name for each seat; by default `seat 0` and so on.
        with_seed: include the seed and its commitment. The seed reveals all future draws.

    Returns:
        The record.

    Raises:
        AxioError: the number of names is not the number of seats, or a name is not text.
    """
    names = tuple(names) if names else tuple(f"seat {seat}" for seat in range(table.players))
    if len(names) != table.players:
        raise AxioError(f"{len(names)} names for {table.players} seats: give one name per seat")
    for name in names:
        if not (isinstance(name, str) and is_unicode(name)):
            raise AxioError(f"a player's name is text in Unicode, not {abbreviated(name)}")
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
    """Read the records of a JSON Lines file.

    Args:
        path: name of the file.

    Yields:
        The line number and the record of each line.

    Raises:
        InvalidFile: the file cannot be read.
        InvalidRecord: a line is not a record; the message names the line.
    """
    for number, line in read_lines(path):
        try:
            yield number, Record.parse(line)
        except InvalidRecord as error:
            raise error.located(f"{path}, line {number}") from None


def replay(record: Record, *, upto: int | None = None) -> Table:
    """Replay a record and check every event, the result and the seed against the rules.

    Args:
        record: the record.
        upto: the number of moves of players to replay. By default all; otherwise later events and the result
            are not checked.

    Returns:
        The table at the end of the record, or after `upto` moves. It draws nothing by itself.

    Raises:
        InvalidRecord: the record breaks the rules. `event` is the number of the first event that does,
            counted from 1, or `None` if the error is not in an event.
    """
    try:
        variant = find_variant(record.game, len(record.players), record.options)
    except AxioError as error:
        raise _error(str(error)) from None
    _check_setup(record.setup, variant)
    table = Table(variant)
    for index, event in enumerate(record.events):
        if upto is not None and table.plies >= upto and not _is_due(table, event):
            return table
        try:
            apply_event(table, event)
        except AxioError as error:
            raise _error(str(error), index) from None
    if upto is None:
        _check_result(record.result, table)
        _check_seed(record, table)
    return table


def _is_due(table: Table, event: Event) -> bool:
    """Return whether an event is a draw that the last move requires."""
    return isinstance(event, Draw | Start | Removed) and table.draw_due > 0


def apply_event(table: Table, event: Event) -> None:
    """Apply an event to a table without a seed.

    Raises:
        AxioError: the event breaks the rules. Parts of it may have been applied.
    """
    if table.over:
        raise InvalidRecord("the game is over: no event can follow")
    match event:
        case Start(display):
            _start(table, display)
        case Removed(tiles):
            _remove(table, tiles)
        case Draw(p, tiles, source):
            _draw(table, p, tiles, source)
        case Place():
            _place(table, event)
        case Exchange(p, shown):
            if not shown:
                raise InvalidRecord("an exchange of no tiles: `shown` lists the tiles exchanged")
            table.play(Move("exchange", tiles=shown), p)
        case Pass(p):
            table.play(Move("pass"), p)


def _start(table: Table, display: Sequence[Display]) -> None:
    places = table.variant.start_places
    if not places:
        raise InvalidRecord("this game has no opening display")
    if table.state["phase"][0] != START or table.draw_due != len(places):
        raise InvalidRecord("the opening display is complete: it is the first event and occurs once")
    if sorted(shown.at for shown in display) != sorted(places):
        cells = _list([shown.at for shown in display])
        raise InvalidRecord(f"the opening display is on {cells}, expected {_list(places)}, each once")
    tiles = {shown.at: shown.tile for shown in display}
    for at in places:  # a record may list them in any order
        _chance(table, PlacedTile(tiles[at], (at,)))


def _remove(table: Table, tiles: Sequence[str]) -> None:
    if table.state["phase"][0] != REMOVE:
        raise InvalidRecord("no tiles can be removed now: some games remove tiles once, before the deal")
    if len(tiles) != table.draw_due:
        raise InvalidRecord(f"{len(tiles)} tiles are removed, expected {table.draw_due} in one event")
    for tile in tiles:
        _chance(table, tile)


def _draw(table: Table, seat: int, tiles: Sequence[str], source: str) -> None:
    if table.state["phase"][0] == OFFER and seat == table.turn:
        table.play(Move("keep"))  # a draw without an exchange: the hand was kept
    phase, due, variant = table.state["phase"][0], table.draw_due, table.variant
    if phase == START:
        raise InvalidRecord(f"seat {seat} draws before the opening display is complete")
    if phase == REMOVE:
        raise InvalidRecord(f"seat {seat} draws before {due} tiles have been removed")
    if phase != DRAW:
        raise InvalidRecord(f"seat {seat} draws, but no draw is due")
    if seat != table.state["seat"][0]:
        raise InvalidRecord(f"seat {seat} draws, but seat {table.state['seat'][0]} has to draw")
    if source != variant.source(table.state):
        raise InvalidRecord(f"the tile is drawn from {source!r}, expected {variant.source(table.state)!r}")
    if not tiles:
        raise InvalidRecord(f"a draw of no tiles: {due} are due")
    if len(tiles) > due:
        raise InvalidRecord(f"{len(tiles)} tiles are drawn, but {due} are due")
    for tile in tiles:
        _chance(table, tile)


def _chance(table: Table, tile: str | PlacedTile) -> None:
    """Draw a tile that is due. Raise `InvalidRecord` if this tile cannot be drawn."""
    letters = tile.letters if isinstance(tile, PlacedTile) else tile
    kind = table.variant.kind_of(letters)
    if kind is None:
        raise InvalidRecord(f"{letters!r} is not a tile of this game")
    if not table.state["bag"][0, kind]:
        raise InvalidRecord(f"{letters} cannot be drawn: none is left")
    table.draw(tile)


def _place(table: Table, event: Place) -> None:
    before = table.variant.pyramids(table.state)
    gain = table.play(Move("place", event.tile, event.at, event.named), event.p)
    if event.gain != gain:
        raise InvalidRecord(
            f"{event.tile} {'-'.join(event.at)} scores {gain}, but the record says {event.gain}"
        )
    new = [cell for cell in table.variant.pyramids(table.state) if cell not in before]
    if sorted(event.pyramids) != sorted(new):
        raise InvalidRecord(f"pyramids on {_list(event.pyramids)}, but the rules set them on {_list(new)}")


def _check_setup(setup: Setup | UnsetType, variant: Variant) -> None:
    if setup is UNSET:
        return
    expected: dict[str, Any] = variant.setup()
    for name in ("printed", "board"):
        value = getattr(setup, name)
        if value is not UNSET and (name not in expected or type(expected[name])(value) != expected[name]):
            raise InvalidRecord(f"the setup's {name} differs from this program's {variant.game.id}")
    if setup.tileset is UNSET:
        return
    counts: Counter[str] = Counter()
    for tile, count in setup.tileset.items():
        kind = variant.kind_of(tile)
        if kind is None:
            raise _error(f"the setup's tileset has {tile!r}, which is not a tile of {variant.game.id}")
        if count < 0:
            raise _error(f"the setup's tileset has {count} tiles {tile}: the count cannot be negative")
        counts[variant.kinds[kind]] += count
    for tile, count in variant.tileset.items():
        if counts[tile] != count:
            raise _error(
                f"the setup's tileset differs from this program's {variant.game.id}:"
                f" {counts[tile]} tiles {tile}, not {count}"
            )


def _check_result(result: Result | UnsetType, table: Table) -> None:
    if result is UNSET:
        if table.over:
            raise InvalidRecord("the game is over, but the record has no result")
    elif not table.over:
        raise InvalidRecord("the record has a result, but the game is not over")
    elif result != table.result:
        raise _error(f"the result is {_json(table.result)}, but the record says {_json(result)}")


def _check_seed(record: Record, table: Table) -> None:
    if record.commitment is not UNSET and not _SHA256.fullmatch(record.commitment):
        raise _error(f"the commitment is {record.commitment!r}, expected a SHA-256 in 64 hexadecimal digits")
    if record.seed is UNSET:
        return
    if len(record.seed) > MAX_SEED_LENGTH:
        raise InvalidRecord(
            f"the seed has {len(record.seed)} characters, more than the limit of {MAX_SEED_LENGTH}"
        )
    if record.commitment is not UNSET and commitment(record.seed) != record.commitment:
        raise InvalidRecord("the seed does not match the commitment, its SHA-256")
    if not table.follows_from(record.seed):
        raise InvalidRecord("the seed does not lead to the tiles drawn")


def _json(result: object) -> str:
    return msgspec.json.encode(result).decode()


def _list(cells: Sequence[str]) -> str:
    return " ".join(cells) or "no cell"
