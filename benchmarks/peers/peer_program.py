"""`python -m benchmarks.peers.peer_program PEER`: a game of another project in a process of its own.

It says its versions when it is ready. Then, for each line with an amount of work, it does that much and says
how many moves that were, and the seconds of the processor and of the clock that it took.
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

Work = Callable[[int], float]  # an amount of work: the moves made


class Done(NamedTuple):
    """Amount of work and the time it took."""

    moves: float
    processor: float  # seconds
    clock: float


MOMALAND_GAMES = "momaland:games"
MOMALAND_STEPS = "momaland:steps"
MOMALAND_RULES = "momaland:rules"
OPEN_SPIEL_HEX = "open_spiel:hex(board_size=11)"
OPEN_SPIEL_HAVANNAH = "open_spiel:havannah(board_size=8)"
PGX_HEX = "pgx:hex"
PGX_GO = "pgx:go_9x9"

KNOWN = 20  # games whose moves are chosen before
ROLLOUTS = 50  # that one call of OpenSpiel's evaluator plays
AT_ONCE = 64  # games of pgx: faster on a processor than 1 or 1,024 of them


def random_game(env: Any, seed: int, rng: random.Random) -> list[Any]:
    """Play a random game through PettingZoo's interface; return its actions, `None` once an agent is done."""
    actions: list[Any] = []
    env.reset(seed=seed)
    for _ in env.agent_iter():
        seen, _, terminated, truncated, _ = env.last()
        action = None
        if not (terminated or truncated):
            legal = np.flatnonzero(seen["action_mask"])
            action = legal[int(rng.random() * len(legal))]
        actions.append(action)
        env.step(action)
    return actions


def same_game(env: Any, seed: int, actions: list[Any]) -> None:
    """Replay a game: everything an environment does, without choosing moves."""
    again = iter(actions)
    env.reset(seed=seed)
    for _ in env.agent_iter():
        env.last()
        env.step(next(again))


def moves_in(actions: list[Any]) -> int:
    """Number of actions that are moves; the others are `None`, for agents that are done."""
    return len(actions) - actions.count(None)


def games_work(env: Any) -> Work:
    """Return a workload of random games through PettingZoo's interface, including the choice of moves."""
    rng, seeds = random.Random(1), count(1)
    return lambda games: sum(moves_in(random_game(env, next(seeds), rng)) for _ in range(games))


def steps_work(env: Any) -> Work:
    """Return a workload of replayed games through PettingZoo's interface."""
    rng = random.Random(1)
    known = [(seed, random_game(env, seed, rng)) for seed in range(KNOWN)]
    turns = cycle(known)

    def work(games: int) -> float:
        moves = 0
        for seed, actions in islice(turns, games):
            same_game(env, seed, actions)
            moves += moves_in(actions)
        return moves

    return work


def momaland(what: str) -> Work:
    """Return a workload of MOMAland's Ingenious without wrappers."""
    env = import_module("momaland.envs.ingenious.moingenious_v0").raw_env(num_agents=2)
    return games_work(env) if what == "games" else steps_work(env)


def momaland_rules(_: str) -> Work:
    """Return a workload of MOMAland's rules of Ingenious: masks and moves, no observations."""
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

    They do not say how long they were. That is taken from games of its random bots, which are counted.
    """
    spiel = import_module("pyspiel")
    game = spiel.load_game(name)
    bots = [spiel.make_uniform_random_bot(seat, seat + 1) for seat in range(2)]
    ends = [game.new_initial_state() for _ in range(500)]
    for seed, state in enumerate(ends):
        spiel.evaluate_bots(state, bots, seed)
    length: float = sum(state.move_number() for state in ends) / len(ends)
    evaluator = spiel.RandomRolloutEvaluator(ROLLOUTS, 1)
    # One simulation evaluates the root, and does nothing else.
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

    def move(_: Any, now: Any) -> Any:
        state, key = now
        key, choosing, starting = jax.random.split(key, 3)
        ranks = jnp.cumsum(state.legal_action_mask, axis=1)
        wanted = jax.random.randint(choosing, (AT_ONCE,), 0, ranks[:, -1])
        actions = jnp.argmax(ranks > wanted[:, None], axis=1)
        return step(state, actions, jax.random.split(starting, AT_ONCE)), key

    moves = jax.jit(lambda now, steps: jax.lax.fori_loop(0, steps, move, now))
    first = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), AT_ONCE))
    now = [(first, jax.random.PRNGKey(1))]

    def work(steps: int) -> float:
        now[0] = jax.block_until_ready(moves(now[0], steps))
        return steps * AT_ONCE

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


def timed(work: Work, amount: int) -> Done:
    """Run a workload and return its amount and time."""
    processor, clock = process_time(), perf_counter()
    moves = work(amount)
    return Done(moves, process_time() - processor, perf_counter() - clock)


def main(name: str) -> None:
    """Print the versions, then run the workload once for each amount on standard input."""
    library, _, game = name.partition(":")
    work = MAKERS[name](game)
    work(1)  # compiled, and warm
    print(", ".join(f"{package} {version(package)}" for package in PACKAGES[library]), flush=True)
    for line in sys.stdin:
        print(*timed(work, int(line)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
