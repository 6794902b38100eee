"""Train an agent for solo dominoes, with NumPy only, in a minute on one core.

Deep Q-learning in the manner of PQN (Gallici et al., 2024): many parallel games instead of a replay buffer,
λ-returns instead of a target network. A small network estimates the return of each legal move. Its inputs
describe the board relative to the move's two cells and to the colours of its tile, so it generalises over
places and colours. It uses observations, masks, points, and the cells of each slot.
"""

import argparse
import json
import os
import sys
import time
from importlib.util import find_spec
from itertools import pairwise

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported: one core, and the same sums every time

import numpy as np

from axiogames.batch import Batch
from axiogames.games import GAMES, find_variant

PARALLEL_GAMES, STEPS, EPOCHS, MINIBATCH = 64, 40, 4, 256  # per update
RADIUS, LINE = 2, 4  # cells in the inputs: all within RADIUS steps, and LINE cells along each line of a half
HIDDEN = (64, 32)
LAMBDA, LEARNING_RATE, EPSILON = 0.95, 0.002, 0.02


def utility(points):
    """Return a smooth approximation of the lowest track, in units of ten points.

    Every point contributes, so rewards are dense.
    """
    return -0.5 * np.log(np.exp(-points / 5).mean(axis=1))


class MoveEncoder:
    """Converts observations into network inputs, a row for each legal move."""

    def __init__(self, batch):
        layout, slots, letters = batch.observation, batch.variant.slots, batch.variant.colours
        at = [np.array(divmod(int(place), layout.board.shape[2])) for place in layout.board.places]
        cell_at = {tuple(spot): cell for cell, spot in enumerate(at)}
        self.colours, self.places, self.outside = len(letters), layout.board.places, len(at)
        self.points, self.hand = layout.where("seat0.points."), layout.where("hand.")
        self.tiles = np.array([[letters.index(letter) for letter in kind] for kind in batch.variant.kinds])
        # Steps to the neighbours of a cell, by angle. Walks are relative to the step to the other half.
        ways = {tuple(sign * (at[b] - at[a])) for a, b in slots for sign in (1, -1)}
        ways = [np.array(way) for way in sorted(ways, key=lambda way: np.arctan2(*way))]
        self.walks = self._walks(ways)
        # The cells around each slot, seen from either of its ends, and mirrored.
        self.around = np.zeros((len(slots), 2, 2, len(self.walks)), np.int64)
        for slot, (a, b) in enumerate(slots):
            for end, (near, far) in enumerate(((a, b), (b, a))):
                ahead = [tuple(way) for way in ways].index(tuple(at[far] - at[near]))
                for mirror, turn in enumerate((1, -1)):
                    for walk, steps in enumerate(self.walks):
                        spot = at[near] + sum(ways[(ahead + turn * step) % len(ways)] for step in steps)
                        self.around[slot, end, mirror, walk] = cell_at.get(tuple(spot), self.outside)

    def _walks(self, ways):
        """Return walks from the first half to all cells of the inputs."""
        found = {(0, 0): (), tuple(ways[0]): (0,)}
        for _ in range(RADIUS):
            for spot, walk in list(found.items()):
                for step, way in enumerate(ways):
                    found.setdefault(tuple(spot + way), (*walk, step))
        for half, spot in ((), np.zeros(2, int)), ((0,), ways[0]):
            for step, way in enumerate(ways):
                for distance in range(1, LINE + 1):
                    found.setdefault(tuple(spot + distance * way), (*half, *(step,) * distance))
        return list(found.values())[2:]  # without the slot itself

    def encode(self, batch, rng):
        """Return the game, action id and inputs of all legal moves, and the points of each game.

        `rng` chooses whether the cells around a move are mirrored, as data augmentation.
        """
        observation, games = batch.observe(), np.arange(batch.games)
        points = observation.vector[:, self.points].astype(np.float32)
        lowest = points.min(axis=1, keepdims=True)
        tile = self.tiles[observation.vector[:, self.hand].argmax(axis=1)]
        both = np.take_along_axis(points, tile, axis=1)
        # The colour with fewer points first.
        low, high = np.where(both[:, :1] > both[:, 1:], tile[:, ::-1], tile).T
        # Contents of each cell; all zeros for a cell that can never be used.
        planes = observation.board
        board = planes.reshape(batch.games, len(planes[0]), -1)[:, :, self.places]
        symbols, empty = board[:, : self.colours], board[:, self.colours]
        needed = np.einsum("gcn,gc->gn", symbols, np.exp((lowest - points) / 4))
        cells = np.zeros((batch.games, self.outside + 1, 5), np.float32)
        channels = (symbols[games, low], symbols[games, high], symbols.any(axis=1), empty, needed)
        cells[:, :-1] = np.stack(channels, axis=2)
        # Inputs that are equal for all moves of a game.
        tracks = np.hstack([np.sort(both, axis=1), np.sort(points, axis=1)])
        room = empty.mean(axis=1, keepdims=True)
        state = [tracks / 18, (tracks - lowest) / 6, np.maximum(18 - tracks, 0) / 18]  # 18 caps a track
        state = np.hstack([*state, room, room**2, (low == high)[:, None]]).astype(np.float32)
        # Inputs that depend on the move.
        game, actions = np.nonzero(batch.masks().view(bool))
        slot, first = actions // self.colours**2, actions // self.colours % self.colours
        end = (first != low[game]).astype(np.int64)
        around = self.around[slot, end, rng.integers(2, size=len(game))]
        near = cells.reshape(-1, 5).take(around + game[:, None] * (self.outside + 1), axis=0)
        return game, actions, np.hstack([near.reshape(len(game), -1), state[game]]), points


