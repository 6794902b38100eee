"""`python -m tests.compiled`: compile the loops that tests need, before they start.

Each loop is compiled together with the rules of its game. Here all loops of a game share the compiled rules;
otherwise each test process would compile them again. Other loops are compiled when a test needs them.
This module needs the base install only, so it can run while the extras are installed.
"""

from __future__ import annotations

import time

from axiogames.analysis.solve.beam import expand, follow
from axiogames.batch.loops import LOOPS_BY_NAME
from axiogames.cli.commands.compile import compile_games
from axiogames.envs import single
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.loops import LOOPS, greedy_playouts, random_playouts
from axiogames.games.runtime.view_loops import restore_derived
from axiogames.model import testing
from axiogames.players.compilation import CompileUnit, compile_unit
from axiogames.players.evaluation.rollout_loops import play_matches, self_play

SMALL = 2  # players: most tests use games for two
SLOW = 3  # players: bots on a board for three are tested by `make slow`
TRAINED = "rota"  # the game that tests train
SOLVED = ("axio", "hex")
CHECKS = (testing.list_actions, testing.choose_actions, testing.write_refusals, testing.total_points)
# Loops of batches that tests need for some games only.
ONLY = {
    "step_and_observe": ("axio", "hex", "rota"),
    "random_games": ("axio", "rota", "trio"),
    "greedy_games": ("axio", "rota"),
}


def compile_for_tests(unit: CompileUnit) -> int:
    """Compile the loops of games and, on small boards, of batches and environments. Return their number."""
    variant = find_variant(*unit)
    loops = compile_unit(unit) if unit.players != SLOW else variant.kernels.compile(LOOPS)
    small = unit.players <= SMALL
    names = LOOPS_BY_NAME if small else ("masks", "observe")
    variant.kernels.compile(LOOPS_BY_NAME[name] for name in names if unit.game in ONLY.get(name, GAMES))
    if small:
        variant.kernels.compile([random_playouts, greedy_playouts, *CHECKS])
        single._compiled(variant)
    if variant.compact is not variant:
        variant.compact.kernels.compile([restore_derived])
    if small and unit.game in SOLVED:
        variant.kernels.compile([expand, follow])
    if unit.game == TRAINED:
        variant.kernels.compile([self_play, play_matches])
    return loops


if __name__ == "__main__":
    start = time.monotonic()
    compile_games(GAMES, compile_one=compile_for_tests)
    print(f"compiled in {time.monotonic() - start:.1f} s")
