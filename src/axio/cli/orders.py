"""What people type: moves, however they are spaced, and a few words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import BadText
from ..moves import Move

WORDS = {
    "help": ("?", "h", "help"),
    "moves": ("moves", "m"),
    "hint": ("hint",),
    "score": ("score", "s"),
    "board": ("board", "b"),
    "undo": ("undo", "u"),
    "position": ("position",),
    "quit": ("quit", "q", "exit"),
}
_ORDER = {word: order for order, words in WORDS.items() for word in words}

_PLACE = re.compile(
    r"(?P<tile>[a-z_]{2,4})(?:\s*\(\s*(?P<named>[a-z])\s*\)|\s+(?P<bare>[a-z])(?=\s))?\s+(?P<at>.+)"
)
_CELLS = re.compile(r"[a-z][0-9]{1,2}(?:[\s-]*[a-z][0-9]{1,2})+")
_POINT = re.compile(r"\(?\s*(-?[0-9]{1,3})\s*[,\s]\s*(-?[0-9]{1,3})\s*\)?")


@dataclass(frozen=True, slots=True)
class Order:
    """Something asked for: a word of `WORDS` and what follows it."""

    name: str
    rest: str


def read_order(text: str) -> Order | None:
    """What a line asks for, if it is not a move."""
    word, _, rest = text.strip().partition(" ")
    name = _ORDER.get(word.lower())
    return Order(name, rest.strip()) if name else None


def read_move(text: str) -> Move:
    """A move in the notation, or nearly so: `gr k8 j8`, `brg_ p 2 -1`. Raises `BadText`."""
    low = " ".join(text.lower().split())
    word, *tiles = low.split()
    if word in ("keep", "pass") or word == "exchange":
        return Move.parse(" ".join((word, *(tile.strip(",").upper() for tile in tiles))))
    if (found := _PLACE.fullmatch(low)) and (at := _place(found["at"])):
        named = found["named"] or found["bare"]
        colour = f"({named.upper()})" if named else ""
        return Move.parse(f"{found['tile'].upper()}{colour} {at}")
    raise BadText(f"{text.strip()[:40]!r} is neither a move nor a word I know: ? lists what you can type")


def _place(text: str) -> str | None:
    if _CELLS.fullmatch(text):
        return "-".join(re.findall(r"[a-z][0-9]{1,2}", text))
    if found := _POINT.fullmatch(text):
        return f"{int(found[1])},{int(found[2])}"
    return None
