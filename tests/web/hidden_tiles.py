"""Checks that messages contain no hidden tiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playwright.sync_api import Page

from tests.server.driving import Json

# Paths of tiles that everybody may see, without list indices.
PUBLIC = {"tiles.tile", "events.tile", "events.shown", "events.display.tile", "board.shapes.path"}
# Tiles rendered face up outside the board and not flying there.
FACES = """() => [...document.querySelectorAll(".tile:not(.back)")]
  .filter((tile) => !tile.closest("#board .tiles, .flying"))
  .map((tile) => tile.parentElement.outerHTML.slice(0, 300))"""


def leaks(message: Json) -> list[str]:
    """Return the hidden tiles that a message reveals to its viewer."""
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


def turned(tile: str) -> set[str]:
    """Return all rotations and reflections of a tile."""
    ways = {tile[i:] + tile[:i] for i in range(len(tile))}
    return ways | {way[::-1] for way in ways}


def tiles_told(message: Json, hands: Iterable[list[str]]) -> list[str]:
    """Return the places outside `PUBLIC` where a message contains a tile of these hands."""
    secret = {way for hand in hands for tile in hand for way in turned(tile)}
    return [f"{path}: {text}" for path, text in strings(message) if text in secret and path not in PUBLIC]


def faces(page: Page) -> list[str]:
    """Return the tiles face up on the page outside the board."""
    found: list[str] = page.evaluate(FACES)
    return found
