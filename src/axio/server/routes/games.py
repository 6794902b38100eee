"""Routes for what can be played, and how it looks."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from litestar import MediaType, Response, get
from litestar.params import FromPath, FromQuery, QueryParameter
from markdown_it import MarkdownIt
from msgspec import Struct

from ...drawing.symbols import SPARK, SYMBOLS
from ...drawing.theme import DARK, LIGHT, Theme
from ...drawing.variables import properties
from ...games import GAMES, find_variant, game, rules_page, words
from ...games.declaration import MOST_PLAYERS
from ...games.words import spoken
from ..play.bots import DEFAULT_LEVEL, LEVELS
from .errors import problems
from .person import Here

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
    """The bots that people are offered, weakest first. Others go by the names of `axio.players`."""
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
