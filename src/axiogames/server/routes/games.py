"""Routes for games, rules, bots, colours and pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cache
from typing import Annotated, Any, TypeVar

from litestar import Request, Response, get
from litestar.params import FromPath, FromQuery, QueryParameter
from markdown_it import MarkdownIt
from msgspec import Struct

from ...drawing.symbols import SPARK, SYMBOLS
from ...games import BUILT_IN, GAMES, find_variant, game, localization, rules_page
from ...games.protocol import MAX_PLAYERS
from ...games.texts import supported_language
from ...model.position import Position
from ...model.record import record_of, replay
from ..domain.bots import DEFAULT_LEVEL, LEVELS
from ..domain.refusals import Refused
from ..domain.room import Room
from ..identity.people import Person
from ..lifespan import Server
from ..rendering.worker import RenderRequest
from ..transport.origin_guard import client_network
from .errors import problems
from .identity import PersonDep, ServerDep, TableId, check_picture_rate
from .tables import room_for

Language = Annotated[
    str, QueryParameter(name="lang", max_length=20, description="A language such as en or de.")
]
SVG, PNG = "image/svg+xml", "image/png"

MoveNumber = Annotated[
    int | None,
    QueryParameter(name="move", ge=0, le=1000, description="Number of moves after which to show the game."),
]
CACHE_HOUR = {"cache-control": "max-age=3600"}

Result = TypeVar("Result")


class OptionInfo(Struct, frozen=True):
    """Optional rule of a game."""

    name: str
    summary: str


class GameSummary(Struct, frozen=True):
    """Description of a game."""

    id: str
    name: str
    summary: str
    tiles: int
    hand: int
    cap: int | None
    most_players: int
    tracks: tuple[str, ...]
    options: list[OptionInfo]
    reconstructed: tuple[str, ...]
    coach: dict[str, str]
    built_in: bool


class RulesPage(Struct, frozen=True):
    """Rules of a game as trusted HTML."""

    title: str
    html: str


class BotInfo(Struct, frozen=True):
    """Bot that people can choose as an opponent."""

    level: str
    default: bool


class SymbolInfo(Struct, frozen=True):
    """Symbol of a colour."""

    name: str
    path: str


class ColourSymbols(Struct, frozen=True):
    """Symbols of the colours, and the mark of a star cell."""

    symbols: dict[str, SymbolInfo]
    spark: str


# The cache is unbounded, so pass a supported language (`supported_language`): clients may send any text.
@cache
def _info(name: str, language: str) -> GameSummary:
    declared, texts = game(name), localization(name, language)
    return GameSummary(
        id=name,
        name=texts.name,
        summary=texts.summary,
        tiles=declared.tiles,
        hand=declared.hand,
        cap=declared.cap,
        most_players=MAX_PLAYERS,
        tracks=find_variant(name).tracks,
        options=[OptionInfo(option.name, texts.options[option.name]) for option in declared.options],
        reconstructed=texts.reconstructed,
        coach=texts.coach,
        built_in=name in BUILT_IN,
    )


@cache
def _rules(name: str, language: str) -> RulesPage:
    text = rules_page(name, language)
    # Figures are rendered on request, by their URL.
    text = text.replace("(figure:", f"(/api/games/{name}/figures/")
    title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), name)
    return RulesPage(title, MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


@get("/api/games", responses=problems(400))
async def list_games(language: Language = "en") -> list[GameSummary]:
    """All games."""
    return game_summaries(language)


def game_summaries(language: str) -> list[GameSummary]:
    """Return descriptions of all games in a language, or in English."""
    return [_info(name, supported_language(language)) for name in GAMES]


@get("/api/games/{name:str}/rules", responses=problems(400, 404))
async def show_rules(name: FromPath[str], language: Language = "en") -> RulesPage:
    """Rules of a game."""
    return _rules(game(name).id, supported_language(language))


@get(
    "/api/games/{name:str}/figures/{figure_name:str}",
    media_type="image/svg+xml",
    responses=problems(400, 404, 503),
)
async def show_figure(
    server: ServerDep, name: FromPath[str], figure_name: FromPath[str], dark: FromQuery[bool] = False
) -> Response[bytes]:
    """Figure of the rules as an SVG picture."""
    svg = await server.pictures.figure(name, figure_name.removesuffix(".svg"), dark=dark)
    return Response(svg, media_type="image/svg+xml", headers=CACHE_HOUR)


@get("/api/bots", responses=problems())
async def list_bots() -> list[BotInfo]:
    """Bots offered to people, weakest first. All names of `axiogames.players` are accepted as well."""
    return [BotInfo(level, level == DEFAULT_LEVEL) for level in LEVELS]


@get("/api/look", responses=problems())
async def show_look() -> ColourSymbols:
    """Symbols of the colours as SVG paths."""
    return ColourSymbols({letter: SymbolInfo(art.name, art.path) for letter, art in SYMBOLS.items()}, SPARK)


# ------------------------------------------------------------ pictures of tables and games


async def _picture(
    server: Server,
    request: Request[Any, Any, Any],
    person: Person | None,
    table_id: str,
    move: int | None,
    *,
    dark: bool,
    png: bool,
) -> Response[bytes]:
    """Return a picture of a table as visible to the person. Viewers with the same view share it."""
    network = client_network(request.scope)
    check_picture_rate(server, person, network)
    room = await room_for(server, table_id, person)
    async with room.transaction():  # wait for changes in progress
        seat = _visible_seat(room, person)
        move = _earlier_move(room, move)
        names = tuple(occupant.name for occupant in room.game.seats)  # they change without an entry
        key = (room.id, room.game.number, move, seat, names, dark, png)
        body = server.pictures.cached(key)
        if body is None:
            server.pictures.check(key, network, png=png)
            render_request = _render_request(room, seat, move, dark=dark, png=png)
    if body is None:
        body = await while_connected(request, server.pictures.picture(key, render_request, network))
    return _response(body, PNG if png else SVG)


def _visible_seat(room: Room, person: Person | None) -> int | None:
    """Return the seat whose hand is visible, `None` for no hand, or for all hands of a finished game."""
    if room.game.table is None:
        raise Refused("not_yet", "pictures are available once the game has started")
    if room.game.status == "over":
        return None
    return room.default_seat(person.id if person else None)


def _earlier_move(room: Room, move: int | None) -> int | None:
    """Return the number of moves to show, `None` for all. Only finished games show earlier positions."""
    assert room.game.table is not None
    earlier = room.game.status == "over" and move is not None and move < room.game.table.plies
    return move if earlier else None


def _render_request(
    room: Room, seat: int | None, move: int | None, *, dark: bool, png: bool
) -> RenderRequest:
    state, table = room.game, room.game.table
    assert table is not None
    position: Position
    if state.status != "over":
        position = table.view(seat)
    else:
        position = table if move is None else replay(record_of(table), upto=move)
    content = position.content([occupant.name for occupant in state.seats])
    return RenderRequest(
        state.config.game, state.config.players, position.variant.options, content, dark=dark, png=png
    )


@get("/api/tables/{table_id:str}/picture.svg", media_type=SVG, responses=problems(400, 404, 409, 429, 503))
async def show_svg(
    server: ServerDep,
    request: Request[Any, Any, Any],
    person: PersonDep,
    *,
    table_id: TableId,
    move_number: MoveNumber = None,
    dark: FromQuery[bool] = False,
) -> Response[bytes]:
    """Current position as an SVG picture; any position of a finished game."""
    return await _picture(server, request, person, table_id, move_number, dark=dark, png=False)


@get("/api/tables/{table_id:str}/picture.png", media_type=PNG, responses=problems(400, 404, 409, 429, 503))
async def show_png(
    server: ServerDep,
    request: Request[Any, Any, Any],
    person: PersonDep,
    *,
    table_id: TableId,
    move_number: MoveNumber = None,
    dark: FromQuery[bool] = False,
) -> Response[bytes]:
    """Current position as a PNG picture; any position of a finished game."""
    return await _picture(server, request, person, table_id, move_number, dark=dark, png=True)


@get("/api/games/{name:str}/picture.svg", media_type=SVG, responses=problems(400, 404, 503))
async def show_example(
    server: ServerDep, name: FromPath[str], dark: FromQuery[bool] = False
) -> Response[bytes]:
    """Example position of a game between two bots as an SVG picture."""
    return _response(await server.pictures.example(name, dark=dark), SVG, CACHE_HOUR)


def _response(body: bytes, media_type: str, headers: dict[str, str] | None = None) -> Response[bytes]:
    return Response(body, media_type=media_type, headers=headers or {"cache-control": "no-store"})


# ------------------------------------------------------------ cancellation


class ClientDisconnected(Refused):
    """The client disconnected; it does not receive this error."""

    def __init__(self) -> None:
        super().__init__("bad_request", "the client closed the connection before the response")


async def while_connected(request: Request[Any, Any, Any], work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of a coroutine, which is cancelled if the client disconnects.

    Raises:
        ClientDisconnected: The client disconnected first.
    """
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnected
        return working.result()
    finally:
        if not watching.cancel() and not watching.cancelled():
            watching.exception()  # a failure to read also means that the connection is lost
        if working.cancel():
            await asyncio.wait({working})


async def _wait_for_disconnect(request: Request[Any, Any, Any]) -> None:
    """Wait until the client disconnects."""
    for _ in range(2):  # the rest of the request comes first: an empty body
        if (await request.receive())["type"] == "http.disconnect":
            return
    await asyncio.get_running_loop().create_future()  # this ASGI server sends no disconnect


GAME_ROUTES = [list_games, show_rules, show_figure, list_bots, show_look]
PICTURES = [show_svg, show_png, show_example]
