"""`python -m benchmarks.peers.environments`: speed of the environments, compared with MOMAland's Ingenious.

All environments run in the same loop: `last()`, a random legal action of the mask, `step()`, and `reset()`
after each game. The CPU time of the loop counts, except for the choice of the action. Runs are short and
alternate. The report contains the fastest run of each, because other load can only slow a run down.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from time import thread_time
from typing import Any

import click
import numpy as np

from axiogames.envs import gymnasium, pettingzoo
from axiogames.games import GAMES

REFERENCE = "MOMAland's Ingenious, raw_env"


def moves_per_second(env: Any, seconds: float) -> float:
    """Return the moves per second of random games, without the time for choosing moves."""
    rng, moves, choosing = random.Random(1), 0, 0.0
    env.reset(seed=1)
    start = thread_time()
    while thread_time() - start < seconds:
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            action = None
            if not (terminated or truncated):
                before = thread_time()
                action = rng.choice(np.flatnonzero(observation["action_mask"]).tolist())
                choosing += thread_time() - before
                moves += 1
            env.step(action)
        env.reset()
    return moves / (thread_time() - start - choosing)


def vector_steps(game: str, games: int, seconds: float) -> float:
    """Return the moves per second of a batch of solo games with observations and masks, without sampling."""
    envs = gymnasium.SoloVectorEnv(game, games)
    envs.reset(seed=1)
    moves, spent = 0, 0.0
    while spent < seconds:
        actions = envs._batch.sample().copy()
        before = thread_time()
        envs.step(actions)
        spent += thread_time() - before
        moves += games
    return moves / spent


@click.command()
@click.option("--seconds", default=0.3, help="Duration of each run.")
@click.option("--runs", default=10, help="Runs per environment.")
def main(*, seconds: float, runs: int) -> None:
    """Measure the environments of all games, with MOMAland's Ingenious as the reference."""
    from momaland.envs.ingenious import moingenious_v0

    makers: dict[str, Callable[[], Any]] = {REFERENCE: lambda: moingenious_v0.raw_env(num_agents=2)}
    makers["MOMAland's Ingenious, env"] = lambda: moingenious_v0.env(num_agents=2)
    for game in GAMES:
        makers[f"{game}, raw_env"] = lambda game=game: pettingzoo.raw_env(game, 2)  # type: ignore[misc]
        makers[f"{game}, env"] = lambda game=game: pettingzoo.env(game, 2)  # type: ignore[misc]
    found: dict[str, list[float]] = {name: [] for name in makers}
    for make in makers.values():
        moves_per_second(make(), 0.05)  # compiles and warms up
    for _ in range(runs):
        for name, make in makers.items():
            found[name].append(moves_per_second(make(), seconds))
    reference = max(found[REFERENCE])
    for name, speeds in found.items():
        speed = max(speeds)
        click.echo(f"{name:30} {speed:9,.0f} moves/s {1e6 / speed:8.1f} µs {speed / reference:6.1f} ×")
    for game in GAMES:
        speed = max(vector_steps(game, 1024, seconds) for _ in range(runs))
        click.echo(f"{game + ', batch of 1024 solo':30} {speed:9,.0f} moves/s")


if __name__ == "__main__":
    main()
