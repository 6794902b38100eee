"""What it takes to get the same figures again: the command, and what they were made with."""

from __future__ import annotations

import platform
import shlex
from datetime import UTC, datetime

from msgspec import Struct

from ... import PROGRAM, __version__
from ..platform_info import installed, machine
from .schedule import Schedule, Settings
from .summary import Summary

LIBRARIES = ("numpy", "numba", "joblib", "openskill", "matplotlib")


class Provenance(Struct, frozen=True):
    """Where figures come from."""

    command: str
    version: str
    machine: str
    python: str
    libraries: dict[str, str]
    made: str


def provenance(summary: Summary) -> Provenance:
    """The provenance of figures that are made now, of games that were played wherever they say."""
    return Provenance(
        command(summary.settings, summary.deals),
        __version__,
        "; ".join(summary.machines) or machine(),
        platform.python_version(),
        {library: installed(library) for library in LIBRARIES},
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def command(settings: Settings, deals: int) -> str:
    """The command that plays these games again; more jobs make it faster and change nothing else."""
    words = [PROGRAM, "arena", settings.game, "--bots", ",".join(settings.bots)]
    words += ["--players", str(settings.players), "--seed", settings.seed]
    words += ["--games", str(Schedule(settings.bots, settings.players).games_in(deals))]
    for option in settings.options:
        words += ["--option", option]
    if test := settings.sprt:
        words += ["--sprt", ",".join(f"{n:g}" for n in (test.elo0, test.elo1, test.alpha, test.beta))]
    return shlex.join(words)
