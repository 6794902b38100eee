"""An engine of your own: takes the most points. It knows no rules, and nothing of axio is imported.

axio simulate axio --bots "engine:python examples/engine.py,balanced" --games 5
"""

import json
import random
import sys

view: dict = {}  # what our seat knows: its legal moves with their points are part of it
rng = random.Random()


def protocol_version(rest: str) -> str:
    return "1"


def name(rest: str) -> str:
    return "example"


def list_commands(rest: str) -> str:
    return "\n".join(COMMANDS)


def set_value(rest: str) -> str:
    what, value = rest.split(" ", 1)
    if what == "seed":
        rng.seed(value)
    return ""


def take_view(rest: str) -> str:
    view.clear()
    view.update(json.loads(rest))
    return ""


def think(rest: str) -> str:
    moves = [(sum(one["gain"].values()), rng.random(), one["move"]) for one in view["moves"]]
    best = sorted(moves, reverse=True)[:3]
    candidates = [{"move": move, "value": [points], "why": f"scores {points}"} for points, _, move in best]
    return json.dumps({"move": candidates[0]["move"], "candidates": candidates})


COMMANDS = {
    "protocol_version": protocol_version,
    "name": name,
    "list_commands": list_commands,
    "set": set_value,
    "view": take_view,
    "think": think,
    "quit": lambda rest: sys.exit(),
}
for line in sys.stdin:
    number, command, rest = [*line.strip().split(" ", 2), "", ""][:3]  # our caller always sends a number
    try:
        print(f"={number} {COMMANDS[command](rest)}\n", flush=True)
    except Exception as error:
        print(f"?{number} {error!r}\n", flush=True)
