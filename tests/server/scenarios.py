"""Games that a viewer cannot distinguish, and everything a server sends to that viewer.

A scenario is the log of a table. Its twin for a viewer has the same visible history, but another seed and
other hidden tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import msgspec
from sqlalchemy import delete, insert, update

from axiogames.errors import AxioError
from axiogames.games import rules_page
from axiogames.model.events import Draw, Event, Removed, Start
from axiogames.players import PLAYERS, Budget, player
from axiogames.rng import Generator
from axiogames.server.domain.entries import (
    UNDRAWN,
    BotSeated,
    GameStarted,
    MovePlayed,
    SeatTaken,
    TableEntry,
    TilesDrawn,
    encode_entry,
)
from axiogames.server.domain.game_state import GameState, TableConfig
from axiogames.server.identity.people import Person
from axiogames.server.rendering.pictures import MAX_CACHE_BYTES, ByteCache
from axiogames.server.storage.schema import entries, people, results, reviews, seats, tables
from tests.games.conformance.positions import Case
from tests.games.conformance.test_views import redealt
from tests.server.in_process import App, Json, Socket

START_TIME = 1_700_000_000_000
BUDGET = Budget(rollouts=40)
TABLE = "table-under-test"
INVITE = "invite-under-test"


@dataclass(frozen=True)
class Scenario:
    """A table and its log up to an entry."""

    config: TableConfig
    log: tuple[TableEntry, ...]

    @cached_property
    def game(self) -> GameState:
        """The state after the last entry."""
        game = GameState.new(self.config)
        for entry in self.log:
            game.apply(entry)
        return game

    def up_to(self, number: int) -> Scenario:
        """Return the scenario after `number` entries."""
        return Scenario(self.config, self.log[:number])


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person, anonymous or not, who watches a table from a seat or without one."""

    name: str
    person: str | None
    seat: int | None
    look: bool = False  # the person shares a screen and selects the seat by `look`

    def token(self, app: App) -> str:
        return app.server.people.token(Person(self.person, "")) if self.person else ""


# ---------------------------------------------------------------- games


@cache
def play_scenario(case: Case, kind: str) -> Scenario:
    """Return a complete game of several people, of people at one screen, or of one person and bots."""
    config = TableConfig(
        id=TABLE,
        game=case.game,
        players=case.players,
        options=dict.fromkeys(case.options, True),
        public=True,
        move_time=None,
        daily=None,
        owner="person-0",
        invite=INVITE,
        seed=f"the seed of {case}",
        created=START_TIME,
    )
    game = GameState.new(config)
    log: list[TableEntry] = []
    for seat in range(case.players):
        if kind == "bots" and seat:
            log.append(BotSeated(seat, "greedy"))
        else:
            log.append(SeatTaken(seat, person_in_seat(kind, seat), f"Player {seat}"))
        game.apply(log[-1])
    log.append(game.apply(GameStarted(UNDRAWN)))
    rng = Generator(f"{case} {kind}")
    bots = [player(name) for name in PLAYERS]
    while (turn := game.turn) is not None:
        assert game.table is not None
        if game.pending_draw is not None:
            log.append(game.apply(TilesDrawn(UNDRAWN)))
            continue
        bot = bots[rng.randint(len(bots))]
        move = bot.choose(game.table.view(turn), BUDGET, rng).move
        log.append(game.apply(MovePlayed(turn, str(move), UNDRAWN, held=rng.randint(5) == 0)))
    return Scenario(config, tuple(log))


def person_in_seat(kind: str, seat: int) -> str:
    """Return the id of the person in a seat."""
    return "person-0" if kind == "screen" else f"person-{seat}"


def viewers(case: Case, kind: str, turn: int | None) -> list[Viewer]:
    """Return one viewer of each kind."""
    found = [Viewer("anonymous", None, None), Viewer("a guest", "guest", None)]
    if kind == "screen":
        found.append(Viewer("the screen", "person-0", None))
        if turn is not None:
            found.append(Viewer(f"seat {turn} at the screen", "person-0", turn, look=True))
    else:
        count = 1 if kind == "bots" else case.players
        found += [Viewer(f"seat {seat}", f"person-{seat}", seat) for seat in range(count)]
    return found


