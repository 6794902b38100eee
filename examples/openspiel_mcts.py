"""OpenSpiel's information set Monte Carlo tree search plays a two-player game against a bot of axio.

Usage: python examples/openspiel_mcts.py --game axio_rota --against random

Needs `pip install ".[rl]"`, run in the source folder.
"""

import argparse

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from axiogames.envs import openspiel

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--game", default="axio_rota", help="with parameters, such as 'axio_trio(short=True)'")
options.add_argument("--against", default="random", help="a bot of axio: random, greedy, balanced …")
options.add_argument("--games", type=int, default=10)
options.add_argument("--simulations", type=int, default=60, help="number of simulations per move")
options.add_argument("--seed", type=int, default=1)
arguments = options.parse_args()

game = pyspiel.load_game(arguments.game)
rng = np.random.RandomState(arguments.seed)
search = ismcts.ISMCTSBot(
    game,
    mcts.RandomRolloutEvaluator(n_rollouts=1, random_state=rng),
    uct_c=1.0,
    max_simulations=arguments.simulations,
    random_state=rng,
    # With so few simulations each move has one or two visits: its value is a better criterion.
    final_policy_type=ismcts.ISMCTSFinalPolicyType.MAX_VALUE,
)
# A seeded resampler for hidden tiles makes the run reproducible.
search.set_resampler(lambda state, seat: state.resample_from_infostate(seat, rng.random_sample))
opponent = openspiel.SpielBot(arguments.against, seed=arguments.seed)

results = []
for i in range(arguments.games):
    bots = [search, opponent] if i % 2 == 0 else [opponent, search]
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choice(outcomes, p=probabilities))
        else:
            state.apply_action(bots[state.current_player()].step(state))
    results.append(state.returns()[bots.index(search)])
    print(f"game {i + 1}: {results[-1]:+.0f}, points {state.scores().tolist()}", flush=True)
print(f"{sum(result > 0 for result in results)} won, {sum(result < 0 for result in results)} lost")
