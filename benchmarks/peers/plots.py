"""The plots of docs/explanation/benchmarks.md, as deterministic SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import log10
from typing import NamedTuple

from benchmarks.peers.gpu import GpuReport
from benchmarks.peers.peers import C_PROGRAM
from benchmarks.peers.research import Figure, ResearchReport

WIDTH, LABELS, ROW, HEAD, FOOT = 900, 440, 24, 34, 30
ROOM = 110  # for what is written behind the longest bar
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #222 } .axis { fill: #666; font-size: 11px }
.grid { stroke: #ddd } .asked { stroke: #c33; stroke-width: 2 } .spread { stroke: #222; stroke-width: 2 }
.ours { fill: #3b7dd8 } .c { fill: #d98b2b } .theirs { fill: #9a9a9a } .missed { fill: #c33 }
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .axis { fill: #999 } .grid { stroke: #444 } .spread { stroke: #ddd } }
</style>"""


class Bar(NamedTuple):
    """A row of a plot: a bar, and a line between the quartiles."""

    label: str
    value: float
    low: float
    high: float
    said: str
    kind: str


def speeds(report: ResearchReport) -> str:
    """Plot moves per second on a logarithmic scale."""
    bars = [
        Bar(
            figure.name,
            figure.moves_per_second,
            figure.low,
            figure.high,
            f"{figure.moves_per_second:,.0f}",
            _whose(figure),
        )
        for figure in sorted(report.figures, key=lambda figure: -figure.moves_per_second)
    ]
    least = 10 ** int(log10(min(bar.low for bar in bars)))
    most = max(bar.high for bar in bars)
    powers = [10**n for n in range(int(log10(least)), int(log10(most)) + 1)]
    scale = _scale(log10(least), log10(most))
    return _plot(
        "Moves in a second, two players (powers of ten; lines from quartile to quartile)",
        bars,
        lambda value: scale(log10(value)),
        [(power, f"{power:,}") for power in powers],
    )


def ratios(report: ResearchReport) -> str:
    """Plot each ratio relative to its target, which is the line at 1."""
    bars = []
    for ratio in report.ratios:
        if ratio.times is None or ratio.low is None or ratio.high is None or ratio.target is None:
            continue
        bars.append(
            Bar(
                ratio.name,
                ratio.times / ratio.target,
                ratio.low / ratio.target,
                ratio.high / ratio.target,
                f"{number(ratio.times)} of {ratio.target:,g}",
                "ours" if ratio.met else "missed",
            )
        )
    most = max(1.2, *(bar.high for bar in bars))
    marks = [(0.25 * n, f"{0.25 * n:g}") for n in range(int(most / 0.25) + 1)]
    return _plot("Ratios, as a share of what was asked for", bars, _scale(0.0, most), marks, asked=1.0)


def tries(report: GpuReport) -> str:
    """Plot random games on a GPU in all launch configurations."""
    bars = [
        Bar(tried.what, tried.per_second, tried.low, tried.high, f"{tried.per_second:.3g}", "ours")
        for tried in report.tries
    ]
    asked = next(speed.target for speed in report.speeds)
    most = max(asked or 0, *(bar.high for bar in bars))
    marks = [(n * 1e9, f"{n}e9" if n else "0") for n in range(int(most / 1e9) + 1)]
    return _plot("Random moves in a second on a GPU", bars, _scale(0.0, most), marks, asked)


def number(value: float) -> str:
    """Format a number with three significant digits, or with all digits before the point."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _whose(figure: Figure) -> str:
    return "c" if figure.name == C_PROGRAM else "ours" if figure.of.startswith("axio ") else "theirs"


def _scale(least: float, most: float) -> Callable[[float], float]:
    return lambda value: LABELS + (WIDTH - LABELS - ROOM) * (value - least) / (most - least)


def _plot(
    title: str,
    bars: Sequence[Bar],
    scale: Callable[[float], float],
    marks: Sequence[tuple[float, str]],
    asked: float | None = None,
) -> str:
    height = HEAD + ROW * len(bars) + FOOT
    bottom = height - FOOT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        STYLE,
        f'<text x="8" y="18">{escape(title)}</text>',
    ]
    for value, said in marks:
        x = scale(value)
        lines.append(f'<path class="grid" d="M{x:.1f} {HEAD - 6}V{bottom}"/>')
        lines.append(f'<text class="axis" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{said}</text>')
    values = []
    for n, bar in enumerate(bars):
        top, end = HEAD + ROW * n, scale(bar.value)
        low, high = scale(bar.low), scale(bar.high)
        middle = top + ROW / 2 - 3
        lines.append(
            f'<text x="{LABELS - 8}" y="{middle + 4:.1f}" text-anchor="end">{_short(bar.label)}</text>'
        )
        lines.append(
            f'<rect class="{bar.kind}" x="{LABELS}" y="{top}" width="{end - LABELS:.1f}" height="{ROW - 6}"/>'
        )
        lines.append(f'<path class="spread" d="M{low:.1f} {middle:.1f}H{high:.1f}"/>')
        values.append(f'<text x="{max(end, high) + 6:.1f}" y="{middle + 4:.1f}">{bar.said}</text>')
    if asked is not None:
        x = scale(asked)
        lines.append(f'<path class="asked" d="M{x:.1f} {HEAD - 6}V{bottom}"/>')
        lines.append(f'<text class="axis" x="{x:.1f}" y="{HEAD - 10}" text-anchor="middle">asked</text>')
    return "\n".join([*lines, *values, "</svg>", ""])


def _short(label: str) -> str:
    return escape(label if len(label) <= 72 else label[:71] + "…")
