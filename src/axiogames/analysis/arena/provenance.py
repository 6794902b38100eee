"""Provenance of an arena's figures: the command that reproduces them, versions and machine."""

from __future__ import annotations

import platform
import shlex
from datetime import UTC, datetime

from msgspec import Struct

from ... import PROGRAM, __version__
from ..platform_info import describe_machine, package_version
from .schedule import ArenaSettings, Schedule
from .summary import ArenaSummary

LIBRARIES = ("numpy", "numba", "openskill", "matplotlib")


class Provenance(Struct, frozen=True):
    """How, with what and on which machines figures were made."""

    command: str
    version: str
    machine: str
    python: str
    libraries: dict[str, str]
    made: str


def provenance(summary: ArenaSummary) -> Provenance:
    """Return the provenance of a summary that is computed now."""
    return Provenance(
        command(summary.settings, summary.deals),
        __version__,
        "; ".join(summary.machines) or describe_machine(),
        platform.python_version(),
        {library: package_version(library) for library in LIBRARIES},
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def command(settings: ArenaSettings, deals: int) -> str:
    """Return the command that plays the same games again, with any number of jobs."""
    words = [PROGRAM, "arena", "run", settings.game, "--bots", ",".join(settings.bots)]
    words += ["--players", str(settings.players), "--seed", settings.seed]
    words += ["--games", str(Schedule(settings.bots, settings.players).games_in(deals))]
    for option in settings.options:
        words += ["--option", option]
    if settings.sprt:
        words += ["--sprt", str(settings.sprt)]
    return shlex.join(words)
