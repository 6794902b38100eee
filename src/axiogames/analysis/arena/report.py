"""Tables and sentences of an arena's summary, shown in the terminal and in the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .schedule import line_ups
from .statistics import IntervalEstimate
from .summary import ArenaSummary, PairStats


@dataclass(frozen=True)
class ReportTable:
    """A titled table of text cells. All columns but the first contain numbers."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def report_tables(summary: ArenaSummary) -> list[ReportTable]:
    """Return the tables of a summary, with the strongest bot first."""
    if not summary.bots:
        return []
    compared = [_pairs(summary)] if summary.pairs else []
    if len(summary.bots) > 2:  # the cross table of two bots would repeat the table of pairs
        compared.append(_cross_table(summary))
    return [_standings(summary), _scores(summary), *compared, _times(summary)]


def _standings(summary: ArenaSummary) -> ReportTable:
    wins = "best on a deal" if summary.settings.players == 1 else "wins"
    rows = []
    for bot in summary.ranking():
        skill = bot.openskill
        rows.append(
            (
                bot.bot,
                str(bot.games),
                format_percent(bot.win_rate),
                f"{bot.mean_place.value:.2f}",
                format_estimate(bot.elo, "+.0f"),
                f"{skill.mu:.1f} ± {2 * skill.sigma:.1f}" if skill else "",
            )
        )
    return ReportTable("Standings", ("bot", "games", wins, "mean place", "Elo", "OpenSkill (2σ)"), rows)


def _scores(summary: ArenaSummary) -> ReportTable:
    rows = []
    single = len(summary.bots[0].mean_vector) == 1
    for bot in summary.ranking():
        vector = () if single else ("  ".join(f"{points:.1f}" for points in bot.mean_vector),)
        rows.append((bot.bot, format_estimate(bot.mean_lowest, ".2f"), *vector))
    head = ("bot", "mean points") if single else ("bot", "mean lowest", "mean of each, lowest first")
    return ReportTable("Points", head, rows)


def _pairs(summary: ArenaSummary) -> ReportTable:
    rows = [
        (
            f"{pair.bots[0]} : {pair.bots[1]}",
            format_percent(pair.ahead),
            "–".join(map(str, pair.difference.level)),
            _difference(pair),
            _games_saved(pair),
        )
        for pair in summary.pairs
    ]
    more = "lowest, more by" if summary.settings.players == 1 else "victories, more by"
    head = ("two bots", "first ahead", "deals won–level–lost", more, "games saved")
    return ReportTable("Two by two, on shared deals", head, rows)


def _difference(pair: PairStats) -> str:
    difference = pair.difference
    return format_estimate(IntervalEstimate(difference.value, difference.low, difference.high), "+.2f")


def _games_saved(pair: PairStats) -> str:
    """Return the share of games that shared deals save, compared with an independent deal for every game."""
    times = pair.difference.times_the_games
    return f"{100 * (1 - 1 / times):.0f} %" if times else ""


def _cross_table(summary: ArenaSummary) -> ReportTable:
    order = [bot.bot for bot in summary.ranking()]
    ahead = {pair.bots: pair.ahead.value for pair in summary.pairs}
    ahead |= {(other, one): 1 - rate for (one, other), rate in ahead.items()}
    rows = [(one, *(_whole_percent(ahead.get((one, other))) for other in order)) for one in order]
    return ReportTable("Cross table: how often the row was ahead of the column", ("ahead of", *order), rows)


def _whole_percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _times(summary: ArenaSummary) -> ReportTable:
    rows = [
        (bot.bot, str(bot.moves), format_seconds(bot.seconds_a_move), format_seconds(bot.slowest_move))
        for bot in summary.ranking()
    ]
    return ReportTable("Time", ("bot", "moves", "a move", "slowest move"), rows)


# ---------------------------------------------------------------- sentences


def run_sentence(summary: ArenaSummary) -> str:
    """Return a sentence on the size of the arena."""
    settings = summary.settings
    bots = _count(len(line_ups(settings.bots, settings.players)), "line-up")
    if settings.players == 1:
        bots = f"{_count(len(settings.bots), 'bot')} alone"
    games, deals = _count(summary.games, "game"), _count(summary.deals, "deal")
    return f"{games}: {bots} on {deals}; intervals of 95 % over deals"