class Network:
    """A multilayer perceptron trained by Adam."""

    def __init__(self, sizes, rng):
        pairs = list(pairwise(sizes))
        self.weights = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in pairs]
        self.weights[-1] *= 0.1
        self.biases = [np.zeros(b, np.float32) for _, b in pairs]
        self.means = [np.zeros_like(values) for values in self.weights + self.biases]
        self.squares = [np.zeros_like(values) for values in self.weights + self.biases]
        self.steps = 0

    def layers(self, inputs):
        """Return the inputs and the output of each layer."""
        layers = [inputs]
        for weights, bias in zip(self.weights, self.biases, strict=True):
            layers.append(layers[-1] @ weights)
            layers[-1] += bias
            if len(layers) <= len(HIDDEN) + 1:
                np.maximum(layers[-1], 0, out=layers[-1])
        return layers

    def __call__(self, inputs):
        """Return the estimated return of each move."""
        return self.layers(inputs)[-1][:, 0]

    def learn(self, inputs, targets, rate):
        """Take one step of the optimiser on the Huber loss."""
        *layers, predictions = self.layers(inputs)
        delta = np.clip(predictions - targets[:, None], -1, 1) / len(targets)
        gradients = []
        for layer, weights in zip(layers[::-1], self.weights[::-1], strict=True):
            gradients.append((layer.T @ delta, delta.sum(axis=0)))
            delta = (delta @ weights.T) * (layer > 0)
        self.steps += 1
        gradients = [of_weights for of_weights, _ in gradients[::-1]] + [
            of_bias for _, of_bias in gradients[::-1]
        ]
        values = self.weights + self.biases
        for value, gradient, mean, square in zip(values, gradients, self.means, self.squares, strict=True):
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            scale = np.sqrt(square / (1 - 0.999**self.steps)) + 1e-6
            value -= rate * mean / (1 - 0.9**self.steps) / scale


def best(values, game):
    """Return the index of the best move of each game, and its value."""
    starts = np.flatnonzero(np.diff(game, prepend=-1))
    highest = np.maximum.reduceat(values, starts)
    rows = np.flatnonzero(values == highest[game])
    return rows[np.unique(game[rows], return_index=True)[1]], highest


def update(batch, encoder, network, rng, remaining):
    """Play `STEPS` moves in all games, learn from them, and return the results of the games that ended.

    Exploration and learning rate are proportional to `remaining`, the share of the training that is left.
    """
    inputs, rewards, ended, values, lowest = [], [], [], [], []
    for _ in range(STEPS):
        game, actions, rows, points = encoder.encode(batch, rng)
        picks, highest = best(network(rows), game)
        explored = np.flatnonzero(rng.random(batch.games) < EPSILON * remaining)
        picks[explored] = [rng.choice(np.flatnonzero(game == n)) for n in explored]
        step = batch.step(actions[picks])
        inputs.append(rows[picks])
        values.append(highest)
        rewards.append(utility(points + step.gains) - utility(points))
        ended.append(step.ended.copy())
        lowest += batch.finals[step.ended, 0].min(axis=1).tolist()
    game, _, rows, _ = encoder.encode(batch, rng)
    target = next_value = best(network(rows), game)[1]
    targets = []
    for reward, over, value in zip(rewards[::-1], ended[::-1], values[::-1], strict=True):
        target = reward + np.where(over, 0, LAMBDA * target + (1 - LAMBDA) * next_value)
        next_value = value
        targets.append(target)
    inputs, targets = np.concatenate(inputs), np.concatenate(targets[::-1]).astype(np.float32)
    for _ in range(EPOCHS):
        for part in rng.permutation(len(inputs)).reshape(-1, MINIBATCH):
            network.learn(inputs[part], targets[part], LEARNING_RATE * remaining)
    return lowest


