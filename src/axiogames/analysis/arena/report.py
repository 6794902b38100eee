"""Figures as tables and sentences for people, the same in the terminal and on the page."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import msgspec

from ...drawing.theme import DARK, LIGHT, Theme
from ...errors import InvalidFile
from ...files import write_atomic
from ...games import game
from .plots import Plots, drawn
from .provenance import Provenance, provenance
from .results import read
from .schedule import line_ups
from .statistics import Estimate, meetings
from .summary import PairFigures, Summary, counted, summarise


@dataclass(frozen=True)
class Sheet:
    """A table: what it shows, its columns, and rows of cells. But for the first column, all are numbers."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def sheets(summary: Summary) -> list[Sheet]:
    """The tables of a summary, the strongest bot first."""
    if not summary.bots:
        return []
    compared = [_pairs(summary)] if summary.pairs else []
    if len(summary.bots) > 2:  # for two, the table of pairs says it all
        compared.append(_cross(summary))
    return [_standings(summary), _scores(summary), *compared, _times(summary)]


def _standings(summary: Summary) -> Sheet:
    wins = "best on a deal" if summary.settings.players == 1 else "wins"
    rows = []
    for bot in summary.ranking():
        skill = bot.openskill
        rows.append(
            (
                bot.bot,
                str(bot.games),
                percent(bot.win_rate),
                f"{bot.mean_place.value:.2f}",
                number(bot.elo, "+.0f"),
                f"{skill.mu:.1f} ± {2 * skill.sigma:.1f}" if skill else "",
            )
        )
    return Sheet("Standings", ("bot", "games", wins, "mean place", "Elo", "OpenSkill (2σ)"), rows)


def _scores(summary: Summary) -> Sheet:
    rows = []
    single = len(summary.bots[0].mean_vector) == 1
    for bot in summary.ranking():
        vector = () if single else ("  ".join(f"{points:.1f}" for points in bot.mean_vector),)
        rows.append((bot.bot, number(bot.mean_lowest, ".2f"), *vector))
    head = ("bot", "mean points") if single else ("bot", "mean lowest", "mean of each, lowest first")
    return Sheet("Points", head, rows)


def _pairs(summary: Summary) -> Sheet:
    rows = [
        (
            f"{pair.bots[0]} : {pair.bots[1]}",
            percent(pair.ahead),
            "–".join(map(str, pair.difference.level)),
            _difference(pair),
            _saved(pair),
        )
        for pair in summary.pairs
    ]
    more = "lowest, more by" if summary.settings.players == 1 else "victories, more by"
    head = ("two bots", "first ahead", "deals won–level–lost", more, "games saved")
    return Sheet("Two by two, on shared deals", head, rows)


def _cross(summary: Summary) -> Sheet:
    """How often the bot of a row was ahead of the bot of a column."""
    order = [bot.bot for bot in summary.ranking()]
    ahead = {pair.bots: pair.ahead.value for pair in summary.pairs}
    ahead |= {(other, one): 1 - rate for (one, other), rate in ahead.items()}
    rows = [(one, *(_whole_percent(ahead.get((one, other))) for other in order)) for one in order]
    return Sheet("Cross table: how often the row was ahead of the column", ("ahead of", *order), rows)


def _whole_percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _difference(pair: PairFigures) -> str:
    apart = pair.difference
    return number(Estimate(apart.value, apart.low, apart.high), "+.2f")


def _saved(pair: PairFigures) -> str:
    """What part of the games shared deals save, against a deal of its own for every game."""
    times = pair.difference.times_the_games
    return f"{100 * (1 - 1 / times):.0f} %" if times else ""


def _times(summary: Summary) -> Sheet:
    rows = [
        (bot.bot, str(bot.moves), seconds(bot.seconds_a_move), seconds(bot.slowest_move))
        for bot in summary.ranking()
    ]
    return Sheet("Time", ("bot", "moves", "a move", "slowest move"), rows)


def sentences(summary: Summary) -> list[str]:
    """What the tables do not say."""
    said = []
    if summary.seats:
        said.append(f"The first seat won {percent(summary.seats[0].win_rate)} of the games.")
    if share := summary.share_of_the_deal:
        said.append(f"The deal decided {percent(_not_negative(share))} of what skill does not explain.")
    if summary.sprt:
        said.append(sequential_sentence(summary))
    if summary.left_out:
        why = "their table is not whole, or the test had ended before"
        said.append(f"{_games(summary.left_out)} not counted: {why}.")
    return said


