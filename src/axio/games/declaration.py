"""What a game declares about itself. Its rules and its variants are loaded only when it is played."""

from __future__ import annotations

from dataclasses import dataclass

MOST_PLAYERS = 4


@dataclass(frozen=True, slots=True)
class Option:
    """A rule that a table may switch on."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class Game:
    """A game's facts, as a person would list them."""

    id: str
    name: str
    summary: str
    colours: str
    tiles: int
    hand: int
    cap: int | None
    options: tuple[Option, ...] = ()
    reconstructed: tuple[str, ...] = ()
