"""Routes for what can be played, and how it looks."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from litestar import MediaType, Request, Response, get
from litestar.params import FromPath, FromQuery, QueryParameter
from markdown_it import MarkdownIt
from msgspec import Struct

from ...drawing.symbols import SPARK, SYMBOLS
from ...drawing.theme import DARK, LIGHT, Theme, properties
from ...games import GAMES, find_variant, game, rules_page, words
from ...games.protocol import MOST_PLAYERS
from ...games.texts import spoken
from ...model.position import Position
from ...model.record import record_of, replay
from ..domain.bots import DEFAULT_LEVEL, LEVELS
from ..domain.refusals import Refused
from ..domain.room import Room
from ..identity.people import Person
from ..lifespan import Server
from ..rendering.worker import Drawing
from ..transport.origin_guard import address
from .connected import while_connected
from .errors import problems
from .identity import Asker, Here, TableId, check_pace
from .tables import room_for

Language = Annotated[
    str, QueryParameter(name="lang", max_length=20, description="A language such as en or de.")
]
HOUR = {"cache-control": "max-age=3600"}


class OptionInfo(Struct, frozen=True):
    """A rule that a table may switch on."""

    name: str
    summary: str


class GameInfo(Struct, frozen=True):
    """A game as a player would describe it."""

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


class RulesPage(Struct, frozen=True):
    """The rules of a game, as HTML that holds nothing but our own words."""

    title: str
    html: str


class BotInfo(Struct, frozen=True):
    """A bot that can be asked to play."""

    level: str
    default: bool


class SymbolInfo(Struct, frozen=True):
    """A colour's symbol."""

    name: str
    path: str


class Look(Struct, frozen=True):
    """The symbols of the colours, and the mark of a star cell."""

    symbols: dict[str, SymbolInfo]
    spark: str


# Kept for good, so the language must be one of ours: clients may ask for any text (`spoken`).
@cache
def _info(name: str, language: str) -> GameInfo:
    declared, said = game(name), words(name, language)
    return GameInfo(
        id=name,
        name=said.name,
        summary=said.summary,
        tiles=declared.tiles,
        hand=declared.hand,
        cap=declared.cap,
        most_players=MOST_PLAYERS,
        tracks=find_variant(name).tracks,
        options=[OptionInfo(option.name, said.options[option.name]) for option in declared.options],
        reconstructed=said.reconstructed,
        coach=said.coach,
    )


