"""An external engine that takes the most points. It knows no rules and does not import axio.

Usage: axio simulate axio --bots "engine:python examples/engine.py,balanced" --games 5
"""

import json
import random
import sys

view: dict = {}  # the last view, with the legal moves and their points
rng = random.Random()


def protocol_version(argument: str) -> str:
    return "1"


def name(argument: str) -> str:
    return "example"


def list_commands(argument: str) -> str:
    return "\n".join(COMMANDS)


def set_value(argument: str) -> str:
    setting, value = argument.split(" ", 1)
    if setting == "seed":
        rng.seed(value)
    return ""


def take_view(argument: str) -> str:
    view.clear()
    view.update(json.loads(argument))
    return ""


def think(argument: str) -> str:
    moves = [(sum(offer["gain"].values()), rng.random(), offer["move"]) for offer in view["moves"]]
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
    "quit": lambda argument: sys.exit(),
}
for line in sys.stdin:
    number, command, argument = [*line.strip().split(" ", 2), "", ""][:3]  # axio numbers every request
    try:
        print(f"={number} {COMMANDS[command](argument)}\n", flush=True)
    except Exception as error:
        print(f"?{number} {error!r}\n", flush=True)
