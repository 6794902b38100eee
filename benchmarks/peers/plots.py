"""The plots of docs/explanation/benchmarks.md, as reproducible SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import log10
from typing import NamedTuple

from benchmarks.peers.gpu import GpuReport
from benchmarks.peers.peers import C_PROGRAM
from benchmarks.peers.research import Figure, ResearchReport

WIDTH, LABELS, ROW, HEAD, FOOT = 900, 440, 24, 34, 30
ROOM = 110  # for the label after the longest bar
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #222 } .axis { fill: #666; font-size: 11px }
.grid { stroke: #ddd } .target { stroke: #c33; stroke-width: 2 } .spread { stroke: #222; stroke-width: 2 }
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
    value_label: str
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
            _kind(figure),
        )
        for figure in sorted(report.figures, key=lambda figure: -figure.moves_per_second)
    ]
    minimum = 10 ** int(log10(min(bar.low for bar in bars)))
    maximum = max(bar.high for bar in bars)
    powers = [10**n for n in range(int(log10(minimum)), int(log10(maximum)) + 1)]
    scale = _scale(log10(minimum), log10(maximum))
    return _plot(
        "Moves per second, two players (logarithmic scale; lines span the quartiles)",
        bars,
        lambda value: scale(log10(value)),
        [(power, f"{power:,}") for power in powers],
    )


def ratios(report: ResearchReport) -> str:
    """Plot each ratio relative to its target, which is the line at 1."""
    bars = []
    for ratio in report.ratios:
        if ratio.value is None or ratio.low is None or ratio.high is None or ratio.target is None:
            continue
        bars.append(
            Bar(
                ratio.name,
                ratio.value / ratio.target,
                ratio.low / ratio.target,
                ratio.high / ratio.target,
                f"{number(ratio.value)} of {ratio.target:,g}",
                "ours" if ratio.met else "missed",
            )
        )
    maximum = max(1.2, *(bar.high for bar in bars))
    marks = [(0.25 * n, f"{0.25 * n:g}") for n in range(int(maximum / 0.25) + 1)]
    return _plot("Ratios relative to their targets", bars, _scale(0.0, maximum), marks, target=1.0)


def launches(report: GpuReport) -> str:
    """Plot random games on a GPU in all launch configurations."""
    bars = [
        Bar(launch.launch, launch.per_second, launch.low, launch.high, f"{launch.per_second:.3g}", "ours")
        for launch in report.launches
    ]
    target = next(speed.target for speed in report.speeds)
    maximum = max(target or 0, *(bar.high for bar in bars))
    marks = [(n * 1e9, f"{n}e9" if n else "0") for n in range(int(maximum / 1e9) + 1)]
    return _plot("Random moves per second on a GPU", bars, _scale(0.0, maximum), marks, target)


def number(value: float) -> str:
    """Format a number with three significant digits, or as an integer if it is 1,000 or more."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _kind(figure: Figure) -> str:
    return "c" if figure.name == C_PROGRAM else "ours" if figure.software.startswith("axio ") else "theirs"


def _scale(minimum: float, maximum: float) -> Callable[[float], float]:
    return lambda value: LABELS + (WIDTH - LABELS - ROOM) * (value - minimum) / (maximum - minimum)


def _plot(
    title: str,
    bars: Sequence[Bar],
    scale: Callable[[float], float],
    marks: Sequence[tuple[float, str]],
    target: float | None = None,
) -> str:
    height = HEAD + ROW * len(bars) + FOOT
    bottom = height - FOOT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        STYLE,
        f'<text x="8" y="18">{escape(title)}</text>',
    ]
    for value, label in marks:
        x = scale(value)
        lines.append(f'<path class="grid" d="M{x:.1f} {HEAD - 6}V{bottom}"/>')
        lines.append(f'<text class="axis" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{label}</text>')
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
        values.append(f'<text x="{max(end, high) + 6:.1f}" y="{middle + 4:.1f}">{bar.value_label}</text>')
    if target is not None:
        x = scale(target)
        lines.append(f'<path class="target" d="M{x:.1f} {HEAD - 6}V{bottom}"/>')
        lines.append(f'<text class="axis" x="{x:.1f}" y="{HEAD - 10}" text-anchor="middle">target</text>')
    return "\n".join([*lines, *values, "</svg>", ""])


def _short(label: str) -> str:
    return escape(label if len(label) <= 72 else label[:71] + "…")
