"""Plots of an arena, drawn with matplotlib in the colours of a theme."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...drawing.theme import Theme
from ...optional_deps import require
from .statistics import LIVE_RESAMPLES, Bootstrap, Comparison, sum_by_deal
from .summary import ArenaSummary

WIDTH = 6.0  # inches
PAINTS = "BOGPRY"  # one per bot, in an order in which neighbours contrast
LINE_STYLES = ("-", "--", ":", "-.")


class Plots:
    """The plots of an arena in the colours of a theme."""

    def __init__(self, summary: ArenaSummary, compared: Sequence[Comparison], theme: Theme) -> None:
        self.summary = summary
        self.compared = compared
        self.theme = theme
        self.bots = [stats.bot for stats in summary.bots]
        self.best_first = [self.bots.index(stats.bot) for stats in summary.ranking()]

    def available(self) -> Mapping[str, Callable[[], Any]]:
        """Return the functions that draw the plots, by name. A single bot has fewer plots."""
        several = {"ratings": self.ratings, "cross": self.cross} if len(self.bots) > 1 else {}
        return {**several, "running": self.running, "scores": self.scores}

    def ratings(self) -> Any:
        """Draw Elo ratings with intervals, the strongest bot at the top."""
        figure, axes = self._figure(max(2.4, 1.2 + 0.45 * len(self.bots)))
        for row, n in enumerate(reversed(self.best_first)):
            elo = self.summary.bots[n].elo
            low, high = elo.low, elo.high
            if low is not None and high is not None:
                axes.plot([low, high], [row, row], color=self._paint(n), linewidth=6, alpha=0.35)
            axes.plot(elo.value, row, "o", color=self._paint(n), markersize=9)
            axes.annotate(
                f"{elo.value:+.0f}", (elo.value, row), (0, 9), textcoords="offset points",
                ha="center", color=self.theme.ink, fontsize=9,
            )  # fmt: skip
        axes.set_yticks(range(len(self.bots)), [self.bots[n] for n in reversed(self.best_first)])
        axes.set_ylim(-0.6, len(self.bots) - 0.3)
        axes.grid(False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.axvline(0, color=self.theme.muted, linewidth=0.8)
        # The axis truncates very long intervals, which would compress all others.
        values = [bot.elo.value for bot in self.summary.bots]
        margin = max(values) - min(values) + 200
        bounds = [
            bound for bot in self.summary.bots for bound in (bot.elo.low, bot.elo.high) if bound is not None
        ]
        left = max(min([*values, *bounds]), min(values) - margin)
        right = min(max([*values, *bounds]), max(values) + margin)
        axes.set_xlim(left - 0.05 * margin, right + 0.05 * margin)
        axes.set_xlabel("Elo, relative to the mean of all bots, with 95 % intervals")
        return figure

    def cross(self) -> Any:
        """Draw the rates at which the bot of the row finished ahead of the bot of the column."""
        size = len(self.bots)
        rates = np.full((size, size), np.nan)
        for pair in self.summary.pairs:
            i, j = (self.best_first.index(self.bots.index(bot)) for bot in pair.bots)
            rates[i, j], rates[j, i] = pair.ahead.value, 1 - pair.ahead.value
        figure, axes = self._figure(max(2.4, min(WIDTH, 1.2 + 0.7 * size)))
        colours = require("matplotlib.colors").LinearSegmentedColormap.from_list(
            "cross", [self.theme.paints["R"].fill, self.theme.card, self.theme.paints["B"].fill]
        )
        axes.imshow(rates, cmap=colours, vmin=0, vmax=1, aspect="auto")
        for i, j in np.ndindex(size, size):
            if not np.isnan(rates[i, j]):
                rate = float(rates[i, j])
                ink = self._readable_on(colours(rate))
                axes.text(j, i, _percent(rate), ha="center", va="center", color=ink, fontsize=10)
        names = [self.bots[n] for n in self.best_first]
        axes.set_xticks(range(size), names, rotation=30 if size > 4 else 0)
        axes.set_yticks(range(size), names)
        axes.grid(False)
        for edge in np.arange(size - 1) + 0.5:  # gaps between the cells
            axes.axhline(edge, color=self.theme.card, linewidth=3)
            axes.axvline(edge, color=self.theme.card, linewidth=3)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.tick_params(length=0)
        axes.set_xlabel("share of games in which the row finished ahead of the column")
        return figure

    def running(self) -> Any:
        """Draw the win rate after each deal, with its interval."""
        figure, axes = self._figure(3.8)
        sums = sum_by_deal(self.bots, self.compared)
        deals = np.arange(1, len(sums.deals) + 1)
        for n in range(len(self.bots)):
            won, games = sums.wins[:, n], sums.games[:, n]
            rate = won.cumsum() / np.maximum(games.cumsum(), 1)
            low, high = Bootstrap(len(deals), LIVE_RESAMPLES).cumulative_rate(won, games)
            style = LINE_STYLES[n // len(PAINTS) % len(LINE_STYLES)]
            axes.fill_between(
                deals,
                low,
                high,
                color=self._paint(n),
                alpha=0.14 if len(self.bots) < 5 else 0.06,
                linewidth=0,
            )
            axes.plot(deals, rate, style, color=self._paint(n), linewidth=1.8, label=self.bots[n])
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlim(1, max(2, len(deals)))
        axes.yaxis.set_major_formatter(lambda value, _: _percent(value))
        axes.set_xlabel("number of deals")
        solo = self.summary.settings.players == 1
        axes.set_ylabel("share of deals won" if solo else "win rate")
        axes.xaxis.set_major_locator(require("matplotlib.ticker").MaxNLocator(integer=True))
        self._legend(axes)
        return figure

    def scores(self) -> Any:
        """Draw histograms of the final points of the lowest track, one per bot."""
        lowest: dict[str, list[int]] = {bot: [] for bot in self.bots}
        for comparison in self.compared:
            for bot, vector in zip(comparison.bots, comparison.vectors, strict=True):
                lowest[bot].append(vector[0])
        all_values = [value for values in lowest.values() for value in values]
        width = max(1, round((max(all_values) - min(all_values) + 1) / 30))
        edges = np.arange(min(all_values) - 0.5, max(all_values) + width, width)
        figure, rows = self._rows(len(self.bots), 1.0 + 0.85 * len(self.bots))
        for axes, n in zip(rows, self.best_first, strict=True):
            values = lowest[self.bots[n]]
            heights, _, _ = axes.hist(values, edges, color=self._paint(n), alpha=0.8, rwidth=0.92)
            tallest = max(heights)
            mean = float(np.mean(values))
            axes.axvline(mean, color=self.theme.ink, linewidth=1)
            axes.annotate(
                f"{mean:.1f}", (mean, tallest * 1.2), (4, 0), textcoords="offset points",
                va="top", color=self.theme.ink, fontsize=9,
            )  # fmt: skip
            axes.set_ylim(0, tallest * 1.25)
            axes.xaxis.set_major_locator(require("matplotlib.ticker").MaxNLocator(integer=True))
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
            axes.set_ylabel(self.bots[n], rotation=0, ha="right", va="center")
            axes.grid(False)
            if axes is not rows[-1]:
                axes.tick_params(labelbottom=False)
        single = len(self.compared[0].vectors[0]) == 1
        quantity = "final points" if single else "final points of the lowest track"
        rows[-1].set_xlabel(f"{quantity}; the line marks the mean")
        return figure

    def _figure(self, height: float) -> tuple[Any, Any]:
        figure, (axes,) = self._rows(1, height)
        return figure, axes

    def _rows(self, rows: int, height: float) -> tuple[Any, list[Any]]:
        figure = require("matplotlib.figure").Figure(figsize=(WIDTH, height), layout="constrained")
        figure.set_facecolor(self.theme.card)
        axes = list(figure.subplots(rows, sharex=True, squeeze=False)[:, 0])
        for subplot in axes:
            subplot.set_facecolor(self.theme.card)
            subplot.grid(color=self.theme.card_edge, linewidth=0.8)
            subplot.set_axisbelow(True)
            subplot.tick_params(colors=self.theme.muted, labelcolor=self.theme.ink, labelsize=10)
            for label in (subplot.xaxis.label, subplot.yaxis.label):
                label.set_color(self.theme.muted)
            for side, spine in subplot.spines.items():
                spine.set_visible(side in ("left", "bottom"))
                spine.set_color(self.theme.card_edge)
        return figure, axes

    def _legend(self, axes: Any) -> None:
        axes.legend(
            frameon=False, labelcolor=self.theme.ink, ncols=min(4, len(self.bots)), loc="upper left",
            bbox_to_anchor=(0, 1.14), borderaxespad=0,
        )  # fmt: skip

    def _readable_on(self, background: Any) -> str:
        luma = _luma(background)
        return max((self.theme.ink, self.theme.card), key=lambda colour: abs(_luma(colour) - luma))

    def _paint(self, n: int) -> str:
        return self.theme.paints[PAINTS[n % len(PAINTS)]].fill


def render_figure(figure: Any, form: str) -> bytes:
    """Return a figure as `png` or `svg`. Equal figures give equal bytes."""
    out = io.BytesIO()
    with require("matplotlib").rc_context({"svg.hashsalt": __name__, "font.family": "DejaVu Sans"}):
        metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
        figure.savefig(out, format=form, dpi=160, metadata=metadata)
    return out.getvalue()


def _luma(colour: Any) -> float:
    """Return the perceived lightness of a colour, from 0 to 1."""
    red, green, blue = require("matplotlib.colors").to_rgb(colour)
    return float(0.299 * red + 0.587 * green + 0.114 * blue)


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")
