"""What a message may tell of hands, and to whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playwright.sync_api import Page

from tests.server.driving import Json

# Where tiles are that everybody may see; numbers of lists are left out of a path.
PUBLIC = {"tiles.tile", "events.tile", "events.shown", "events.display.tile", "board.shapes.path"}
# Tiles that are drawn with their faces up, other than on the board or on their way there.
FACES = """() => [...document.querySelectorAll(".tile:not(.back)")]
  .filter((tile) => !tile.closest("#board .tiles, .flying"))
  .map((tile) => tile.parentElement.outerHTML.slice(0, 300))"""


def leaks(message: Json) -> list[str]:
    """Tiles in a message that only the seat that looks may see, of other seats."""
    found: list[str] = []
    now, you = message.get("now"), message.get("you")
    if now and now["phase"] != "over":
        for seat, hand in enumerate(now["hands"]):
            if seat != you and set(hand) - {"?"}:
                found.append(f"{message['type']} {message['n']} tells {you} that {seat} holds {hand}")
        for event in message.get("events", []):
            if event["t"] == "draw" and event["p"] != you and set(event["tiles"]) - {"?"}:
                found.append(f"{message['type']} {message['n']} tells {you} of {event}")
        if message.get("moves") is not None and now["turn"] != you:
            found.append(f"{message['type']} {message['n']} tells {you} what {now['turn']} may do")
    return found


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a message, each with the way to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield path, key
            yield from strings(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, path)


def turned(tile: str) -> set[str]:
    """A tile as it reads from all sides."""
    ways = {tile[i:] + tile[:i] for i in range(len(tile))}
    return ways | {way[::-1] for way in ways}


def tiles_told(message: Json, hands: Iterable[list[str]]) -> list[str]:
    """Where a message names a tile of these hands, except where it names tiles that everybody sees."""
    secret = {way for hand in hands for tile in hand for way in turned(tile)}
    return [f"{path}: {text}" for path, text in strings(message) if text in secret and path not in PUBLIC]


def faces(page: Page) -> list[str]:
    """Faces of tiles on the page that do not lie on the board."""
    found: list[str] = page.evaluate(FACES)
    return found
