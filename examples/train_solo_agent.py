"""An agent that learns in a minute on one core to play a game of dominoes alone, with nothing but NumPy.

Deep Q-learning in the manner of PQN (Gallici and others, 2024): many games at once instead of a memory of old
moves, λ-returns instead of a second network. A small network says what any legal move will still bring. It
sees the board from the move's two cells, in the colours of the tile in hand, so that what it learns about one
place and colour holds for all. It is told observations, masks, points scored, and which cells make a slot.
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

GAMES_AT_ONCE, MOVES, TIMES, PART = 64, 40, 4, 256  # an update: 40 moves in 64 games, learned four times
NEAR, ALONG = 2, 4  # how far a move looks: all cells near its own, and along the lines that leave them
HIDDEN = (64, 32)
TRACE, RATE, CHANCE = 0.95, 0.002, 0.02  # λ, the rate of learning, how often any legal move is tried


def worth(points):
    """What points are worth, in tens: nearly the lowest, but smooth, so that every point counts a bit."""
    return -0.5 * np.log(np.exp(-points / 5).mean(axis=1))


class Sight:
    """Turns what is observed into the inputs of a network, a row for each legal move."""

    def __init__(self, batch):
        seen, slots, letters = batch.observation, batch.variant.slots, batch.variant.colours
        at = [np.array(divmod(int(place), seen.board.shape[2])) for place in seen.board.places]
        number = {tuple(spot): cell for cell, spot in enumerate(at)}
        self.colours, self.places, self.outside = len(letters), seen.board.places, len(at)
        self.points, self.hand = seen.where("seat0.points."), seen.where("hand.")
        self.tiles = np.array([[letters.index(letter) for letter in kind] for kind in batch.variant.kinds])
        # The ways from a cell to the next ones, all round. Walks count them from the way to the other half.
        ways = {tuple(sign * (at[b] - at[a])) for a, b in slots for sign in (1, -1)}
        ways = [np.array(way) for way in sorted(ways, key=lambda way: np.arctan2(*way))]
        self.walks = self._walks(ways)
        # The cells around each slot, as seen from either of its ends, and in a mirror.
        self.around = np.zeros((len(slots), 2, 2, len(self.walks)), np.int64)
        for slot, (a, b) in enumerate(slots):
            for end, (one, other) in enumerate(((a, b), (b, a))):
                ahead = [tuple(way) for way in ways].index(tuple(at[other] - at[one]))
                for mirror, turn in enumerate((1, -1)):
                    for walk, steps in enumerate(self.walks):
                        spot = at[one] + sum(ways[(ahead + turn * step) % len(ways)] for step in steps)
                        self.around[slot, end, mirror, walk] = number.get(tuple(spot), self.outside)

    def _walks(self, ways):
        """Walks from the first half to all cells that are looked at."""
        found = {(0, 0): (), tuple(ways[0]): (0,)}
        for _ in range(NEAR):
            for spot, walk in list(found.items()):
                for step, way in enumerate(ways):
                    found.setdefault(tuple(spot + way), (*walk, step))
        for half, spot in ((), np.zeros(2, int)), ((0,), ways[0]):
            for step, way in enumerate(ways):
                for far in range(1, ALONG + 1):
                    found.setdefault(tuple(spot + far * way), (*half, *(step,) * far))
        return list(found.values())[2:]  # without the slot itself

    def look(self, batch, rng):
        """For all legal moves of all games: the game, the number, the inputs; and the points of each game."""
        seen, games = batch.observe(), np.arange(batch.games)
        points = seen.vector[:, self.points].astype(np.float32)
        least = points.min(axis=1, keepdims=True)
        tile = self.tiles[seen.vector[:, self.hand].argmax(axis=1)]
        both = np.take_along_axis(points, tile, axis=1)
        low, high = np.where(both[:, :1] > both[:, 1:], tile[:, ::-1], tile).T  # fewer points come first
        # What there is on each cell; a cell with nothing but zeros can never be used.
        board = seen.board.reshape(batch.games, len(seen.board[0]), -1)[:, :, self.places]
        symbols, empty = board[:, : self.colours], board[:, self.colours]
        needed = np.einsum("gcn,gc->gn", symbols, np.exp((least - points) / 4))
        cells = np.zeros((batch.games, self.outside + 1, 5), np.float32)
        kinds = (symbols[games, low], symbols[games, high], symbols.any(axis=1), empty, needed)
        cells[:, :-1] = np.stack(kinds, axis=2)
        # What holds for all moves of a game.
        shown = np.hstack([np.sort(both, axis=1), np.sort(points, axis=1)])
        left = empty.mean(axis=1, keepdims=True)
        state = [shown / 18, (shown - least) / 6, np.maximum(18 - shown, 0) / 18]  # a score board ends at 18
        state = np.hstack([*state, left, left**2, (low == high)[:, None]]).astype(np.float32)
        # What each move sees around it.
        game, number = np.nonzero(batch.masks().view(bool))
        slot, first = number // self.colours**2, number // self.colours % self.colours
        end = (first != low[game]).astype(np.int64)
        around = self.around[slot, end, rng.integers(2, size=len(game))]
        near = cells.reshape(-1, 5).take(around + game[:, None] * (self.outside + 1), axis=0)
        return game, number, np.hstack([near.reshape(len(game), -1), state[game]]), points


class Network:
    """Layers of weights, and Adam to learn them."""

    def __init__(self, sizes, rng):
        pairs = list(pairwise(sizes))
        self.weights = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in pairs]
        self.weights[-1] *= 0.1
        self.biases = [np.zeros(b, np.float32) for _, b in pairs]
        self.means = [np.zeros_like(one) for one in self.weights + self.biases]
        self.squares = [np.zeros_like(one) for one in self.weights + self.biases]
        self.learned = 0

    def layers(self, inputs):
        """What comes out of each layer, from the inputs on."""
        layers = [inputs]
        for weights, bias in zip(self.weights, self.biases, strict=True):
            layers.append(layers[-1] @ weights)
            layers[-1] += bias
            if len(layers) <= len(HIDDEN) + 1:
                np.maximum(layers[-1], 0, out=layers[-1])
        return layers

    def __call__(self, inputs):
        """What each move will still bring."""
        return self.layers(inputs)[-1][:, 0]

    def learn(self, inputs, targets, rate):
        """Go a step towards the targets."""
        *layers, guess = self.layers(inputs)
        back = np.clip(guess - targets[:, None], -1, 1) / len(targets)
        slopes = []
        for layer, weights in zip(layers[::-1], self.weights[::-1], strict=True):
            slopes.append((layer.T @ back, back.sum(axis=0)))
            back = (back @ weights.T) * (layer > 0)
        self.learned += 1
        slopes = [slope for slope, _ in slopes[::-1]] + [slope for _, slope in slopes[::-1]]
        values = self.weights + self.biases
        for value, slope, mean, square in zip(values, slopes, self.means, self.squares, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            spread = np.sqrt(square / (1 - 0.999**self.learned)) + 1e-6
            value -= rate * mean / (1 - 0.9**self.learned) / spread


def best(worths, game):
    """In each game the place of its best move among all moves, and what that is worth."""
    starts = np.flatnonzero(np.diff(game, prepend=-1))
    most = np.maximum.reduceat(worths, starts)
    places = np.flatnonzero(worths == most[game])
    return places[np.unique(game[places], return_index=True)[1]], most


def update(batch, sight, network, rng, rest):
    """Play on in all games, then learn from it; the lowest points of the games that ended."""
    inputs, rewards, ended, worths, lowest = [], [], [], [], []
    for _ in range(MOVES):
        game, number, rows, points = sight.look(batch, rng)
        picks, most = best(network(rows), game)
        anything = np.flatnonzero(rng.random(batch.games) < CHANCE * rest)
        picks[anything] = [rng.choice(np.flatnonzero(game == one)) for one in anything]
        step = batch.step(number[picks])
        inputs.append(rows[picks])
        worths.append(most)
        rewards.append(worth(points + step.gains) - worth(points))
        ended.append(step.ended.copy())
        lowest += batch.finals[step.ended, 0].min(axis=1).tolist()
    game, _, rows, _ = sight.look(batch, rng)
    target = following = best(network(rows), game)[1]
    targets = []
    for reward, over, most in zip(rewards[::-1], ended[::-1], worths[::-1], strict=True):
        target = reward + np.where(over, 0, TRACE * target + (1 - TRACE) * following)
        following = most
        targets.append(target)
    inputs, targets = np.concatenate(inputs), np.concatenate(targets[::-1]).astype(np.float32)
    for _ in range(TIMES):
        for part in rng.permutation(len(inputs)).reshape(-1, PART):
            network.learn(inputs[part], targets[part], RATE * rest)
    return lowest


def play(choose, game, deals, seed):
    """The mean lowest points of whole games; the same deals for whoever chooses."""
    batch = Batch(game, players=1, games=deals, seed=seed)
    lowest = np.full(deals, -1)
    while (lowest < 0).any():  # games that have ended start anew; only the first one in each place counts
        ended = batch.step(choose(batch)).ended & (lowest < 0)
        lowest[ended] = batch.finals[ended, 0].min(axis=1)
    return float(lowest.mean())


def rival(choose, dice):
    """A player of the batch with dice of its own, so that what the games draw stays the same."""

    def chosen(batch):
        batch.rngs, drawn = dice, batch.rngs
        numbers = choose(batch)
        batch.rngs = drawn
        return numbers

    return chosen


def compare(network, game, deals, seed):
    """What the network, greedy and random moves get from the same deals."""
    sight, rng = Sight(Batch(game, players=1, games=1)), np.random.default_rng(seed)
    dice = Batch(game, players=1, games=deals, seed=seed + 1).rngs

    def learned(batch):
        which, number, rows, _ = sight.look(batch, rng)
        return number[best(network(rows), which)[0]]

    players = {"learned": learned, "greedy": rival(Batch.greedy, dice), "random": rival(Batch.sample, dice)}
    return {name: play(choose, game, deals, seed) for name, choose in players.items()}


def train(game, seed, share):
    """Learn until the share that is done is 1; the network, and how it went."""
    rng = np.random.default_rng(seed)
    batch = Batch(game, players=1, games=GAMES_AT_ONCE, seed=seed)
    sight, began = Sight(batch), time.process_time()
    network = Network((sight.look(batch, rng)[2].shape[1], *HIDDEN, 1), rng)
    curve, lowest = [], []
    while (done := share(len(curve), began)) < 1:
        lowest = [*lowest, *update(batch, sight, network, rng, 1 - done)][-200:]
        seconds, mean = time.process_time() - began, float(np.mean(lowest)) if lowest else 0.0
        curve.append((round(seconds, 2), round(mean, 2)))
        if int(10 * share(len(curve), began)) > int(10 * done):
            print(f"{seconds:6.1f} s  {len(curve):4} updates  lowest {mean:5.2f}", file=sys.stderr)
    return network, curve


def main():
    """Learn, then play beside others."""
    options = argparse.ArgumentParser(description=__doc__.split(".")[0])
    options.add_argument("--game", default=GAMES[0], choices=GAMES)
    options.add_argument("--seconds", type=float, default=60, help="of the processor, to learn in")
    options.add_argument("--updates", type=int, help="instead of seconds: the same result for the same seed")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--deals", type=int, default=200, help="to play afterwards")
    options.add_argument("--json", action="store_true", help="print the result as JSON")
    options.add_argument("--plot", metavar="FILE", help="draw the learning curve as .svg or .png")
    asked = options.parse_args()
    if min(asked.seconds, asked.deals, 1 if asked.updates is None else asked.updates) <= 0:
        options.error("--seconds, --updates and --deals should be more than 0")
    slots = getattr(find_variant(asked.game, players=1), "slots", None)
    if not slots or len(slots[0]) != 2:
        options.error(f"{asked.game} is not played with dominoes: try {GAMES[0]}")
    if asked.plot and not find_spec("matplotlib"):
        options.error("--plot needs matplotlib, which the extra arena brings")

    def share(updates, began):
        return updates / asked.updates if asked.updates else (time.process_time() - began) / asked.seconds

    network, curve = train(asked.game, asked.seed, share)
    lowest = compare(network, asked.game, asked.deals, asked.seed + 10**6)
    if asked.plot:
        from matplotlib import pyplot as plot

        plot.plot(*zip(*curve, strict=True))
        for name, mean in lowest.items():
            plot.axhline(mean, linestyle=":", color="grey")
            plot.text(curve[-1][0], mean, name, ha="right", va="bottom")
        plot.xlabel("seconds")
        plot.ylabel("mean of the lowest points")
        plot.savefig(asked.plot)
    if asked.json:
        told = {"game": asked.game, "seed": asked.seed, "updates": len(curve), "deals": asked.deals}
        print(json.dumps({**told, "lowest": lowest, "curve": curve}))
    else:
        for name, mean in lowest.items():
            print(f"{name:8} {mean:6.2f}")


if __name__ == "__main__":
    main()
