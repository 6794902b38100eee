"""Random agents at a table, in PettingZoo's loop: `python random_agents.py [game] [players] [games]`.

Needs `pip install ".[rl]"`, run in the source folder.
"""

import sys

import numpy as np

from axiogames.envs import pettingzoo


def play(env, choose, seed):
    """Play one game; the place of each agent."""
    env.reset(seed=seed)
    places = {}
    for agent in env.agent_iter():
        seen, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            places[agent] = info["place"]
            env.step(None)
        else:
            env.step(choose(seen["action_mask"]))
    return places


def main(game="rota", players="3", games="5"):
    """Play some games and print who came where."""
    env = pettingzoo.env(game, players=int(players))
    rng = np.random.default_rng(1)
    for seed in range(int(games)):
        places = play(env, lambda mask: rng.choice(np.flatnonzero(mask)), seed)
        print(f"game {seed}:", ", ".join(f"{agent} is number {place}" for agent, place in places.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
