"""Measuring the rules: short rounds, the yardstick and the games in turn, medians of many rounds.

The yardstick runs right before each piece of work, so what else the machine does falls on both, and the
ratio stays true where the speeds do not.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import msgspec

from ...games import find_variant
from ...games.runtime.loops import greedy_playouts, random_playouts
from ...games.runtime.xorshift import seed_state
from ...model.table import new_game
from ..platform_info import installed, machine
from . import reference_game

Count = Callable[[], tuple[float, ...]]  # does some work and says how much of each kind it was
SLICE = 0.05  # seconds of a round


class Speed(msgspec.Struct, frozen=True):
    """What was measured of one thing: the median of its rounds and how far they lay apart."""

    name: str
    unit: str
    per_second: float
    spread: float  # half the distance between the quartiles, as a share of the median
    ratio: float  # to the yardstick's speed in the same round, the median of all rounds


class Circumstances(msgspec.Struct, frozen=True):
    """Where and how something was measured."""

    machine: str
    python: str
    numpy: str
    numba: str
    players: int
    seconds: float


def circumstances(players: int, seconds: float) -> dict[str, Any]:
    """Those of a measurement here and now."""
    here = Circumstances(
        machine(), platform.python_version(), installed("numpy"), installed("numba"), players, seconds
    )
    return msgspec.structs.asdict(here)


class Report(Circumstances, frozen=True, tag_field="suite", tag="rules"):
    """All that was measured of the rules in one run."""

    speeds: tuple[Speed, ...]
    compile_seconds: float
    state_bytes: dict[str, int]


def yardstick_work() -> Count:
    """Random games of the yardstick."""
    states = reference_game.new_states()
    seeds = iter(range(1, 1 << 62, 1000))
    reference_game.playouts(reference_game.BOARD, states, 1, 0)
    return lambda: (reference_game.playouts(reference_game.BOARD, states, 200, next(seeds)),)


def random_work(game: str, players: int) -> Count:
    """Random games, by the complete rules, in compiled code."""
    variant = find_variant(game, players)
    loop, states, rng = variant.kernels[random_playouts], variant.new_state(), seed_state(1)
    return lambda: (loop(variant.constants, variant.opening, states, rng, 100),)


def greedy_work(game: str, players: int) -> Count:
    """Games of most points now, in compiled code: moves made, and placements scored to find them."""
    variant = find_variant(game, players)
    loop, states, rng = variant.kernels[greedy_playouts], variant.new_state(), seed_state(1)
    return lambda: tuple(loop(variant.constants, variant.opening, states, rng, 20))


def python_work(game: str, players: int) -> Count:
    """Games driven from Python: list the legal moves and play one of them, until the end."""
    seeds = iter(range(1 << 62))

    def play() -> tuple[float, ...]:
        table = new_game(game, players, seed=next(seeds))
        while moves := table.legal_moves():
            table.play(moves[len(moves) // 2])
        return (table.plies,)

    return play


def works(games: Sequence[str], players: int) -> dict[tuple[tuple[str, str], ...], Count]:
    """Everything to be measured: the names and units of what it counts, and the work."""
    found: dict[tuple[tuple[str, str], ...], Count] = {}
    for game in games:
        found[((f"{game} random", "moves/s"),)] = random_work(game, players)
        found[((f"{game} greedy", "moves/s"), (f"{game} greedy", "placements scored/s"))] = greedy_work(
            game, players
        )
        found[((f"{game} from Python", "plies/s"),)] = python_work(game, players)
    return found


def run(games: Sequence[str], players: int, seconds: float, tick: Callable[[float], None]) -> Report:
    """Measure these games for about so many seconds each; `tick` hears how much of it all is done."""
    start = perf_counter()
    beside = yardstick_work()
    work = works(games, players)
    for do in work.values():
        do()
    compile_seconds = perf_counter() - start
    speeds = beside_the_yardstick(work, beside, seconds, tick)
    return Report(
        **circumstances(players, seconds),
        speeds=speeds,
        compile_seconds=compile_seconds,
        state_bytes={game: find_variant(game, players).opening.dtype.itemsize for game in games},
    )


def beside_the_yardstick(
    work: Mapping[tuple[tuple[str, str], ...], Count],
    beside: Count,
    seconds: float,
    tick: Callable[[float], None],
) -> tuple[Speed, ...]:
    """Measure each piece of work for about so many seconds, in rounds; the yardstick's speed comes first."""
    rounds: dict[tuple[str, str], list[tuple[float, float]]] = {name: [] for names in work for name in names}
    reference: list[tuple[float, float]] = []
    total = max(3, round(seconds / SLICE))
    for n in range(total):
        for names, do in work.items():
            # The yardstick comes right before each piece of work, so that both meet the same machine.
            (base,) = rates(beside, SLICE / 2)
            reference.append((base, 1.0))
            for name, rate in zip(names, rates(do, SLICE), strict=True):
                rounds[name].append((rate, rate / base))
        tick((n + 1) / total)
    speeds = [summary(("yardstick random", "moves/s"), reference)]
    speeds += [summary(name, values) for name, values in rounds.items()]
    return tuple(speeds)


def rates(do: Count, seconds: float) -> tuple[float, ...]:
    """What work does in a second, measured for about so many seconds."""
    start = perf_counter()
    done = do()
    while (elapsed := perf_counter() - start) < seconds:
        done = tuple(a + b for a, b in zip(done, do(), strict=True))
    return tuple(n / elapsed for n in done)


def summary(name: tuple[str, str], rounds: Sequence[tuple[float, float]]) -> Speed:
    """The medians of rounds of (rate, ratio)."""
    ordered = sorted(rate for rate, _ in rounds)
    middle = median(ordered)
    spread = (ordered[3 * len(ordered) // 4] - ordered[len(ordered) // 4]) / 2 / middle
    return Speed(*name, middle, spread, median(ratio for _, ratio in rounds))
