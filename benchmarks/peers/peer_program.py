"""`python -m benchmarks.peers.peer_program PEER`: a game of another project, in a separate process.

The process prints its versions when it is ready. For each amount of work that it reads, it does the work and
prints the number of moves, the CPU seconds and the wall-clock seconds.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from itertools import count, cycle, islice
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

Work = Callable[[int], float]  # does an amount of work and returns the number of moves


class Measurement(NamedTuple):
    """Number of moves, and the time they took."""

    moves: float
    cpu_seconds: float
    wall_seconds: float


MOMALAND_GAMES = "momaland:games"
MOMALAND_STEPS = "momaland:steps"
MOMALAND_RULES = "momaland:rules"
OPEN_SPIEL_HEX = "open_spiel:hex(board_size=11)"
OPEN_SPIEL_HAVANNAH = "open_spiel:havannah(board_size=8)"
PGX_HEX = "pgx:hex"
PGX_GO = "pgx:go_9x9"

REPLAYED_GAMES = 20
ROLLOUTS = 50  # per call of OpenSpiel's evaluator
BATCH_SIZE = 64  # games of pgx; on a CPU, this is faster than 1 or 1,024


def random_game(env: Any, seed: int, rng: random.Random) -> list[Any]:
    """Play a random game through PettingZoo's interface; return its actions, `None` once an agent is done."""
    actions: list[Any] = []
    env.reset(seed=seed)
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        action = None
        if not (terminated or truncated):
            legal = np.flatnonzero(observation["action_mask"])
            action = legal[int(rng.random() * len(legal))]
        actions.append(action)
        env.step(action)
    return actions


def replay_game(env: Any, seed: int, actions: list[Any]) -> None:
    """Replay a game, which takes all the time of the environment but none for choosing moves."""
    remaining = iter(actions)
    env.reset(seed=seed)
    for _ in env.agent_iter():
        env.last()
        env.step(next(remaining))


def moves_in(actions: list[Any]) -> int:
    """Return the number of actions that are moves, not `None` for agents that are done."""
    return len(actions) - actions.count(None)


def games_work(env: Any) -> Work:
    """Return a workload of random games through PettingZoo's interface, including the choice of moves."""
    rng, seeds = random.Random(1), count(1)
    return lambda games: sum(moves_in(random_game(env, next(seeds), rng)) for _ in range(games))


def steps_work(env: Any) -> Work:
    """Return a workload of replayed games through PettingZoo's interface."""
    rng = random.Random(1)
    recorded = cycle([(seed, random_game(env, seed, rng)) for seed in range(REPLAYED_GAMES)])

    def work(games: int) -> float:
        moves = 0
        for seed, actions in islice(recorded, games):
            replay_game(env, seed, actions)
            moves += moves_in(actions)
        return moves

    return work


def momaland(kind: str) -> Work:
    """Return a workload of MOMAland's Ingenious without wrappers: `games` or `steps`."""
    env = import_module("momaland.envs.ingenious.moingenious_v0").raw_env(num_agents=2)
    return games_work(env) if kind == "games" else steps_work(env)


def momaland_rules(_: str) -> Work:
    """Return a workload of MOMAland's rules of Ingenious: masks and moves, without observations."""
    game = import_module("momaland.envs.ingenious.ingenious_base").IngeniousBase(num_agents=2)
    rng = random.Random(1)

    def work(games: int) -> float:
        moves = 0
        for _ in range(games):
            game.reset_game(rng.randrange(1 << 30))
            while not game.end_flag:
                legal = np.flatnonzero(game.return_action_list())
                game.set_action_index(int(legal[int(rng.random() * len(legal))]))
                moves += 1
        return moves

    return work


def open_spiel(name: str) -> Work:
    """Return a workload of random games inside OpenSpiel's C++: rollouts of its MCTS from the start.

    Rollouts do not report their length, which is estimated by the mean length of games between its random
    bots.
    """
    spiel = import_module("pyspiel")
    game = spiel.load_game(name)
    bots = [spiel.make_uniform_random_bot(seat, seat + 1) for seat in range(2)]
    ends = [game.new_initial_state() for _ in range(500)]
    for seed, state in enumerate(ends):
        spiel.evaluate_bots(state, bots, seed)
    length: float = sum(state.move_number() for state in ends) / len(ends)
    evaluator = spiel.RandomRolloutEvaluator(ROLLOUTS, 1)
    # A single simulation only evaluates the root.
    bot = spiel.MCTSBot(game, evaluator, 1.0, 1, 100, False, 1, False)
    start = game.new_initial_state()

    def work(times: int) -> float:
        for _ in range(times):
            bot.step(start)
        return times * ROLLOUTS * length

    return work


def pgx(name: str) -> Work:
    """Return a workload of random games of pgx, compiled by JAX for the CPU, with automatic resets."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    jax, games = import_module("jax"), import_module("pgx")
    env, jnp = games.make(name), import_module("jax.numpy")
    step = jax.vmap(import_module("pgx.experimental").auto_reset(env.step, env.init))

    def move(_: Any, carry: Any) -> Any:
        state, key = carry
        key, action_key, reset_key = jax.random.split(key, 3)
        counts = jnp.cumsum(state.legal_action_mask, axis=1)
        indices = jax.random.randint(action_key, (BATCH_SIZE,), 0, counts[:, -1])
        actions = jnp.argmax(counts > indices[:, None], axis=1)
        return step(state, actions, jax.random.split(reset_key, BATCH_SIZE)), key

    moves = jax.jit(lambda carry, steps: jax.lax.fori_loop(0, steps, move, carry))
    start = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), BATCH_SIZE))
    carry = [(start, jax.random.PRNGKey(1))]

    def work(steps: int) -> float:
        carry[0] = jax.block_until_ready(moves(carry[0], steps))
        return steps * BATCH_SIZE

    return work


MAKERS: dict[str, Callable[[str], Work]] = {
    MOMALAND_GAMES: momaland,
    MOMALAND_STEPS: momaland,
    MOMALAND_RULES: momaland_rules,
    OPEN_SPIEL_HEX: open_spiel,
    OPEN_SPIEL_HAVANNAH: open_spiel,
    PGX_HEX: pgx,
    PGX_GO: pgx,
}
PACKAGES = {"momaland": ("momaland",), "open_spiel": ("open-spiel",), "pgx": ("pgx", "jax")}


def measure_work(work: Work, amount: int) -> Measurement:
    """Do an amount of work and return the number of moves and the time."""
    cpu, wall = process_time(), perf_counter()
    moves = work(amount)
    return Measurement(moves, process_time() - cpu, perf_counter() - wall)


def main(name: str) -> None:
    """Print the versions, then do each amount of work that is read from standard input."""
    library, _, game = name.partition(":")
    work = MAKERS[name](game)
    work(1)  # compiles and warms up
    print(", ".join(f"{package} {version(package)}" for package in PACKAGES[library]), flush=True)
    for line in sys.stdin:
        print(*measure_work(work, int(line)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
