"""Random agents in a PettingZoo environment.

Usage: python examples/random_agents.py [GAME] [PLAYERS] [GAMES]

Needs `pip install ".[rl]"`, run in the source folder.
"""

import sys

import numpy as np

from axiogames.envs import pettingzoo


def play(env, choose, seed):
    """Play one game and return the rank of each agent. `choose` maps an action mask to an action."""
    env.reset(seed=seed)
    ranks = {}
    for agent in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            ranks[agent] = info["place"]
            env.step(None)
        else:
            env.step(choose(observation["action_mask"]))
    return ranks


def main(game="rota", players="3", games="5"):
    """Play some games and print the rank of each agent."""
    env = pettingzoo.env(game, players=int(players))
    rng = np.random.default_rng(1)
    for seed in range(int(games)):
        ranks = play(env, lambda mask: rng.choice(np.flatnonzero(mask)), seed)
        print(f"game {seed}:", ", ".join(f"{agent} has rank {rank}" for agent, rank in ranks.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