def report_sentences(summary: ArenaSummary) -> list[str]:
    """Return sentences on what the tables do not contain: seats, luck, the sequential test, missing games."""
    sentences = []
    if summary.seats:
        sentences.append(f"The first seat won {format_percent(summary.seats[0].win_rate)} of the games.")
    if share := summary.share_of_the_deal:
        percent = format_percent(_clip_at_zero(share))
        sentences.append(f"The deal decided {percent} of the variance that skill does not explain.")
    if summary.sprt:
        sentences.append(sprt_sentence(summary))
    if summary.left_out:
        why = "their round is incomplete, or the sequential test had already ended"
        sentences.append(f"{_count(summary.left_out, 'game')} not counted: {why}.")
    return sentences


def _clip_at_zero(share: IntervalEstimate) -> IntervalEstimate:
    """Return an estimate of a share without the negative values that few deals can give by chance."""
    low, high = (None if end is None else max(0.0, end) for end in (share.low, share.high))
    return IntervalEstimate(max(0.0, share.value), low, high)


def sprt_sentence(summary: ArenaSummary) -> str:
    """Return a sentence on the status of the sequential test."""
    status, test = summary.sprt, summary.settings.sprt
    assert status is not None, "the arena has a sequential test"
    assert test is not None, "the arena has a sequential test"
    bounds = f"bounds {status.lower:.2f} and {status.upper:.2f}"
    ratio = f"LLR {status.llr:.2f} after {_count(status.deals, 'deal')}, {bounds}"
    if status.accepted is None:
        return f"Sequential test: undecided, {ratio}."
    claims = f"{test.elo0:g} Elo or less", f"{test.elo1:g} Elo or more"
    accepted, rejected = claims[status.accepted], claims[1 - status.accepted]
    first = summary.settings.bots[0]
    return f"Sequential test: {first} is stronger by {accepted} rather than by {rejected} ({ratio})."


def verdict(summary: ArenaSummary) -> str:
    """Return a sentence on which bot is the strongest."""
    best = summary.ranking()[0]
    if summary.settings.players == 1:
        lowest = format_estimate(best.mean_lowest, ".1f")
        deals = format_percent(best.win_rate)
        return (
            f"{best.bot} got the most, its lowest {lowest} on average. It did best on {deals} of the deals."
        )
    if len(summary.bots) == 1:
        return f"{best.bot} played against itself."
    unsure = [other for pair in summary.pairs if (other := _possible_equal(best.bot, pair))]
    surely = f", but not surely ahead of {' and '.join(unsure)}" if unsure else ""
    return f"{best.bot} is the strongest{surely}: it won {format_percent(best.win_rate)} of its games."


def _possible_equal(best: str, pair: PairStats) -> str | None:
    """Return the opponent of the best bot in a pair if their interval includes 50 %."""
    if best not in pair.bots or pair.ahead.low is None or pair.ahead.high is None:
        return None
    one, other = pair.bots
    return (other if best == one else one) if pair.ahead.low <= 0.5 <= pair.ahead.high else None


# ---------------------------------------------------------------- numbers


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def format_percent(share: IntervalEstimate) -> str:
    """Return a share in percent with its interval.

    >>> format_percent(IntervalEstimate(0.55, 0.481, 0.617))
    '55.0 % (48.1–61.7)'
    """
    value = f"{100 * share.value:.1f} %"
    if share.low is None or share.high is None:
        return value
    return f"{value} ({100 * share.low:.1f}–{100 * share.high:.1f})"


def format_estimate(estimate: IntervalEstimate, spec: str) -> str:
    """Return an estimate with its interval, each number formatted by `spec`.

    >>> format_estimate(IntervalEstimate(12.0, -3.0, 28.0), "+.0f")
    '+12 (-3 to +28)'
    """
    value = format(estimate.value, spec)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} ({estimate.low:{spec}} to {estimate.high:{spec}})"


def format_seconds(seconds: float) -> str:
    """Return a duration in milliseconds or seconds.

    >>> format_seconds(0.00052), format_seconds(0.044), format_seconds(1.0312)
    ('0.52 ms', '44 ms', '1.03 s')
    """
    if seconds < 0.01:
        return f"{1000 * seconds:.2f} ms"
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"
