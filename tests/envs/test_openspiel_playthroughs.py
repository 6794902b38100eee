"""Playthroughs of OpenSpiel: everything it reports during a game of strong play.

Playthroughs are long. The files keep the description of the game, the actions, the returns, and a digest of
the whole text. `python -m tests.envs.test_openspiel_playthroughs` writes the files.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from random import Random

import pytest

from axiogames.envs.openspiel import PREFIX, pyspiel
from axiogames.games import GAMES
from axiogames.games import game as declared_game
from tests.envs.test_openspiel_knowledge import strong_action

FOLDER = Path(__file__).parent / "playthroughs"
KEPT = ("action: ", "Returns() = ")


def game_string(name: str) -> str:
    options = "".join(f",{option.name}=True" for option in declared_game(name).options)
    players = (
        2 - GAMES.index(name) % 2
    )  # alternately 2 and 1: OpenSpiel takes long to print games for more seats
    return f"{PREFIX}{name}(players={players},reward=win{options})"


def greedy_actions(text: str) -> list[int]:
    """Return a game of greedy moves with random draws."""
    rng, state = Random(1), pyspiel.load_game(text).new_initial_state()
    while not state.is_terminal():
        outcomes = [outcome for outcome, _ in state.chance_outcomes()] if state.is_chance_node() else []
        state.apply_action(rng.choice(outcomes) if outcomes else strong_action(state, rng))
    actions: list[int] = state.history()
    return actions


def shortened(playthrough: str) -> str:
    lines = playthrough.splitlines()
    kept = lines[: lines.index("# State 0")] + [line for line in lines if line.startswith(KEPT)]
    return "\n".join((*kept, f"digest: {hashlib.sha256(playthrough.encode()).hexdigest()}", ""))


def generated(text: str, actions: list[int]) -> str:
    from open_spiel.python.algorithms.generate_playthrough import playthrough

    whole: str = playthrough(text, actions, seed=1)
    return whole


@pytest.mark.parametrize("name", GAMES)
def test_playthrough_matches_the_recorded_one(name: str) -> None:
    golden = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    actions = [
        int(line.removeprefix("action: ")) for line in golden.splitlines() if line.startswith("action: ")
    ]
    assert actions == greedy_actions(game_string(name))
    assert shortened(generated(game_string(name), actions)) == golden


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in GAMES:
        whole = generated(game_string(each), greedy_actions(game_string(each)))
        (FOLDER / f"{each}.txt").write_text(shortened(whole), encoding="utf-8")
