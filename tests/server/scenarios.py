"""Two worlds that somebody cannot tell apart, and everything a server says in each of them.

A world is a table's log. Its twin for one viewer has the same visible history, but another seed and other
tiles wherever that viewer cannot see them.
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
from tests.server.in_process import Inside, Json, Socket

BEGAN = 1_700_000_000_000
QUICK = Budget(rollouts=40)
TABLE = "table-under-test"
INVITE = "invite-under-test"


@dataclass(frozen=True)
class World:
    """A table and its log up to some entry."""

    config: TableConfig
    acts: tuple[TableEntry, ...]

    @cached_property
    def game(self) -> GameState:
        """The game that the log leads to."""
        game = GameState.new(self.config)
        for act in self.acts:
            game.apply(act)
        return game

    def upto(self, number: int) -> World:
        """The world as it was after so many entries."""
        return World(self.config, self.acts[:number])


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks at a table: by their token, from a seat or from none."""

    name: str
    person: str | None
    seat: int | None
    look: bool = False  # whether a shared screen has to be told who looks

    def token(self, made: Inside) -> str:
        return made.server.people.token(Person(self.person, "")) if self.person else ""


# ---------------------------------------------------------------- worlds


@cache
def played(case: Case, kind: str) -> World:
    """A whole game: of people apart, of people at one screen, or of one person and bots."""
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
        created=BEGAN,
    )
    game = GameState.new(config)
    acts: list[TableEntry] = []
    for seat in range(case.players):
        if kind == "bots" and seat:
            acts.append(BotSeated(seat, "greedy"))
        else:
            acts.append(SeatTaken(seat, person_at(kind, seat), f"Player {seat}"))
        game.apply(acts[-1])
    acts.append(game.apply(GameStarted(UNDRAWN)))
    rng = Generator(f"{case} {kind}")
    styles = [player(name) for name in PLAYERS]
    while (turn := game.turn) is not None:
        assert game.table is not None
        if game.pending_draw is not None:
            acts.append(game.apply(TilesDrawn(UNDRAWN)))
            continue
        style = styles[rng.randint(len(styles))]
        move = style.choose(game.table.view(turn), QUICK, rng).move
        acts.append(game.apply(MovePlayed(turn, str(move), UNDRAWN, held=rng.randint(5) == 0)))
    return World(config, tuple(acts))


def person_at(kind: str, seat: int) -> str:
    """Who sits on a seat."""
    return "person-0" if kind == "screen" else f"person-{seat}"


def viewers(case: Case, kind: str, turn: int | None) -> list[Viewer]:
    """Everybody who could look at a table."""
    found = [Viewer("nobody known", None, None), Viewer("a guest", "somebody", None)]
    if kind == "screen":
        found.append(Viewer("the screen", "person-0", None))
        if turn is not None:
            found.append(Viewer(f"seat {turn} at the screen", "person-0", turn, look=True))
    else:
        count = 1 if kind == "bots" else case.players
        found += [Viewer(f"seat {seat}", f"person-{seat}", seat) for seat in range(count)]
    return found


def twin(world: World, viewer: Viewer, rng: Generator) -> World | None:
    """A world that looks the same from a seat; `None` where nothing is hidden."""
    table = world.game.table
    other = None if table is None else redealt(table, viewer.seat, rng)
    if table is None or other is None:
        return None
    assert _drawn(table.events) == [tile for act in world.acts for tile in getattr(act, "drawn", ())]
    left = iter(_drawn(other.events))
    acts = [
        msgspec.structs.replace(act, drawn=tuple(next(left) for _ in act.drawn or ()))
        if isinstance(act, GameStarted | MovePlayed | TilesDrawn)
        else act
        for act in world.acts
    ]
    assert next(left, None) is None
    made = World(replace(world.config, seed="another seed"), tuple(acts))
    # That a seat is asked whether it wants to exchange follows from its hand, and everybody sees it.
    try:
        found = made.game.table
    except AxioError:
        return None
    return made if found is not None and found.state["phase"] == table.state["phase"] else None


def _drawn(events: Sequence[Event]) -> list[str]:
    """All tiles that came by chance, in order, as the log has them."""
    tiles: list[str] = []
    for event in events:
        if isinstance(event, Draw | Removed):
            tiles += event.tiles
        elif isinstance(event, Start):
            tiles += [f"{shown.tile} {shown.at}" for shown in event.display]
    return tiles


# ---------------------------------------------------------------- into the server and out again


