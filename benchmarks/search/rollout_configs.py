"""`python -m benchmarks.search.rollout_configs GAME`: compare rollout configurations on shared deals.

With one player, all configurations play the same deals. With more players, each configuration plays in every
seat of each deal against the default configuration, or against the player `--against`. `--write` stores the
best configuration with the game's weights if it is better by two standard errors of the difference.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
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
from axiogames.players.search import search_loops
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

SEED = "manners"  # of the deals; the figures in docs/explanation/players.md depend on it
SIGNIFICANCE = 2.0  # standard errors
DEFAULT = "default"
CONFIGS = {
    DEFAULT: None,
    "fast": FAST_CONFIG,
    "fast, 16 turns": replace(FAST_CONFIG, turns=16),
    "fast, to the end": replace(FAST_CONFIG, turns=TO_THE_END, search_after=NEVER),
    "full": FULL_CONFIG,
    "full, 8 turns": replace(FULL_CONFIG, turns=8),
    "full, to the end": replace(FULL_CONFIG, turns=TO_THE_END),
    "full, prior weight x10": replace(FULL_CONFIG, prior_weight=10 * FULL_CONFIG.prior_weight),
}


Figures = dict[str, float]  # by name, as in the JSON output


@dataclass(frozen=True)
class ConfiguredSim:
    """`sim` with a fixed rollout configuration."""

    name: str
    config: RolloutConfig

    def choose(self, view: View, budget: Budget, rng: Generator) -> Choice:
        """Return the best move."""
        found = analyse(view, seed=rng.bits(), seconds=budget.seconds, config=self.config)
        return Choice(found.best.move, ())


@dataclass(frozen=True)
class Trial:
    """A deal on which one seat uses a configuration, and all others the default one or another player."""

    game: str
    players: int
    name: str
    deal: int
    seat: int
    seconds: float
    against: str | None = None


def pace(seconds: float) -> str:
    """Return the name of the configuration that `sim` uses for a time limit."""
    return FAST if seconds < FULL_SECONDS else FULL


class Outcome(NamedTuple):
    """Result of a trial."""

    value: float
    margin: float  # lead over the opponents, in points


def play_trial(trial: Trial) -> Outcome:
    """Play a trial."""
    default = DEFAULT_CONFIGS[pace(trial.seconds)]
    configured = ConfiguredSim(trial.name, CONFIGS[trial.name] or default)
    opponent: Player = player(trial.against) if trial.against else ConfiguredSim(DEFAULT, default)
    seats = [configured if seat == trial.seat else opponent for seat in range(trial.players)]
    table = play_match(trial.game, seats, f"{SEED}/{trial.deal}", budget=Budget(trial.seconds))
    return Outcome(result_value(table, trial.seat), margin(table, trial.seat))


def result_value(table: Table, seat: int) -> float:
    """Return the lowest track in one-player games, otherwise the share of opponents ranked lower."""
    if table.players == 1:
        return min(table.scores[seat].values())
    own = table.ranks[seat]
    opponents = [rank for opponent, rank in enumerate(table.ranks) if opponent != seat]
    return mean((rank > own) + (rank == own) / 2 for rank in opponents)


def margin(table: Table, seat: int) -> float:
    """Return the lowest track minus the mean of those of the opponents, which varies less than ranks."""
    lowest = [min(scores.values()) for scores in table.scores]
    opponents = [points for opponent, points in enumerate(lowest) if opponent != seat]
    return lowest[seat] - (mean(opponents) if opponents else 0)


@click.command()
@click.argument("game")
@click.option("--players", type=click.IntRange(1, 4), default=1, show_default=True)
@click.option("--deals", type=click.IntRange(min=2), default=16, show_default=True)
@click.option(
    "--seconds", type=click.FloatRange(min=0.01), default=1.0, show_default=True, help="Time per move."
)
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(CONFIGS)[1:]),
    help="Compare only this configuration with the default one; may be repeated.",
)
@click.option(
    "--against",
    type=click.Choice(list(PLAYERS)),
    help="Opponent.  [default: `sim` in its default configuration]",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True)
@click.option("--write", is_flag=True, help="Store a better configuration with the game's weights.")
@click.option("--json", "as_json", is_flag=True)
def main(
    *,
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
    default_config = DEFAULT_CONFIGS[pace(seconds)]
    names = [DEFAULT, *(only or [name for name in CONFIGS if CONFIGS[name] not in (None, default_config)])]
    against_itself = players > 1 and not against  # the default is its own opponent: the result is known
    trials = [
        Trial(game, players, name, deal, seat, seconds, against)
        for deal in range(deals)
        for seat in range(players)
        for name in names
        if name != DEFAULT or not against_itself
    ]
    variant.kernels.compile((*loops.LOOPS, *rollout_loops.LOOPS, *search_loops.LOOPS))
    results = _play_all(trials, jobs)
    outcomes = {name: mean_by_deal(results, name) for name in names}
    if against_itself:
        outcomes[DEFAULT] = [Outcome(0.5, 0.0)] * deals
    report = compare(outcomes)
    best = best_config(report)
    chosen = CONFIGS[best]
    if as_json:
        settings = {"game": game, "players": players, "seconds": seconds, "deals": deals}
        settings |= {"against": against or DEFAULT, "machine": describe_machine()}
        click.echo(json.dumps(settings | {"found": report, "best": best}))
    else:
        for name, figures in report.items():
            click.echo(f"{name:24} {_format_figures(figures)}")
        click.echo(f"best: {best}" + (f", {asdict(chosen)}" if chosen else ""))
    if write and chosen:
        write_config(variant, pace(seconds), chosen, weights_file(variant))


def mean_by_deal(results: Mapping[Trial, Outcome], name: str) -> list[Outcome]:
    """Return the mean outcome of a configuration over all seats, for each deal."""
    by_deal: dict[int, list[Outcome]] = defaultdict(list)
    for trial, outcome in results.items():
        if trial.name == name:
            by_deal[trial.deal].append(outcome)
    return [
        Outcome(
            mean(outcome.value for outcome in by_deal[deal]),
            mean(outcome.margin for outcome in by_deal[deal]),
        )
        for deal in sorted(by_deal)
    ]


def compare(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Figures]:
    """Return the figures of each configuration, with its difference from the default on the same deals."""
    report = {}
    for name, by_deal in outcomes.items():
        values, margins = zip(*by_deal, strict=True)
        differences = [
            outcome.value - default.value for outcome, default in zip(by_deal, outcomes[DEFAULT], strict=True)
        ]
        report[name] = {
            "result": mean(values),
            "difference": mean(differences),
            "error": stdev(differences) / math.sqrt(len(by_deal)),
            "margin": mean(margins),
            "error of margin": stdev(margins) / math.sqrt(len(by_deal)),
        }
    return report


def best_config(report: Mapping[str, Figures]) -> str:
    """Return the configuration with the largest significant advantage over the default, or the default."""
    best, advantage = DEFAULT, 0.0
    for name, figures in report.items():
        if figures["difference"] > max(advantage, SIGNIFICANCE * figures["error"]):
            best, advantage = name, figures["difference"]
    return best


def _format_figures(figures: Figures) -> str:
    difference = f"{figures['difference']:+.4f} ± {figures['error']:.4f}"
    margin_text = f"{figures['margin']:+.2f} ± {figures['error of margin']:.2f}"
    return f"{figures['result']:.4f}  {difference}  margin {margin_text} points"


def _play_all(trials: Sequence[Trial], jobs: int) -> dict[Trial, Outcome]:
    results: dict[Trial, Outcome] = {}
    with progress("games", len(trials)) as advance:
        for trial, outcome in map_unordered(_play_labelled, trials, jobs):
            results[trial] = outcome
            advance(1)
    return results


def _play_labelled(trial: Trial) -> tuple[Trial, Outcome]:
    return trial, play_trial(trial)


if __name__ == "__main__":
    main()
