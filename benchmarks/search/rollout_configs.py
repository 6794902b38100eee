"""`python -m benchmarks.search.rollout_configs GAME`: compare rollout configurations on shared deals.

With one player, all configurations play the same deals. With more, each plays against the default
configuration, in every seat of each deal, or all play against the player given by `--against`. `--write`
stores the best one with the game's weights if it is better by two standard errors of the difference.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from statistics import mean, stdev
from typing import NamedTuple

import click

from axiogames.analysis.provenance import describe_machine
from axiogames.cli.terminal.progress import progress
from axiogames.games import find_variant
from axiogames.games.runtime import loops
from axiogames.model.table import Table
from axiogames.model.view import View
from axiogames.parallel import map_unordered
from axiogames.players import PLAYERS, Budget, Choice, Player, player
from axiogames.players.evaluation import rollout_loops
from axiogames.players.evaluation.weights import weights_file
from axiogames.players.match import play_match
from axiogames.players.search.analysis import FULL_SECONDS, analyse
from axiogames.players.search.rollouts import (
    DEFAULT_CONFIGS,
    FAST,
    FAST_CONFIG,
    FULL,
    FULL_CONFIG,
    NEVER,
    TO_THE_END,
    RolloutConfig,
    write_config,
)
from axiogames.rng import Generator

SEED = "manners"
CLEARLY = 2.0  # errors of a difference
TRIED = {
    "usual": None,
    "quick": FAST_CONFIG,
    "quick, 16 turns": replace(FAST_CONFIG, turns=16),
    "quick, to the end": replace(FAST_CONFIG, turns=TO_THE_END, search_after=NEVER),
    "thorough": FULL_CONFIG,
    "thorough, 8 turns": replace(FULL_CONFIG, turns=8),
    "thorough, to the end": replace(FULL_CONFIG, turns=TO_THE_END),
    "thorough, in good faith": replace(FULL_CONFIG, prior_weight=10 * FULL_CONFIG.prior_weight),
}


@dataclass(frozen=True)
class ConfiguredSim:
    """`sim` with a given rollout configuration."""

    name: str
    config: RolloutConfig

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the best move."""
        found = analyse(view, seed=rng.bits(), seconds=budget.seconds, config=self.config)
        return Choice(found.best.move, ())


@dataclass(frozen=True)
class Trial:
    """A deal in which one seat uses a configuration; the others use the default one or are another player."""

    game: str
    players: int
    name: str
    deal: int
    seat: int
    seconds: float
    against: str | None = None


def pace(seconds: float) -> str:
    """Return the configuration that `sim` uses for a thinking time."""
    return FAST if seconds < FULL_SECONDS else FULL


class Outcome(NamedTuple):
    """Result of a trial."""

    worth: float
    margin: float  # over the others, in points


def played(trial: Trial) -> Outcome:
    """Play a trial."""
    usual = DEFAULT_CONFIGS[pace(trial.seconds)]
    mine = ConfiguredSim(trial.name, TRIED[trial.name] or usual)
    theirs: Player = player(trial.against) if trial.against else ConfiguredSim("usual", usual)
    seats = [mine if seat == trial.seat else theirs for seat in range(trial.players)]
    table = play_match(trial.game, seats, f"{SEED}/{trial.deal}", budget=Budget(trial.seconds))
    return Outcome(worth(table, trial.seat), margin(table, trial.seat))


def worth(table: Table, seat: int) -> float:
    """Value of a finished game: alone the lowest track, else the share of opponents that are beaten."""
    if table.players == 1:
        return min(table.scores[seat].values())
    mine = table.ranks[seat]
    others = [place for other, place in enumerate(table.ranks) if other != seat]
    return mean((place > mine) + (place == mine) / 2 for place in others)


def margin(table: Table, seat: int) -> float:
    """Mean lead of the lowest track over those of the opponents. It varies less than places do."""
    lowest = [min(scores.values()) for scores in table.scores]
    others = [mark for other, mark in enumerate(lowest) if other != seat]
    return lowest[seat] - (mean(others) if others else 0)


@click.command()
@click.argument("game")
@click.option("--players", type=click.IntRange(1, 4), default=1, show_default=True)
@click.option("--deals", type=click.IntRange(min=2), default=16, show_default=True)
@click.option("--seconds", type=click.FloatRange(min=0.01), default=1.0, show_default=True, help="A move.")
@click.option(
    "--only", multiple=True, type=click.Choice(list(TRIED)[1:]), help="Only these, and the usual one."
)
@click.option(
    "--against",
    type=click.Choice(list(PLAYERS)),
    help="Opponents. Default: `sim` as it is.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True)
@click.option("--write", is_flag=True, help="Store a better configuration with the game's weights.")
@click.option("--json", "as_json", is_flag=True)
def main(
    game: str,
    players: int,
    deals: int,
    seconds: float,
    only: tuple[str, ...],
    against: str | None,
    jobs: int,
    write: bool,
    as_json: bool,
) -> None:
    """Compare rollout configurations of GAME on shared deals."""
    variant = find_variant(game, players)
    names = [
        "usual",
        *(only or [name for name in TRIED if TRIED[name] not in (None, DEFAULT_CONFIGS[pace(seconds)])]),
    ]
    against_itself = Outcome(0.5, 0.0) if players > 1 and not against else None
    trials = [
        Trial(game, players, name, deal, seat, seconds, against)
        for deal in range(deals)
        for seat in range(players)
        for name in names
        if name != "usual" or against_itself is None
    ]
    variant.kernels.compile((*loops.LOOPS, *rollout_loops.LOOPS))
    results: dict[Trial, Outcome] = {}
    with progress("games", len(trials)) as advance:
        for trial, result in map_unordered(_tried, trials, jobs):
            results[trial] = result
            advance(1)

    def by_deal(name: str, what: Callable[[Outcome], float]) -> list[float]:
        if name == "usual" and against_itself is not None:
            return [what(against_itself)] * deals
        return [
            mean(
                what(results[Trial(game, players, name, deal, seat, seconds, against)])
                for seat in range(players)
            )
            for deal in range(deals)
        ]

    best, lead = "usual", 0.0
    usual = by_deal("usual", lambda outcome: outcome.worth)
    report = {}
    for name in names:
        values = by_deal(name, lambda outcome: outcome.worth)
        more = [mine - other for mine, other in zip(values, usual, strict=True)]
        error = stdev(more) / math.sqrt(deals)
        margins = by_deal(name, lambda outcome: outcome.margin)
        points, spread_of_points = mean(margins), stdev(margins) / math.sqrt(deals)
        report[name] = {
            "result": mean(values),
            "more": mean(more),
            "error": error,
            "margin": points,
            "error of margin": spread_of_points,
        }
        if mean(more) > max(lead, CLEARLY * error):
            best, lead = name, mean(more)
        if not as_json:
            figures = f"{mean(values):.4f}  {mean(more):+.4f} ± {error:.4f}"
            click.echo(f"{name:24} {figures}  points ahead {points:+.2f} ± {spread_of_points:.2f}")
    chosen = TRIED[best]
    if as_json:
        facts = {"game": game, "players": players, "seconds": seconds, "deals": deals}
        facts |= {"against": against or "usual", "machine": describe_machine()}
        click.echo(json.dumps(facts | {"found": report, "best": best}))
    else:
        click.echo(f"best: {best}" + (f", {asdict(chosen)}" if chosen else ""))
    if write and chosen:
        write_config(variant, pace(seconds), chosen, weights_file(variant))


def _tried(trial: Trial) -> tuple[Trial, Outcome]:
    return trial, played(trial)


if __name__ == "__main__":
    main()