def twin(scenario: Scenario, viewer: Viewer, rng: Generator) -> Scenario | None:
    """Return a scenario that looks the same to a viewer, `None` if nothing is hidden."""
    table = scenario.game.table
    other = None if table is None else redealt(table, viewer.seat, rng)
    if table is None or other is None:
        return None
    assert _drawn(table.events) == [tile for entry in scenario.log for tile in getattr(entry, "drawn", ())]
    remaining = iter(_drawn(other.events))
    log = [
        msgspec.structs.replace(entry, drawn=tuple(next(remaining) for _ in entry.drawn or ()))
        if isinstance(entry, GameStarted | MovePlayed | TilesDrawn)
        else entry
        for entry in scenario.log
    ]
    assert next(remaining, None) is None
    result = Scenario(replace(scenario.config, seed="another seed"), tuple(log))
    # The phase is public: an exchange is offered only to certain hands.
    try:
        changed = result.game.table
    except AxioError:
        return None
    return result if changed is not None and changed.state["phase"] == table.state["phase"] else None


def _drawn(events: Sequence[Event]) -> list[str]:
    """Return all drawn tiles in the order and notation of the log."""
    tiles: list[str] = []
    for event in events:
        if isinstance(event, Draw | Removed):
            tiles += event.tiles
        elif isinstance(event, Start):
            tiles += [f"{shown.tile} {shown.at}" for shown in event.display]
    return tiles


# ---------------------------------------------------------------- on a server


async def install(app: App, scenario: Scenario) -> None:
    """Replace the content of the database by a scenario."""
    for room in app.server.rooms._rooms.values():
        room.close()
    app.server.rooms._rooms.clear()
    app.server.people._cache.clear()
    app.server.pictures.cache = ByteCache(MAX_CACHE_BYTES)  # the old one has pictures of another scenario
    app.server.journal.commits = app.server.journal.appended = 0
    game = scenario.game
    game.updated = START_TIME + len(scenario.log)
    row = game.row()
    async with app.server.database.writing() as connection:
        for table in (entries, seats, results, reviews, tables, people):
            await connection.execute(delete(table))
        await connection.execute(insert(tables), [row])
        rows = [{**seat.row(number), "table_id": TABLE} for number, seat in enumerate(game.seats)]
        await connection.execute(insert(seats), rows)
        await connection.execute(insert(entries), _entries(scenario, 1))


def _entries(scenario: Scenario, first: int) -> list[Json]:
    return [
        {"table_id": TABLE, "number": number, "at": START_TIME + number, "body": encode_entry(entry)}
        for number, entry in enumerate(scenario.log, 1)
        if number >= first
    ]


async def collect_broadcast(app: App, scenario: Scenario, viewer: Viewer) -> list[bytes]:
    """Return the messages that a connected viewer receives about the table and about its last entry."""
    number = len(scenario.log)
    await install(app, scenario.up_to(number - 1))
    socket = await app.socket(TABLE, viewer.token(app))
    if viewer.look and scenario.up_to(number - 1).game.turn == viewer.seat:
        socket.send(do="look", seat=viewer.seat)
    await socket.drain()
    async with app.server.database.writing() as connection:
        await connection.execute(insert(entries), _entries(scenario, number))
        await connection.execute(update(tables).values(number=number))
    await app.server.rooms.on_notification(f"{TABLE}:{number}")  # as if another process had written it
    return await _drain_and_close(app, socket)


async def _drain_and_close(app: App, socket: Socket) -> list[bytes]:
    """Return everything received by a WebSocket, and close it."""
    texts = [text.encode() for text in await socket.drain()]
    await socket.close()
    app.sockets.remove(socket)
    return texts


