"""The report as a page: one file with everything in it, by day and by night."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape

from ..drawing.theme import DARK, LIGHT, Theme
from ..games import game
from .provenance import Provenance
from .summary import PairFigures, Summary
from .wording import Sheet, number, percent, played, sentences, sheets

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
