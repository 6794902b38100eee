"""`train`: learn a game by playing it, for the players that judge positions."""

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
from ...players.training.train import Plan, Round, train
from ..terminal.options import FILE, PLAYER_COUNT, Integer
from ..terminal.progress import progress

USUAL = Plan()
HEAD = "round  loss   against greed  against the round before"


@click.command("train")
@click.argument("game")
@click.option("--players", type=PLAYER_COUNT, default=2, show_default=True)
@click.option("--rounds", type=Integer(1, 10_000), default=USUAL.rounds, show_default=True)
@click.option("--games", type=Integer(1, 100_000), default=USUAL.games, show_default=True, help="A round.")
@click.option("--seed", type=Integer(0, 1_000_000_000), default=USUAL.seed, show_default=True)
@click.option("--resume", is_flag=True, help="Go on from what the file has, instead of from nothing.")
@click.option("--quick", is_flag=True, help="Little of everything: to see that it works.")
@click.option("--out", type=FILE, metavar="FILE", help="Write it there.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON a round.")
def command(
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
    """Learn GAME for a number of players from nothing, by playing it.

    What has been learned is written to FILE, by default to the one in the game's folder that all players
    read, after every round. The same seed learns the same on the same kind of processor.
    """
    variant = find_variant(game, players)
    plan = Plan(rounds=rounds, games=games, seed=seed)
    if quick:
        plan = replace(plan, games=min(games, 40), generations=1, param_games=10, proof_games=20)
    path = Path(out) if out else weights_file(variant)
    check_writable(path, "what has been learned", only_files=True)
    kept = (
        read_weights(variant, path) if path.exists() else None
    )  # also to learn that it is ours, before it is written to
    begun = time.monotonic()
    if not as_json:
        click.echo(HEAD)
    bars = _Bars(f"{variant.game.id}, {players} players")
    try:
        for done in train(variant, plan, bars.advance, kept if resume else None):
            bars.close()
            write_weights(variant, done.weights, path)
            click.echo(_line(done, time.monotonic() - begun, as_json))
    finally:
        bars.close()
    if not as_json:
        click.echo(f"written to {path}")


def _line(done: Round, seconds: float, as_json: bool) -> str:
    if as_json:
        facts = {
            "round": done.number,
            "loss": round(done.loss, 4),
            "against_greed": round(done.against_greed, 4),
            "against_last": round(done.against_last, 4),
            "seconds": round(seconds, 1),
            "version": __version__,
        }
        return json.dumps(facts)
    return f"{done.number:5}  {done.loss:.3f}  {done.against_greed:13.1%}  {done.against_last:24.1%}"


class _Bars:
    """A bar for each part of the work, one after the other."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._part = ""
        self._done = 0
        self._bar: Any = None
        self._step: Any = None

    def advance(self, part: str, done: int, of: int) -> None:
        if part != self._part:
            self.close()
            self._part, self._done = part, 0
            self._bar = progress(f"{self._what}: {part}", of)
            self._step = self._bar.__enter__()
        self._step(done - self._done)
        self._done = done

    def close(self) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar, self._part = None, ""