def _not_negative(share: Estimate) -> Estimate:
    """A share as people understand it; few deals can give less than 0 by chance."""
    low, high = (None if end is None else max(0.0, end) for end in (share.low, share.high))
    return Estimate(max(0.0, share.value), low, high)


def sequential_sentence(summary: Summary) -> str:
    """Where the sequential test stands."""
    standing, test = summary.sprt, summary.settings.sprt
    assert standing is not None, "asked for only where there is a test"
    assert test is not None, "asked for only where there is a test"
    bounds = f"bounds {standing.lower:.2f} and {standing.upper:.2f}"
    ratio = f"LLR {standing.llr:.2f} after {_count(standing.deals, 'deal')}, {bounds}"
    if standing.accepted is None:
        return f"Sequential test: undecided, {ratio}."
    rather = f"{test.elo0:g} Elo or less", f"{test.elo1:g} Elo or more"
    found, refused = rather[standing.accepted], rather[1 - standing.accepted]
    first = summary.settings.bots[0]
    return f"Sequential test: {first} is stronger by {found} rather than by {refused} ({ratio})."


def played(summary: Summary) -> str:
    """How much was played, in words."""
    settings = summary.settings
    who = _count(len(line_ups(settings.bots, settings.players)), "line-up")
    if settings.players == 1:
        who = f"{_count(len(settings.bots), 'bot')} alone"
    return f"{_games(summary.games)}: {who} on {_count(summary.deals, 'deal')}; intervals of 95 % over deals"


def _games(number: int) -> str:
    return _count(number, "game")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def percent(share: Estimate) -> str:
    """A share with its interval: `55.0 % (48.1–61.7)`.

    >>> percent(Estimate(0.55, 0.481, 0.617))
    '55.0 % (48.1–61.7)'
    """
    value = f"{100 * share.value:.1f} %"
    if share.low is None or share.high is None:
        return value
    return f"{value} ({100 * share.low:.1f}–{100 * share.high:.1f})"


def number(figure: Estimate, form: str) -> str:
    """A figure with its interval: `+12 (-3 to +28)`.

    >>> number(Estimate(12.0, -3.0, 28.0), "+.0f")
    '+12 (-3 to +28)'
    """
    value = format(figure.value, form)
    if figure.low is None or figure.high is None:
        return value
    return f"{value} ({figure.low:{form}} to {figure.high:{form}})"


def seconds(time: float) -> str:
    """A time in a unit that suits it.

    >>> seconds(0.00052), seconds(0.044), seconds(1.0312)
    ('0.52 ms', '44 ms', '1.03 s')
    """
    if time < 0.01:
        return f"{1000 * time:.2f} ms"
    return f"{1000 * time:.0f} ms" if time < 1 else f"{time:.2f} s"


CAPTIONS = {
    "ratings": "Strength",
    "cross": "Who was ahead of whom",
    "running": "The run of it",
    "scores": "Points",
}

STYLE = """
:root { color-scheme: light dark; %(light)s }
@media (prefers-color-scheme: dark) { :root { %(dark)s } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.05rem; margin: 0 0 .75rem; }
p { margin: .4rem 0; }
.muted { color: var(--muted); }
.lead { font-size: 1.15rem; margin: 1.25rem 0; }
section { background: var(--card); border: 1px solid var(--edge); border-radius: .75rem;
  padding: 1.1rem 1.25rem; margin: 1rem 0; overflow-x: auto; }
.plots { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%%, 26rem), 1fr)); }
.plots section { margin: 0; }
img { display: block; width: 100%%; height: auto; }
table { border-collapse: collapse; width: 100%%; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: .35rem .6rem; text-align: right; border-bottom: 1px solid var(--edge); }
th { font-weight: 500; color: var(--muted); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td:first-child { font-weight: 600; }
tr:last-child td { border-bottom: 0; }
code { display: block; overflow-x: auto; padding: .6rem .8rem; border-radius: .5rem;
  background: var(--page); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: .75rem 0 0; }
dt { color: var(--muted); } dd { margin: 0; }
"""


