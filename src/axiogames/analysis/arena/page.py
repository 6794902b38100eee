"""The report of an arena: an HTML page, plots, and the summary as JSON."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ... import PROGRAM
from ...drawing.theme import DARK, LIGHT, properties
from ...errors import InvalidFile
from ...files import write_atomic
from ...games import game
from ..html import Markup, colour_schemes, document, tag
from ..provenance import Provenance
from .plots import Plots, render_figure
from .report import ReportTable, report_sentences, report_tables, run_sentence, verdict
from .results import read_results
from .schedule import ArenaSettings, Schedule
from .statistics import comparisons
from .summary import ArenaSummary, counted_rounds, summarise

REPORT_FILE = "report.html"
SUMMARY_FILE = "summary.json"

CAPTIONS = {
    "ratings": "Strength",
    "cross": "Pairwise results",
    "running": "Win rate by number of deals",
    "scores": "Points",
}

STYLE = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.05rem; margin: 0 0 .75rem; }
p { margin: .4rem 0; }
.muted { color: var(--muted); }
.lead { font-size: 1.15rem; margin: 1.25rem 0; }
section { background: var(--card); border: 1px solid var(--card-edge); border-radius: .75rem;
  padding: 1.1rem 1.25rem; margin: 1rem 0; overflow-x: auto; }
.plots { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
.plots section { margin: 0; }
img { display: block; width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: .35rem .6rem; text-align: right; border-bottom: 1px solid var(--card-edge); }
th { font-weight: 500; color: var(--muted); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td:first-child { font-weight: 600; }
tr:last-child td { border-bottom: 0; }
code { display: block; overflow-x: auto; padding: .6rem .8rem; border-radius: .5rem;
  background: var(--page); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: .75rem 0 0; }
dt { color: var(--muted); } dd { margin: 0; }
"""


class ArenaReport(msgspec.Struct, frozen=True):
    """Content of `summary.json`."""

    provenance: Provenance = msgspec.field(name="made")
    summary: ArenaSummary


def provenance_of(summary: ArenaSummary) -> Provenance:
    """Return the provenance of a summary that is computed now."""
    return Provenance.of(reproducing_command(summary.settings, summary.deals), summary.machines)


def reproducing_command(settings: ArenaSettings, deals: int) -> str:
    """Return the command that plays the same games again, with any number of jobs."""
    words = [PROGRAM, "arena", "run", settings.game, "--bots", ",".join(settings.bots)]
    words += ["--players", str(settings.players), "--seed", settings.seed]
    words += ["--games", str(Schedule(settings.bots, settings.players).games_in(deals))]
    for option in settings.options:
        words += ["--option", option]
    if settings.sprt:
        words += ["--sprt", str(settings.sprt)]
    return shlex.join(words)


def write_report(folder: Path) -> ArenaSummary:
    """Write the report on the games in a folder and return its summary.

    Raises:
        InvalidFile: the folder has no results, or no complete round.
        MissingDependency: matplotlib or openskill is not installed.
    """
    settings, played = read_results(folder)
    summary = summarise(settings, played)
    if not summary.games:
        raise InvalidFile(f"{folder}: nothing to report yet: no round is complete")
    rounds, _ = counted_rounds(settings, played)
    compared = comparisons(settings, rounds)
    light_plots, dark_plots = Plots(summary, compared, LIGHT), Plots(summary, compared, DARK)
    light = {name: render_figure(plot(), "svg") for name, plot in light_plots.available().items()}
    dark = {name: render_figure(plot(), "svg") for name, plot in dark_plots.available().items()}
    provenance = provenance_of(summary)
    for name, plot in light_plots.available().items():
        write_atomic(folder / f"{name}.png", render_figure(plot(), "png"))
    write_atomic(folder / REPORT_FILE, render_page(summary, provenance, light, dark).encode())
    figures = msgspec.json.format(msgspec.json.encode(ArenaReport(provenance, summary)), indent=1)
    write_atomic(folder / SUMMARY_FILE, figures + b"\n")
    return summary


def render_page(
    summary: ArenaSummary, provenance: Provenance, light: Mapping[str, bytes], dark: Mapping[str, bytes]
) -> str:
    """Return the report as one HTML page.

    Args:
        summary: the summary to show.
        provenance: its provenance.
        light: plots as SVG by name, for the light colour scheme.
        dark: the same plots for the dark colour scheme.
    """
    settings = summary.settings
    name = game(settings.game).name
    title = f"Arena: {name}, {settings.players} {'player' if settings.players == 1 else 'players'}"
    tables = report_tables(summary)
    sentences = [tag("p", sentence) for sentence in report_sentences(summary)]
    content = [
        tag("h1", title),
        tag("p", run_sentence(summary), class_="muted"),
        *([tag("p", verdict(summary), class_="lead")] if summary.bots else []),
        *map(_table, tables[:1]),
        tag("div", [_plot(plot, light[plot], dark[plot]) for plot in light], class_="plots"),
        *map(_table, tables[1:]),
        *([tag("section", tag("h2", "Luck and notes"), sentences)] if sentences else []),
        _provenance_section(summary, provenance),
    ]
    style = Markup(colour_schemes(properties(LIGHT), properties(DARK)) + STYLE)
    return document(title, style, content)


def _table(table: ReportTable) -> Markup:
    head = tag("tr", (tag("th", cell, scope="col") for cell in table.head))
    rows = (tag("tr", (tag("td", cell) for cell in row)) for row in table.rows)
    return tag("section", tag("h2", table.title), tag("table", tag("thead", head), tag("tbody", rows)))


def _plot(name: str, light: bytes, dark: bytes) -> Markup:
    light_url, dark_url = (
        f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}" for svg in (light, dark)
    )
    caption = CAPTIONS[name]
    picture = tag(
        "picture",
        tag("source", media="(prefers-color-scheme: dark)", srcset=dark_url),
        tag("img", src=light_url, alt=f"{caption} (the tables contain the figures)"),
    )
    return tag("section", tag("h2", caption), picture)


def _provenance_section(summary: ArenaSummary, provenance: Provenance) -> Markup:
    libraries = ", ".join(f"{library} {version}" for library, version in provenance.libraries.items())
    entries = {
        "seed": summary.settings.seed,
        "version": provenance.version,
        "machine": provenance.machine,
        "Python": f"{provenance.python}; {libraries}",
        "report created": provenance.created,
    }
    return tag(
        "section",
        tag("h2", "Reproduce these games"),
        tag("code", provenance.command),
        tag("p", "Deal d has the seed SEED/d. docs/guides/arena.md defines all figures.", class_="muted"),
        tag(
            "dl",
            (
                tag(kind, text)
                for entry in entries.items()
                for kind, text in zip(("dt", "dd"), entry, strict=True)
            ),
        ),
    )
