"""Generator of docs/explanation/strength.md: the figures of all matches of `benchmarks.strength`.

The summaries of the arena are in docs/_data/strength/, one file per match. They determine the whole page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

import msgspec

from axiogames.analysis.arena.page import SUMMARY_FILE, ArenaReport, write_report
from axiogames.analysis.arena.statistics import IntervalEstimate
from axiogames.analysis.arena.summary import BotStats, PairStats
from axiogames.games import GAMES
from benchmarks.strength.run import LEVELS, MATCHES, TIME_LIMITS

Cells = tuple[object, ...]

FOLDER = Path("docs/_data/strength")
PAGE = Path("docs/explanation/strength.md")
# Target win rates in percent.
SIM_TARGETS_DOMINOES = {"greedy": 98, "balanced": 98, "mc@1s": 80, "instant": 75}
SIM_TARGETS = {"greedy": 85, "balanced": 85}
INSTANT_TARGET_DOMINOES = 85
DOMINOES = GAMES[:2]
LIMITS = (*TIME_LIMITS[:-1], "1s", TIME_LIMITS[-1])

HEAD = """# Strength of the players

All figures on this page were measured with `axio arena`. The [arena guide](../guides/arena.md) describes
the schedule (shared deals, every deal in every seat) and defines the figures. Parentheses contain 95 %
intervals over deals. `python -m benchmarks.strength --jobs K` plays the matches, and `python -m
benchmarks.strength report` generates this page from the results in `docs/_data/strength`, which include the
command, the version and the machine of each match. Bots with a time limit play differently on another
machine, and more weakly on a busy one.

`sim@1s` has a limit of one second per move on one core. It stops earlier if more rollouts cannot change its
choice.
"""


def collect(folder: Path) -> Iterator[str]:
    """Write the arena's reports of all played matches, copy their summaries, and yield their names."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in MATCHES:
        if (folder / name).is_dir():
            write_report(folder / name)
            (FOLDER / f"{name}.json").write_bytes((folder / name / SUMMARY_FILE).read_bytes())
            yield name


def read(folder: Path = FOLDER) -> dict[str, ArenaReport]:
    """Return the stored summaries, by match."""
    return {
        name: msgspec.json.decode((folder / f"{name}.json").read_bytes(), type=ArenaReport)
        for name in MATCHES
        if (folder / f"{name}.json").exists()
    }


def page(found: dict[str, ArenaReport]) -> str:
    """Return the page as Markdown."""
    return "\n".join(
        [
            HEAD,
            *_table(
                "Two players: `sim@1s`",
                ("game", "opponent", "games", "wins", "target", "mean time per move"),
                _sim(found),
            ),
            *_table(
                "Two players: `instant`, without rollouts",
                ("game", "opponent", "games", "wins", "target", "mean time per move"),
                _instant(found),
            ),
            *_table(
                "Three and four players: mean place",
                ("game", "players", "games", "mean places, best first", "`sim` ahead of `instant`"),
                _places(found),
            ),
            *_table(
                "One player: mean of the lowest track",
                ("game", "player", "deals", "lowest", "mean points, lowest track first"),
                _solo(found),
                "`trio` has one track, so its figure is the mean of all points.",
            ),
            *_table(
                "Effect of thinking time",
                ("game", *LIMITS, "explained by the deal"),
                _times(found),
                "Win rate of `sim` against `instant` by time limit per move, and the share of the variance"
                " not due to skill that the deal explains:",
            ),
            *_table(
                "Levels for people",
                ("game", *LEVELS),
                _levels(found),
                "Elo at two seats, relative to the mean of all levels. Every level played every other:",
            ),
            *_table("Provenance of the figures", ("match", "command", "machine"), _origins(found)),
        ]
    )


def _table(title: str, head: Sequence[str], rows: Iterable[Cells], text: str = "") -> Iterator[str]:
    """Yield the lines of a section, or nothing if it has no rows."""
    lines = [_row(*row) for row in rows]
    if lines:
        yield from (f"## {title}\n", *([f"{text}\n"] if text else []), _row(*head), "|" + "---|" * len(head))
        yield from (*lines, "")