async def install(made: Inside, world: World) -> None:
    """Put a world into the database, in place of everything that was there."""
    for room in made.server.rooms._rooms.values():
        room.close()
    made.server.rooms._rooms.clear()
    made.server.people._cache.clear()
    made.server.pictures.cache = ByteCache(MAX_CACHE_BYTES)  # it belongs to another world
    made.server.journal.commits = made.server.journal.appended = 0
    game = world.game
    game.updated = BEGAN + len(world.acts)
    row = game.row()
    async with made.server.database.writing() as connection:
        for table in (entries, seats, results, reviews, tables, people):
            await connection.execute(delete(table))
        await connection.execute(insert(tables), [row])
        rows = [{**seat.row(number), "table_id": TABLE} for number, seat in enumerate(game.seats)]
        await connection.execute(insert(seats), rows)
        await connection.execute(insert(entries), _entries(world, 1))


def _entries(world: World, first: int) -> list[Json]:
    return [
        {"table_id": TABLE, "number": number, "at": BEGAN + number, "body": encode_entry(act)}
        for number, act in enumerate(world.acts, 1)
        if number >= first
    ]


async def see_happen(made: Inside, world: World, viewer: Viewer) -> list[bytes]:
    """What somebody who is there is told of the last entry, and of the table before it."""
    number = len(world.acts)
    await install(made, world.upto(number - 1))
    socket = await made.socket(TABLE, viewer.token(made))
    if viewer.look and world.upto(number - 1).game.turn == viewer.seat:
        socket.send(do="look", seat=viewer.seat)
    await socket.heard()
    async with made.server.database.writing() as connection:
        await connection.execute(insert(entries), _entries(world, number))
        await connection.execute(update(tables).values(number=number))
    await made.server.rooms.on_notification(f"{TABLE}:{number}")  # as if another process had written it
    return await _all_of(made, socket)


async def _all_of(made: Inside, socket: Socket) -> list[bytes]:
    """Everything that came over a WebSocket, which is closed."""
    said = [text.encode() for text in await socket.heard()]
    await socket.close()
    made.sockets.remove(socket)
    return said


async def ask_everything(made: Inside, world: World, viewer: Viewer, *, slow: bool) -> list[bytes]:
    """Every route's answer and every message that somebody can get of a table as it is."""
    said: list[bytes] = []
    token = viewer.token(made)
    await install(made, world)
    for target in targets(made, world.config.game, slow=slow):
        said.append(target.encode() + b" " + (await made.ask("GET", target, token)).all)
    number = len(world.acts)
    for after in (None, number, number - 1, max(1, number - 25)):
        said += await _all_of(made, await made.socket(TABLE, token, after))
    socket = await made.socket(TABLE, token)
    if viewer.look:
        socket.send(do="look", id="look", seat=viewer.seat)
    turn = world.game.turn
    for order in orders(number):
        if order["do"] == "look" and order["seat"] == turn and not viewer.look:
            continue  # at a shared screen that would be somebody else's look
        if order["do"] == "hint":
            await socket.ask(**order)  # it is told when it is found, whatever is asked meanwhile
        else:
            socket.send(**order)
    said += await _all_of(made, socket)
    if viewer.seat is None:
        for method, target, body in refused_requests(made):
            said.append(target.encode() + b" " + (await made.ask(method, target, token, body)).all)
    return said


def orders(number: int) -> list[Json]:
    """Everything that can be sent: what is not allowed, what asks, and at the end what can be undone."""
    return [
        {"do": "move", "id": "stale", "n": number - 1, "pick": 0},
        {"do": "move", "id": "none", "n": number},
        {"do": "move", "id": "far", "n": number, "pick": 99_999},
        {"do": "move", "id": "text", "n": number, "move": "RG a1-a2"},
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


def targets(made: Inside, game: str, *, slow: bool) -> list[str]:
    """Every address that can be asked for, of every route there is; a new route is here by itself."""
    figure = rules_page(game).partition("(figure:")[2].partition(")")[0]
    known = {"table_id": TABLE, "name": game, "figure_name": figure, "path": "css/shared/base.css"}
    found = []
    for route in made.litestar.routes:
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


def refused_requests(made: Inside) -> list[tuple[str, str, Any]]:
    """Every request that would change the table, for somebody who may not."""
    found = []
    for route in made.litestar.routes:
        for method in sorted(getattr(route, "methods", set()) - {"GET", "OPTIONS", "HEAD"}):
            if "table_id" in route.path_parameters:
                body = BODIES[route.path_format]
                found.append((method, route.path_format.format(table_id=TABLE, seat=0), body))
    return found
