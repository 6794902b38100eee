"""docs/explanation/strength.md: the figures of all matches of `benchmarks.strength`.

What the arena found is kept in docs/_data/strength/, a file a match; the page is made from these files alone.
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
from benchmarks.strength.run import LEVELS, MATCHES, TIMES

Cells = tuple[object, ...]

FOLDER = Path("docs/_data/strength")
PAGE = Path("docs/explanation/strength.md")
ASKED = {
    "greedy": 98,
    "balanced": 98,
    "mc@1s": 80,
    "instant": 75,
}  # of `sim@1s`, per cent, where tracks decide
ASKED_ELSEWHERE = {"greedy": 85, "balanced": 85}
ASKED_OF_INSTANT = 85
DOMINOES = GAMES[:2]
LIMITS = (*TIMES[:-1], "1s", TIMES[-1])

HEAD = """# How strong the players are

Everything here was measured by `axio arena`; [arena.md](../guides/arena.md) says what is played and what each
figure means: shared deals, every deal in every seat, intervals of 95 % over deals in brackets. `python -m
benchmarks.strength --jobs K` plays the matches, and `python -m benchmarks.strength report` makes this page of
what the arena found. All of that, with the command, the version and the machine, is in
`docs/_data/strength`.
Who thinks by the clock makes other moves on another machine, and weaker ones on a busy one.

`sim@1s` may think for a second a move on one core, and thinks less where more would change nothing.
"""


def collect(kept: Path) -> Iterator[str]:
    """Write the arena's reports of all played matches, store their figures, and return their names."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in MATCHES:
        if (kept / name).is_dir():
            write_report(kept / name)
            (FOLDER / f"{name}.json").write_bytes((kept / name / SUMMARY_FILE).read_bytes())
            yield name


def read(folder: Path = FOLDER) -> dict[str, ArenaReport]:
    """Return the stored figures, by match."""
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
                ("game", "against", "games", "wins", "asked", "mean time a move"),
                _against(found),
            ),
            *_table(
                "Two players: `instant`, without any search",
                ("game", "against", "games", "wins", "asked", "mean time a move"),
                _instant(found),
            ),
            *_table(
                "Three and four players: the mean place",
                ("game", "players", "games", "places, the best first", "`sim` before `instant`"),
                _places(found),
            ),
            *_table(
                "Alone: the mean of the lowest colour",
                ("game", "player", "deals", "lowest", "mean of each, lowest first"),
                _alone(found),
                "In `trio`, which has one track, the mean of all points.",
            ),
            *_table(
                "What time is worth",
                ("game", *LIMITS, "the deal decided"),
                _times(found),
                "`sim` with so much time a move against `instant`, and how much the deal decided:",
            ),
            *_table(
                "The levels for people",
                ("game", *LEVELS),
                _levels(found),
                "Elo at two seats, the mean of all levels being 0, each level against every other:",
            ),
            *_table("Where the figures come from", ("match", "command", "machine"), _origins(found)),
        ]
    )


def _table(title: str, head: Sequence[str], rows: Iterable[Cells], said: str = "") -> Iterator[str]:
    """Return a section, or nothing if it has no rows."""
    lines = [_row(*row) for row in rows]
    if lines:
        yield from (f"## {title}\n", *([f"{said}\n"] if said else []), _row(*head), "|" + "---|" * len(head))
        yield from (*lines, "")


def _against(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for game in GAMES:
        asked = ASKED if game in DOMINOES else ASKED_ELSEWHERE
        for name, report in found.items():
            if name.startswith(f"{game}-sim-"):
                (pair,) = report.summary.pairs
                yield _compared(game, pair, asked.get(pair.bots[1]), report)


def _instant(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for game in GAMES:
        if report := found.get(f"{game}-instant"):
            for pair in report.summary.pairs:
                if pair.bots[0] == "instant":
                    yield _compared(game, pair, ASKED_OF_INSTANT if game in DOMINOES else None, report)


def _compared(game: str, pair: PairStats, asked: int | None, report: ArenaReport) -> Cells:
    (first,) = (bot for bot in report.summary.bots if bot.bot == pair.bots[0])
    took = f"{1000 * first.seconds_per_move:.3g} ms"
    return f"`{game}`", f"`{pair.bots[1]}`", pair.compared, _percent(pair.ahead), _asked(pair, asked), took


def _places(found: dict[str, ArenaReport]) -> Iterator[Cells]:
    for game in GAMES:
        for word, limit in product(("three", "four"), ("1s", "100ms")):
            if report := found.get(f"{game}-{word}-{limit}"):
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


def _alone(found: dict[str, ArenaReport]) -> Iterator[Cells]:
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


def _asked(pair: PairStats, least: int | None) -> str:
    if least is None:
        return ""
    return f"{least} %" if 100 * pair.ahead.value >= least else f"{least} %: **missed**"


def _percent(share: IntervalEstimate) -> str:
    return f"{100 * share.value:.1f} %{_interval(share, 100, 1)}"


def _number(figure: IntervalEstimate) -> str:
    return f"{figure.value:.2f}{_interval(figure, 1, 2)}"


def _whole(figure: IntervalEstimate) -> str:
    return f"{figure.value:+.0f}{_interval(figure, 1, 0)}"


def _interval(figure: IntervalEstimate, times: int, digits: int) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f" ({times * figure.low:.{digits}f} to {times * figure.high:.{digits}f})"


def _vector(bot: BotStats) -> str:
    return "  ".join(f"{points:.1f}" for points in bot.mean_vector) if len(bot.mean_vector) > 1 else ""