def _sim(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for game in GAMES:
        targets = SIM_TARGETS_DOMINOES if game in DOMINOES else SIM_TARGETS
        for name, report in found.items():
            if name.startswith(f"{game}-sim-"):
                (pair,) = report.summary.pairs
                yield _compared(game, pair, targets.get(pair.bots[1]), report)


def _instant(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for game in GAMES:
        if report := found.get(f"{game}-instant"):
            for pair in report.summary.pairs:
                if pair.bots[0] == "instant":
                    yield _compared(game, pair, INSTANT_TARGET_DOMINOES if game in DOMINOES else None, report)


def _compared(game: str, pair: PairStats, target: int | None, report: ArenaReport) -> Cells:
    (first,) = (bot for bot in report.summary.bots if bot.bot == pair.bots[0])
    time = f"{1000 * first.seconds_per_move:.3g} ms"
    return f"`{game}`", f"`{pair.bots[1]}`", pair.compared, _percent(pair.ahead), _target(pair, target), time


def _places(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for game in GAMES:
        for count, limit in product(("three", "four"), ("1s", "100ms")):
            if report := found.get(f"{game}-{count}-{limit}"):
                ranked = sorted(report.summary.bots, key=lambda bot: bot.mean_place.value)
                places = ", ".join(f"`{bot.bot}` {_number(bot.mean_place)}" for bot in ranked)
                (ahead,) = (pair.ahead for pair in report.summary.pairs if pair.bots[1] == "instant")
                yield (
                    f"`{game}`",
                    report.summary.settings.players,
                    report.summary.games,
                    places,
                    _percent(ahead),
                )


def _solo(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for game in GAMES:
        reports = [report for name, report in found.items() if name.startswith(f"{game}-alone")]
        bots = [bot for report in reports for bot in report.summary.bots]
        for bot in sorted(bots, key=lambda bot: -bot.mean_lowest.value):
            yield f"`{game}`", f"`{bot.bot}`", bot.games, _number(bot.mean_lowest), _vector(bot)


def _times(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for game in GAMES:
        names = [f"{game}-sim-instant" if limit == "1s" else f"{game}-time-{limit}" for limit in LIMITS]
        reports = [found.get(name) for name in names]
        if sum(report is not None for report in reports) > 1:
            wins = [_percent(report.summary.pairs[0].ahead) if report else "" for report in reports]
            shares = [report.summary.deal_variance_share for report in reports if report]
            deal = [share.value for share in shares if share]
            yield f"`{game}`", *wins, f"{100 * max(0.0, sum(deal) / len(deal)):.0f} %" if deal else ""


def _levels(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for game in GAMES:
        if report := found.get(f"{game}-levels"):
            elo = {bot.bot: bot.elo for bot in report.summary.bots}
            yield f"`{game}`", *(_whole(elo[name]) for name in LEVELS)


def _origins(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for name, report in found.items():
        yield (
            name,
            f"`{report.provenance.command}`",
            f"{report.provenance.machine}; version {report.provenance.version}",
        )


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _target(pair: PairStats, target: int | None) -> str:
    if target is None:
        return ""
    return f"{target} %" if 100 * pair.ahead.value >= target else f"{target} %: **missed**"


def _percent(share: IntervalEstimate) -> str:
    return f"{100 * share.value:.1f} %{_interval(share, 100, 1)}"


def _number(figure: IntervalEstimate) -> str:
    return f"{figure.value:.2f}{_interval(figure, 1, 2)}"


def _whole(figure: IntervalEstimate) -> str:
    return f"{figure.value:+.0f}{_interval(figure, 1, 0)}"


def _interval(figure: IntervalEstimate, factor: int, decimals: int) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f" ({factor * figure.low:.{decimals}f} to {factor * figure.high:.{decimals}f})"


def _vector(bot: BotStats) -> str:
    return "  ".join(f"{points:.1f}" for points in bot.mean_vector) if len(bot.mean_vector) > 1 else ""