def play(choose, game, deals, seed):
    """Return the mean lowest track of whole games. The deals depend on the seed only."""
    batch = Batch(game, players=1, games=deals, seed=seed)
    lowest = np.full(deals, -1)
    while (lowest < 0).any():  # finished games restart; only the first result counts
        ended = batch.step(choose(batch)).ended & (lowest < 0)
        lowest[ended] = batch.finals[ended, 0].min(axis=1)
    return float(lowest.mean())


def baseline(choose, rngs):
    """Return `choose` as a policy with its own random generators, so that it does not influence the draws."""

    def policy(batch):
        batch.rngs, batch_rngs = rngs, batch.rngs
        actions = choose(batch)
        batch.rngs = batch_rngs
        return actions

    return policy


def compare(network, game, deals, seed):
    """Return the mean results of the network, the greedy and the random policy on the same deals."""
    encoder, rng = MoveEncoder(Batch(game, players=1, games=1)), np.random.default_rng(seed)
    rngs = Batch(game, players=1, games=deals, seed=seed + 1).rngs

    def learned(batch):
        game_of, actions, rows, _ = encoder.encode(batch, rng)
        return actions[best(network(rows), game_of)[0]]

    policies = {
        "learned": learned,
        "greedy": baseline(Batch.greedy, rngs),
        "random": baseline(Batch.sample, rngs),
    }
    return {name: play(choose, game, deals, seed) for name, choose in policies.items()}


def train(game, seed, progress):
    """Train until `progress(updates, start)` returns 1. Return the network and the learning curve."""
    rng = np.random.default_rng(seed)
    batch = Batch(game, players=1, games=PARALLEL_GAMES, seed=seed)
    encoder, start = MoveEncoder(batch), time.process_time()
    network = Network((encoder.encode(batch, rng)[2].shape[1], *HIDDEN, 1), rng)
    curve, lowest = [], []
    while (done := progress(len(curve), start)) < 1:
        lowest = [*lowest, *update(batch, encoder, network, rng, 1 - done)][-200:]
        seconds, mean = time.process_time() - start, float(np.mean(lowest)) if lowest else 0.0
        curve.append((round(seconds, 2), round(mean, 2)))
        if int(10 * progress(len(curve), start)) > int(10 * done):
            print(f"{seconds:6.1f} s  {len(curve):4} updates  lowest {mean:5.2f}", file=sys.stderr)
    return network, curve


def main():
    """Train the agent, then compare it with a greedy and a random policy."""
    options = argparse.ArgumentParser(description=__doc__.split(".")[0])
    options.add_argument("--game", default=GAMES[0], choices=GAMES)
    options.add_argument("--seconds", type=float, default=60, help="CPU time of the training")
    options.add_argument("--updates", type=int, help="instead of --seconds: reproducible by the seed")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--deals", type=int, default=200, help="number of deals for the comparison")
    options.add_argument("--json", action="store_true", help="print the result as JSON")
    options.add_argument("--plot", metavar="FILE", help="draw the learning curve as .svg or .png")
    arguments = options.parse_args()
    if min(arguments.seconds, arguments.deals, 1 if arguments.updates is None else arguments.updates) <= 0:
        options.error("--seconds, --updates and --deals must be greater than 0")
    slots = getattr(find_variant(arguments.game, players=1), "slots", None)
    if not slots or len(slots[0]) != 2:
        options.error(f"{arguments.game} is not a domino game: try {GAMES[0]}")
    if arguments.plot and not find_spec("matplotlib"):
        options.error("--plot needs matplotlib: install the extra arena")

    def progress(updates, start):
        """Return the share of the training that is done."""
        if arguments.updates:
            return updates / arguments.updates
        return (time.process_time() - start) / arguments.seconds

    network, curve = train(arguments.game, arguments.seed, progress)
    lowest = compare(network, arguments.game, arguments.deals, arguments.seed + 10**6)
    if arguments.plot:
        from matplotlib import pyplot as plot

        plot.plot(*zip(*curve, strict=True))
        for name, mean in lowest.items():
            plot.axhline(mean, linestyle=":", color="grey")
            plot.text(curve[-1][0], mean, name, ha="right", va="bottom")
        plot.xlabel("seconds")
        plot.ylabel("mean lowest track")
        plot.savefig(arguments.plot)
    if arguments.json:
        result = {
            "game": arguments.game,
            "seed": arguments.seed,
            "updates": len(curve),
            "deals": arguments.deals,
        }
        print(json.dumps({**result, "lowest": lowest, "curve": curve}))
    else:
        for name, mean in lowest.items():
            print(f"{name:8} {mean:6.2f}")


if __name__ == "__main__":
    main()
