"""Figures as tables and sentences for people, the same in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .bootstrap import Estimate
from .schedule import line_ups
from .summary import PairFigures, Summary


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
