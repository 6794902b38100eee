"""`train`: train the evaluation of a game by self-play."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ... import __version__
from ...files import check_writable
from ...games import find_variant
from ...players.evaluation.weights import read_weights, weights_file, write_weights
from ...players.training.train import TrainingConfig, TrainingRound, train
from ..terminal.options import FILE, PLAYER_COUNT, Integer
from ..terminal.progress import progress

DEFAULTS = TrainingConfig()
HEAD = "round  loss   against greedy  against the last round"


@click.command("train")
@click.argument("game")
@click.option("--players", type=PLAYER_COUNT, default=2, show_default=True, help="Number of players.")
@click.option(
    "--rounds",
    type=Integer(1, 10_000),
    default=DEFAULTS.rounds,
    show_default=True,
    help="Rounds of self-play and fitting.",
)
@click.option(
    "--games",
    type=Integer(1, 100_000),
    default=DEFAULTS.games,
    show_default=True,
    help="Games per round.",
)
@click.option(
    "--seed", type=Integer(0, 1_000_000_000), default=DEFAULTS.seed, show_default=True, help="Random seed."
)
@click.option("--resume", is_flag=True, help="Start from the weights in FILE.")
@click.option("--quick", is_flag=True, help="Train for about a minute, as a check.")
@click.option(
    "--out", type=FILE, metavar="FILE", help="Write the weights to FILE.  [default: in the package]"
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON per round.")
def command(
    *,
    game: str,
    players: int,
    rounds: int,
    games: int,
    seed: int,
    resume: bool,
    quick: bool,
    out: str | None,
    as_json: bool,
) -> None:
    """Train the evaluation of GAME for a number of players by self-play.

    The weights are written after every round, by default to the file that all bots read. The same seed gives
    the same weights on the same kind of processor.
    """
    variant = find_variant(game, players)
    plan = TrainingConfig(rounds=rounds, games=games, seed=seed)
    if quick:
        plan = replace(plan, games=min(games, 40), generations=1, param_games=10, evaluation_games=20)
    path = Path(out) if out else weights_file(variant)
    check_writable(path, "the weights", only_files=True)
    # Read also without --resume, so that a file that does not contain weights is not overwritten.
    existing = read_weights(variant, path) if path.exists() else None
    start = time.monotonic()
    if not as_json:
        click.echo(HEAD)
    bars = _Bars(f"{variant.game.id}, {players} players")
    try:
        for done in train(variant, plan, bars.advance, existing if resume else None):
            bars.close()
            write_weights(variant, done.weights, path)
            click.echo(_line(done, time.monotonic() - start, as_json))
    finally:
        bars.close()
    if not as_json:
        click.echo(f"written to {path}")


def _line(done: TrainingRound, seconds: float, as_json: bool) -> str:
    if as_json:
        summary = {
            "round": done.number,
            "loss": round(done.loss, 4),
            "against_greed": round(done.against_greedy, 4),
            "against_last": round(done.against_last, 4),
            "seconds": round(seconds, 1),
            "version": __version__,
        }
        return json.dumps(summary)
    return f"{done.number:5}  {done.loss:.3f}  {done.against_greedy:14.1%}  {done.against_last:22.1%}"


class _Bars:
    """A progress bar for each part of the training, one at a time."""

    def __init__(self, description: str) -> None:
        self._description = description
        self._part = ""
        self._done = 0
        self._bar: Any = None
        self._step: Any = None

    def advance(self, part: str, done: int, total: int) -> None:
        if part != self._part:
            self.close()
            self._part, self._done = part, 0
            self._bar = progress(f"{self._description}: {part}", total)
            self._step = self._bar.__enter__()
        self._step(done - self._done)
        self._done = done

    def close(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar, self._part = None, ""
