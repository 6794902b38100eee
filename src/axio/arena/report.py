"""What an arena leaves in its folder: `summary.json`, plots as PNG, and `report.html`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..drawing.theme import DARK, LIGHT
from ..errors import BadFile
from ..writing import write_whole
from .meetings import meetings
from .page import page
from .plots import Plots, drawn
from .provenance import Provenance, provenance
from .results import read
from .summary import Summary, counted, summarise

PAGE = "report.html"
FIGURES = "summary.json"


class Report(msgspec.Struct, frozen=True):
    """What `summary.json` holds."""

    made: Provenance
    summary: Summary


def make_report(folder: Path) -> Summary:
    """Make the report of the games that a folder holds. Raises `BadFile`, or `NotInstalled` without plots."""
    settings, played = read(folder)
    summary = summarise(settings, played)
    if not summary.games:
        raise BadFile(f"{folder}: nothing to report yet: no table has been played to the end")
    tables, _ = counted(settings, played)
    met = meetings(settings, tables)
    by_day, by_night = Plots(summary, met, LIGHT), Plots(summary, met, DARK)
    light = {name: drawn(plot(), "svg") for name, plot in by_day.all().items()}
    dark = {name: drawn(plot(), "svg") for name, plot in by_night.all().items()}
    made = provenance(summary)
    for name, plot in by_day.all().items():
        write_whole(folder / f"{name}.png", drawn(plot(), "png"))
    write_whole(folder / PAGE, page(summary, made, light, dark).encode())
    figures = msgspec.json.format(msgspec.json.encode(Report(made, summary)), indent=1)
    write_whole(folder / FIGURES, figures + b"\n")
    return summary
