"""Playthroughs of OpenSpiel: everything it reports along a game of strong play.

A whole one is long. What is kept of it is what is said of the game, the moves and outcomes, what they were
worth, and a digest of all the rest. `python -m tests.rl.test_openspiel_playthroughs` writes them anew.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from random import Random

import pytest

from axiogames.envs.openspiel import PREFIX, pyspiel
from axiogames.games import GAMES
from axiogames.games import game as declared_game
from tests.envs.test_openspiel_knowledge import strong

FOLDER = Path(__file__).parent / "playthroughs"
KEPT = ("action: ", "Returns() = ")


def game_string(name: str) -> str:
    options = "".join(f",{option.name}=True" for option in declared_game(name).options)
    players = 2 - GAMES.index(name) % 2  # in turn: OpenSpiel takes long to print games for more seats
    return f"{PREFIX}{name}(players={players},reward=win{options})"


def numbers_played(text: str) -> list[int]:
    """Return a game of greedy moves with random draws."""
    rng, state = Random(1), pyspiel.load_game(text).new_initial_state()
    while not state.is_terminal():
        outcomes = [number for number, _ in state.chance_outcomes()] if state.is_chance_node() else []
        state.apply_action(rng.choice(outcomes) if outcomes else strong(state, rng))
    numbers: list[int] = state.history()
    return numbers


def shortened(playthrough: str) -> str:
    lines = playthrough.splitlines()
    kept = lines[: lines.index("# State 0")] + [line for line in lines if line.startswith(KEPT)]
    return "\n".join((*kept, f"digest: {hashlib.sha256(playthrough.encode()).hexdigest()}", ""))


def told(text: str, numbers: list[int]) -> str:
    from open_spiel.python.algorithms.generate_playthrough import playthrough

    made: str = playthrough(text, numbers, seed=1)
    return made


@pytest.mark.parametrize("name", GAMES)
def test_playthrough_matches_the_recorded_one(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    numbers = [
        int(line.removeprefix("action: ")) for line in golden.splitlines() if line.startswith("action: ")
    ]
    assert numbers == numbers_played(game_string(name))
    assert shortened(told(game_string(name), numbers)) == golden


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in GAMES:
        whole = told(game_string(each), numbers_played(game_string(each)))
        (FOLDER / f"{each}.txt").write_text(shortened(whole), encoding="utf-8")