@cache
def _rules(name: str, language: str) -> RulesPage:
    text = rules_page(name, language)
    # Figures are drawn on request; a page finds them by their address.
    text = text.replace("(figure:", f"(/api/games/{name}/figures/")
    title = next((line.lstrip("# ") for line in text.splitlines() if line.startswith("# ")), name)
    return RulesPage(title, MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


@get("/api/games", responses=problems(400))
async def list_games(language: Language = "en") -> list[GameInfo]:
    """All games."""
    return [_info(name, spoken(language)) for name in GAMES]


@get("/api/games/{name:str}/rules", responses=problems(400, 404))
async def show_rules(name: FromPath[str], language: Language = "en") -> RulesPage:
    """The rules of a game."""
    return _rules(game(name).id, spoken(language))


@get(
    "/api/games/{name:str}/figures/{figure_name:str}",
    media_type="image/svg+xml",
    responses=problems(400, 404, 503),
)
async def show_figure(
    server: Here, name: FromPath[str], figure_name: FromPath[str], dark: FromQuery[bool] = False
) -> Response[bytes]:
    """A picture of the rules."""
    drawn = await server.pictures.figure(name, figure_name.removesuffix(".svg"), dark=dark)
    return Response(drawn, media_type="image/svg+xml", headers=HOUR)


@get("/api/bots", responses=problems())
async def list_bots() -> list[BotInfo]:
    """The bots that people are offered, weakest first. Others go by the names of `axiogames.players`."""
    return [BotInfo(level, level == DEFAULT_LEVEL) for level in LEVELS]


@get("/api/look", responses=problems())
async def show_look() -> Look:
    """How symbols are drawn."""
    return Look({letter: SymbolInfo(art.name, art.path) for letter, art in SYMBOLS.items()}, SPARK)


@get("/theme.css", media_type=MediaType.CSS, include_in_schema=False)
async def show_theme() -> Response[str]:
    """All colours, by day and by night, from the one place that names them."""
    day, night = _properties(LIGHT), _properties(DARK)
    text = (
        f":root{{color-scheme:light;{day}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{night}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{night}}}\n"
    )
    return Response(text, media_type=MediaType.CSS, headers={"cache-control": "no-cache"})


def _properties(theme: Theme) -> str:
    return "".join(f"--{name}:{value};" for name, value in properties(theme).items())


GAME_ROUTES = [list_games, show_rules, show_figure, list_bots, show_look, show_theme]


SVG, PNG = "image/svg+xml", "image/png"

MoveNumber = Annotated[
    int | None, QueryParameter(name="move", ge=0, le=1000, description="After so many moves.")
]


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
    """A picture of what somebody may see of a table. Whoever sees the same is sent the same one."""
    asker = address(request.scope)
    check_pace(server, person, asker)
    room = await room_for(server, table_id, person)
    async with room.alone():  # not while a change waits for its commit
        seen = _seen_from(room, person)
        move = _earlier(room, move)
        names = tuple(seat.name for seat in room.game.seats)  # they change when somebody deletes their data
        key = (room.id, room.game.number, move, seen, names, dark, png)
        body = server.pictures.kept(key)
        if body is None:
            server.pictures.check(key, asker, png=png)
            wanted = _drawing(room, seen, move, dark=dark, png=png)
    if body is None:
        body = await while_connected(request, server.pictures.picture(key, wanted, asker))
    return _response(body, PNG if png else SVG)


def _seen_from(room: Room, person: Person | None) -> int | None:
    """The seat whose tiles are shown, `None` for those of nobody; when the game is over all are shown."""
    if room.game.table is None:
        raise Refused("not_yet", "there is a picture when the game has started")
    if room.game.status == "over":
        return None
    return room.seat_to_look_from(person.id if person else None)


def _earlier(room: Room, move: int | None) -> int | None:
    """The number of moves after which a game is shown, `None` for all; only a game that is over goes back."""
    assert room.game.table is not None
    earlier = room.game.status == "over" and move is not None and move < room.game.table.plies
    return move if earlier else None


def _drawing(room: Room, seen: int | None, move: int | None, *, dark: bool, png: bool) -> Drawing:
    now, table = room.game, room.game.table
    assert table is not None
    position: Position
    if now.status != "over":
        position = table.view(seen)
    else:
        position = table if move is None else replay(record_of(table), upto=move)
    content = position.content([seat.name for seat in now.seats])
    return Drawing(now.terms.game, now.terms.players, position.variant.options, content, dark=dark, png=png)


@get("/api/tables/{table_id:str}/picture.svg", media_type=SVG, responses=problems(400, 404, 409, 429, 503))
async def show_svg(
    server: Here,
    request: Request[Any, Any, Any],
    person: Asker,
    table_id: TableId,
    move_number: MoveNumber = None,
    dark: FromQuery[bool] = False,
) -> Response[bytes]:
    """A position as an SVG picture; earlier ones when the game is over."""
    return await _picture(server, request, person, table_id, move_number, dark=dark, png=False)


@get("/api/tables/{table_id:str}/picture.png", media_type=PNG, responses=problems(400, 404, 409, 429, 503))
async def show_png(
    server: Here,
    request: Request[Any, Any, Any],
    person: Asker,
    table_id: TableId,
    move_number: MoveNumber = None,
    dark: FromQuery[bool] = False,
) -> Response[bytes]:
    """A position as a PNG picture; earlier ones when the game is over."""
    return await _picture(server, request, person, table_id, move_number, dark=dark, png=True)


@get("/api/games/{name:str}/picture.svg", media_type=SVG, responses=problems(400, 404, 503))
async def show_example(server: Here, name: FromPath[str], dark: FromQuery[bool] = False) -> Response[bytes]:
    """What a game looks like in the middle of a game between two bots."""
    return _response(await server.pictures.example(name, dark=dark), SVG, {"cache-control": "max-age=3600"})


def _response(body: bytes, media_type: str, headers: dict[str, str] | None = None) -> Response[bytes]:
    return Response(body, media_type=media_type, headers=headers or {"cache-control": "no-store"})


PICTURES = [show_svg, show_png, show_example]
