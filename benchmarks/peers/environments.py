"""`python -m benchmarks.peers.environments`: speed of the environments beside MOMAland's Ingenious.

The same loop for both: `last()`, any legal action of the mask, `step()`, and `reset()` after each game.
Choosing the action is the same code and is not counted; everything else is, in time of the processor. Runs
are short and alternate, and the best of each is told: other work only ever makes them slower.
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

YARDSTICK = "MOMAland's Ingenious, raw_env"


def moves_per_second(env: Any, seconds: float) -> float:
    """Return moves per second of random games, without the time to choose moves."""
    rng, moves, choosing = random.Random(1), 0, 0.0
    env.reset(seed=1)
    start = thread_time()
    while thread_time() - start < seconds:
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            action = None
            if not (terminated or truncated):
                before = thread_time()
                action = rng.choice(np.flatnonzero(seen["action_mask"]).tolist())
                choosing += thread_time() - before
                moves += 1
            env.step(action)
        env.reset()
    return moves / (thread_time() - start - choosing)


def vector_steps(game: str, games: int, seconds: float) -> float:
    """Return moves per second of a batch of solo games with observations and masks, moves chosen before."""
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
@click.option("--seconds", default=0.3, help="How long each run takes.")
@click.option("--runs", default=10, help="Runs of each.")
def main(seconds: float, runs: int) -> None:
    """Measure all games, with MOMAland's Ingenious as the reference."""
    from momaland.envs.ingenious import moingenious_v0

    makers: dict[str, Callable[[], Any]] = {YARDSTICK: lambda: moingenious_v0.raw_env(num_agents=2)}
    makers["MOMAland's Ingenious, env"] = lambda: moingenious_v0.env(num_agents=2)
    for game in GAMES:
        makers[f"{game}, raw_env"] = lambda game=game: pettingzoo.raw_env(game, 2)  # type: ignore[misc]
        makers[f"{game}, env"] = lambda game=game: pettingzoo.env(game, 2)  # type: ignore[misc]
    found: dict[str, list[float]] = {name: [] for name in makers}
    for make in makers.values():
        moves_per_second(make(), 0.05)  # compiled, and warm
    for _ in range(runs):
        for name, make in makers.items():
            found[name].append(moves_per_second(make(), seconds))
    yardstick = max(found[YARDSTICK])
    for name, speeds in found.items():
        speed = max(speeds)
        click.echo(f"{name:30} {speed:9,.0f} moves/s {1e6 / speed:8.1f} µs {speed / yardstick:6.1f} ×")
    for game in GAMES:
        speed = max(vector_steps(game, 1024, seconds) for _ in range(runs))
        click.echo(f"{game + ', 1024 alone at once':30} {speed:9,.0f} moves/s")


if __name__ == "__main__":
    main()