async def collect_responses(app: App, scenario: Scenario, viewer: Viewer, *, slow: bool) -> list[bytes]:
    """Return the responses of all routes and all messages that a viewer can get about a table."""
    collected: list[bytes] = []
    token = viewer.token(app)
    await install(app, scenario)
    for target in targets(app, scenario.config.game, slow=slow):
        collected.append(target.encode() + b" " + (await app.request("GET", target, token)).raw)
    number = len(scenario.log)
    for after in (None, number, number - 1, max(1, number - 25)):
        collected += await _drain_and_close(app, await app.socket(TABLE, token, after))
    socket = await app.socket(TABLE, token)
    if viewer.look:
        socket.send(do="look", id="look", seat=viewer.seat)
    turn = scenario.game.turn
    for command in commands(number):
        if command["do"] == "look" and command["seat"] == turn and not viewer.look:
            continue  # at a shared screen this would select the seat of another viewer
        if command["do"] == "hint":
            await socket.request(**command)  # the answer is asynchronous, so wait for it
        else:
            socket.send(**command)
    collected += await _drain_and_close(app, socket)
    if viewer.seat is None:
        for method, target, body in refused_requests(app):
            collected.append(target.encode() + b" " + (await app.request(method, target, token, body)).raw)
    return collected


def commands(number: int) -> list[Json]:
    """Return all kinds of commands: refused ones, queries, and finally a move that is taken back."""
    return [
        {"do": "move", "id": "stale", "n": number - 1, "pick": 0},
        {"do": "move", "id": "none", "n": number},
        {"do": "move", "id": "far", "n": number, "pick": 99_999},
        {"do": "move", "id": "text", "n": number, "move": "RG a1-a9"},  # cells that are not neighbours
        {"do": "move", "id": "odd", "n": number, "move": "nonsense"},
        {"do": "move", "id": "pass", "n": number, "move": "pass"},
        {"do": "draw", "id": "draw", "n": number - 1},
        {"do": "preview", "id": "see", "n": number, "pick": 0},
        {"do": "preview", "id": "see far", "n": number, "pick": 99_999},
        {"do": "hint", "id": "hint", "n": number},
        *({"do": "look", "id": f"look {seat}", "seat": seat} for seat in range(4)),
        {"do": "back", "id": "back", "n": number},
        {"do": "move", "id": "hold", "n": number, "pick": 0, "hold": True},
        {"do": "back", "id": "undo", "n": number + 1},
    ]


QUERIES = {
    "/api/games": ("", "?lang=de"),
    "/api/review/words": ("", "?lang=de"),
    "/api/tables": ("", "?which=live", "?which=mine"),
    "/api/tables/{table_id}/picture.svg": ("", "?move=0", "?move=5", "?dark=true"),
}
SLOW = {"/api/tables/{table_id}/picture.png"}


def targets(app: App, game: str, *, slow: bool) -> list[str]:
    """Return the targets of all GET routes; new routes are included automatically."""
    figure = rules_page(game).partition("(figure:")[2].partition(")")[0]
    known = {"table_id": TABLE, "name": game, "figure_name": figure, "path": "css/shared/base.css"}
    found = []
    for route in app.litestar.routes:
        path = route.path_format
        if "GET" in getattr(route, "methods", ()) and (slow or path not in SLOW):
            parts = {parameter: known[parameter] for parameter in route.path_parameters}
            found += [path.format(**parts) + query for query in QUERIES.get(path, ("",))]
    return found


BODIES: dict[str, Any] = {
    "/api/tables/{table_id}/join": {},
    "/api/tables/{table_id}/leave": None,
    "/api/tables/{table_id}/seats/{seat}/bot": {"level": "greedy"},
    "/api/tables/{table_id}/seats/{seat}/return": None,
    "/api/tables/{table_id}/seats/{seat}/remove": None,
    "/api/tables/{table_id}/moves": {"id": "m", "n": 1, "pick": 0},
    "/api/tables/{table_id}/rematch": None,
    "/api/tables/{table_id}/review": None,
}


def refused_requests(app: App) -> list[tuple[str, str, Any]]:
    """Return all requests that change a table; viewers without a seat must be refused."""
    found = []
    for route in app.litestar.routes:
        for method in sorted(getattr(route, "methods", set()) - {"GET", "OPTIONS", "HEAD"}):
            if "table_id" in route.path_parameters:
                body = BODIES[route.path_format]
                found.append((method, route.path_format.format(table_id=TABLE, seat=0), body))
    return found
