"""Find hidden tiles in messages and on the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playwright.sync_api import Page

from tests.server.driving import Json

# Paths of tiles that are visible to all, without list indices.
PUBLIC = {"tiles.tile", "events.tile", "events.shown", "events.display.tile", "board.shapes.path"}
# Returns the tiles that are rendered face up, except those on the board or flying to it.
FACE_UP_TILES = """() => [...document.querySelectorAll(".tile:not(.back)")]
  .filter((tile) => !tile.closest("#board .tiles, .flying"))
  .map((tile) => tile.parentElement.outerHTML.slice(0, 300))"""


def leaks(message: Json) -> list[str]:
    """Return the hidden tiles that a message reveals to its viewer."""
    found: list[str] = []
    now, you = message.get("now"), message.get("you")
    if now and now["phase"] != "over":
        for seat, hand in enumerate(now["hands"]):
            if seat != you and set(hand) - {"?"}:
                found.append(
                    f"{message['type']} {message['n']} shows seat {you} the hand of seat {seat}: {hand}"
                )
        for event in message.get("events", []):
            if event["t"] == "draw" and event["p"] != you and set(event["tiles"]) - {"?"}:
                found.append(f"{message['type']} {message['n']} shows seat {you} the draw {event}")
        if message.get("moves") is not None and now["turn"] != you:
            found.append(f"{message['type']} {message['n']} shows seat {you} the moves of seat {now['turn']}")
    return found


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield all strings of a message with their paths."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield path, key
            yield from strings(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, path)


def orientations(tile: str) -> set[str]:
    """Return all rotations and reflections of a tile."""
    rotations = {tile[i:] + tile[:i] for i in range(len(tile))}
    return rotations | {letters[::-1] for letters in rotations}


def exposed_tiles(message: Json, hands: Iterable[list[str]]) -> list[str]:
    """Return the paths, except those in `PUBLIC`, where a message contains a tile of some hands."""
    secret = {letters for hand in hands for tile in hand for letters in orientations(tile)}
    return [f"{path}: {text}" for path, text in strings(message) if text in secret and path not in PUBLIC]


def face_up_tiles(page: Page) -> list[str]:
    """Return the tiles that are face up outside the board."""
    tiles: list[str] = page.evaluate(FACE_UP_TILES)
    return tiles