def page(summary: Summary, made: Provenance, light: Mapping[str, bytes], dark: Mapping[str, bytes]) -> str:
    """The page as HTML; the plots are SVG, by name, in the colours of day and of night."""
    settings = summary.settings
    name = game(settings.game).name
    title = f"{name}, {settings.players} {'player' if settings.players == 1 else 'players'}: the arena"
    parts = [f"<h1>{escape(title)}</h1>", f'<p class="muted">{escape(played(summary))}</p>']
    parts += [f'<p class="lead">{escape(_verdict(summary))}</p>'] if summary.bots else []
    tables = sheets(summary)
    parts += [_sheet(sheet) for sheet in tables[:1]]
    parts.append('<div class="plots">')
    parts += [_plot(plot, light[plot], dark[plot]) for plot in light]
    parts.append("</div>")
    parts += [_sheet(sheet) for sheet in tables[1:]]
    if said := "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences(summary)):
        parts.append(f"<section><h2>Luck and the rest</h2>{said}</section>")
    parts.append(_origin(summary, made))
    style = STYLE % {"light": _variables(LIGHT), "dark": _variables(DARK)}
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body><main>\n"
        + "\n".join(parts)
        + "\n</main></body></html>\n"
    )


def _verdict(summary: Summary) -> str:
    best = summary.ranking()[0]
    if summary.settings.players == 1:
        lowest = number(best.mean_lowest, ".1f")
        deals = percent(best.win_rate)
        return (
            f"{best.bot} got the most, its lowest {lowest} on average. It did best on {deals} of the deals."
        )
    if len(summary.bots) == 1:
        return f"{best.bot} played against itself."
    unsure = [other for pair in summary.pairs if (other := _not_surely_beaten(best.bot, pair))]
    surely = f", but not surely ahead of {' and '.join(unsure)}" if unsure else ""
    return f"{best.bot} is the strongest{surely}: it won {percent(best.win_rate)} of its games."


def _not_surely_beaten(best: str, pair: PairFigures) -> str | None:
    """The other bot of a pair with the best one, if their interval does not tell who is ahead."""
    if best not in pair.bots or pair.ahead.low is None or pair.ahead.high is None:
        return None
    one, other = pair.bots
    return (other if best == one else one) if pair.ahead.low <= 0.5 <= pair.ahead.high else None


def _sheet(sheet: Sheet) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in sheet.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in sheet.rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<section><h2>{escape(sheet.title)}</h2>{table}</section>"


def _plot(name: str, light: bytes, dark: bytes) -> str:
    by_day, by_night = (
        f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}" for svg in (light, dark)
    )
    caption = CAPTIONS[name]
    return (
        f"<section><h2>{caption}</h2><picture>"
        f'<source media="(prefers-color-scheme: dark)" srcset="{by_night}">'
        f'<img src="{by_day}" alt="{caption}: the figures are in the tables"></picture></section>'
    )


def _origin(summary: Summary, made: Provenance) -> str:
    libraries = ", ".join(f"{library} {version}" for library, version in made.libraries.items())
    facts = {
        "seed": summary.settings.seed,
        "version": made.version,
        "machine": made.machine,
        "Python": f"{made.python}; {libraries}",
        "report made": made.made,
    }
    listed = "".join(f"<dt>{escape(what)}</dt><dd>{escape(fact)}</dd>" for what, fact in facts.items())
    return (
        f"<section><h2>The same games again</h2><code>{escape(made.command)}</code>"
        f'<p class="muted">Deal d has the seed SEED/d. What each figure means is told in docs/arena.md.</p>'
        f"<dl>{listed}</dl></section>"
    )


def _variables(theme: Theme) -> str:
    colours = {
        "page": theme.page,
        "card": theme.card,
        "edge": theme.card_edge,
        "ink": theme.ink,
        "muted": theme.muted,
    }
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


PAGE = "report.html"
FIGURES = "summary.json"


class Report(msgspec.Struct, frozen=True):
    """What `summary.json` holds."""

    made: Provenance
    summary: Summary


def make_report(folder: Path) -> Summary:
    """Write the report of a folder's games. Raises `InvalidFile`, or `MissingDependency` for plots."""
    settings, played = read(folder)
    summary = summarise(settings, played)
    if not summary.games:
        raise InvalidFile(f"{folder}: nothing to report yet: no table has been played to the end")
    tables, _ = counted(settings, played)
    met = meetings(settings, tables)
    by_day, by_night = Plots(summary, met, LIGHT), Plots(summary, met, DARK)
    light = {name: drawn(plot(), "svg") for name, plot in by_day.all().items()}
    dark = {name: drawn(plot(), "svg") for name, plot in by_night.all().items()}
    made = provenance(summary)
    for name, plot in by_day.all().items():
        write_atomic(folder / f"{name}.png", drawn(plot(), "png"))
    write_atomic(folder / PAGE, page(summary, made, light, dark).encode())
    figures = msgspec.json.format(msgspec.json.encode(Report(made, summary)), indent=1)
    write_atomic(folder / FIGURES, figures + b"\n")
    return summary
