"""`python -m tests.compiled`: compile what tests need before they start.

Whoever compiles a loop of a game compiles the rules with it. Here all loops of a game share them; left to the
tests, every process would have to do that for itself. What is not named here is compiled when a test asks.
Needs nothing but what playing needs, so it can begin while the rest is installed.
"""

from __future__ import annotations

import time

from axiogames.batch.loops import LOOPS_BY_NAME
from axiogames.cli.commands.warm import Layout, compile_games, compile_layout
from axiogames.envs import single
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.loops import greedy_playouts, random_playouts, set_cells
from axiogames.players.evaluation.rollout_loops import play_matches, self_play

SMALL = 2  # players: most tests are about games for two
LEARNED = "rota"  # the game that tests learn
# Loops of batches that tests need of some games alone.
ONLY = {
    "step_and_observe": ("axio", "hex"),
    "random_games": ("axio", "rota", "trio"),
    "greedy_games": ("axio", "rota"),
}


def compile_for_tests(layout: Layout) -> int:
    """What playing needs; of small boards what batches and environments do, too."""
    loops = compile_layout(layout)
    variant = find_variant(*layout)
    small = layout.players <= SMALL
    names = LOOPS_BY_NAME if small else ("masks", "observe")
    variant.kernels.compile(LOOPS_BY_NAME[name] for name in names if layout.game in ONLY.get(name, GAMES))
    variant.kernels.compile([random_playouts])
    if small:
        variant.kernels.compile([greedy_playouts])
        single._compiled(variant)
    if variant.compact is not variant:
        variant.compact.kernels.compile([set_cells, *([random_playouts] if small else [])])
    if layout.game == LEARNED:
        variant.kernels.compile([self_play, play_matches])
    return loops


if __name__ == "__main__":
    start = time.monotonic()
    compile_games(GAMES, compile_one=compile_for_tests)
    print(f"compiled in {time.monotonic() - start:.1f} s")
