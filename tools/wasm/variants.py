"""The data of variants for the browser: what the rules read, and what the page draws and calls by name."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import asdict
from itertools import combinations
from typing import Any

import msgspec
import numpy as np

from axiogames.analysis.review.values import value_scale
from axiogames.games import GAMES, find_variant, game
from axiogames.games.protocol import MAX_PLAYERS
from axiogames.games.variant import Variant
from axiogames.players.bots.choosing import SAMPLED
from axiogames.players.bots.levels import LEVELS, Level, SampledMoves
from axiogames.players.bots.searching import Instant
from axiogames.players.evaluation.weights import load_weights
from axiogames.players.search.rollouts import FAST, FULL, load_config
from axiogames.web.variant_data import variant_data

PACES = {"fast": FAST, "full": FULL}


def all_variants() -> Iterator[Variant]:
    """Yield every game with every number of players and set of options."""
    for name in GAMES:
        options = [option.name for option in game(name).options]
        for players in range(1, MAX_PLAYERS + 1):
            for size in range(len(options) + 1):
                for chosen in combinations(options, size):
                    yield find_variant(name, players, dict.fromkeys(chosen, True))


def layout_name(variant: Variant) -> str:
    """Return the name of a variant's layout, as in file names: `axio-81` for 81 cells."""
    words = re.findall(r"[a-z0-9]+", variant.kernels.label)
    return "-".join(word for word in words if word != "cells")


def variant_name(variant: Variant) -> str:
    """Return the name of a variant, as in file names: game, players and options."""
    return "-".join((variant.game.id, str(variant.players), *variant.options))


def describe_variant(variant: Variant) -> dict[str, Any]:
    """Return the data of a variant."""
    configs = {name: asdict(load_config(variant, pace)) for name, pace in PACES.items()}
    return {
        **msgspec.json.decode(msgspec.json.encode(variant_data(variant))),
        "layout": layout_name(variant),
        "scale": msgspec.to_builtins(value_scale(variant)),
        "draw_source": variant.draw_source,
        "draw_sources": variant.draw_sources,
        "levels": [describe_level(name) for name in LEVELS],
        "configs": configs,
        "records": {
            "constants": _base64(variant.constants),
            "opening": _base64(variant.opening),
            "weights": _base64(load_weights(variant)),
        },
    }


def describe_level(name: str) -> dict[str, Any]:
    """Return how a level chooses its moves."""
    match LEVELS[name]():
        case SampledMoves(moves=moves, one_ply=False):
            return {"name": name, "by": "points", "policy": SAMPLED, "samples": moves}
        case SampledMoves(moves=moves, one_ply=True):
            return {"name": name, "by": "value", "samples": moves}
        case Level(player=Instant()):
            return {"name": name, "by": "one_ply"}
        case Level(rollouts=rollouts):
            return {"name": name, "by": "search", "rollouts": rollouts}
        case other:
            raise TypeError(f"{name} is a {type(other).__name__}, which the browser cannot play")


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()
