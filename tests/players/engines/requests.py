"""Events as requests to an engine."""

from __future__ import annotations

from axiogames.model.events import Draw, Event, Exchange, Pass, Place, Removed, Start
from axiogames.moves import Move


def line_of(event: Event) -> str:
    """Return the request that reports an event."""
    match event:
        case Start(display):
            return "start " + " ".join(f"{shown.tile} {shown.at}" for shown in display)
        case Removed(tiles):
            return f"remove {len(tiles)}"
        case Draw(p, tiles):
            return f"draw {p} {' '.join(tiles)}"
        case Place(p, tile, at, _, named):
            return f"play {p} {Move('place', tile, at, named)}"
        case Exchange(p, shown):
            return f"play {p} exchange {' '.join(shown)}"
        case Pass(p):
            return f"play {p} pass"
