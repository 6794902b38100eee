"""Tables and sentences about an arena's summary, for the terminal and the HTML report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .schedule import line_ups
from .statistics import IntervalEstimate
from .summary import ArenaSummary, PairStats


@dataclass(frozen=True)
class ReportTable:
    """A titled table of text cells. All columns except the first contain numbers."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def report_tables(summary: ArenaSummary) -> list[ReportTable]:
    """Return the tables of a summary. They list the strongest bot first."""
    if not summary.bots:
        return []
    compared = [_pairs(summary)] if summary.pairs else []
    if len(summary.bots) > 2:  # for two bots, the cross table would repeat the table of pairs
        compared.append(_cross_table(summary))
    return [_standings(summary), _scores(summary), *compared, _times(summary)]


def _standings(summary: ArenaSummary) -> ReportTable:
    wins = "deals won" if summary.settings.players == 1 else "wins"
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
    head = ("bot", "mean points") if single else ("bot", "mean lowest", "mean points, lowest track first")
    return ReportTable("Points", head, rows)


def _pairs(summary: ArenaSummary) -> ReportTable:
    rows = [
        (
            f"{pair.bots[0]} : {pair.bots[1]}",
            format_percent(pair.ahead),
            "–".join(map(str, pair.difference.deal_counts)),
            _difference(pair),
            _games_saved(pair),
        )
        for pair in summary.pairs
    ]
    difference = "difference in lowest" if summary.settings.players == 1 else "difference in win rate"
    head = ("pair", "first ahead", "deals won–tied–lost", difference, "games saved")
    return ReportTable("Pairs of bots on shared deals", head, rows)


def _difference(pair: PairStats) -> str:
    difference = pair.difference
    return format_estimate(IntervalEstimate(difference.value, difference.low, difference.high), "+.2f")


def _games_saved(pair: PairStats) -> str:
    """Return the share of games saved by shared deals, compared with a different deal for every game."""
    ratio = pair.difference.games_ratio
    return f"{100 * (1 - 1 / ratio):.0f} %" if ratio else ""


def _cross_table(summary: ArenaSummary) -> ReportTable:
    order = [bot.bot for bot in summary.ranking()]
    ahead = {pair.bots: pair.ahead.value for pair in summary.pairs}
    ahead |= {(second, first): 1 - rate for (first, second), rate in ahead.items()}
    rows = [(bot, *(_whole_percent(ahead.get((bot, opponent))) for opponent in order)) for bot in order]
    title = "Cross table: share of games in which the row finished ahead of the column"
    return ReportTable(title, ("ahead of", *order), rows)


def _whole_percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _times(summary: ArenaSummary) -> ReportTable:
    rows = [
        (
            bot.bot,
            str(bot.moves),
            format_seconds(bot.seconds_per_move),
            format_seconds(bot.slowest_move) if bot.slowest_move else "not measured",
        )
        for bot in summary.ranking()
    ]
    return ReportTable("Thinking time", ("bot", "moves", "mean per move", "slowest move"), rows)


# ---------------------------------------------------------------- sentences


def run_sentence(summary: ArenaSummary) -> str:
    """Return a sentence on the size of the arena."""
    settings = summary.settings
    if settings.players == 1:
        participants = _count(len(settings.bots), "bot")
    else:
        participants = _count(len(line_ups(settings.bots, settings.players)), "line-up")
    games, deals = _count(summary.games, "game"), _count(summary.deals, "deal")
    return f"{games}: {participants} on {deals}; 95 % intervals over deals"


def report_sentences(summary: ArenaSummary) -> list[str]:
    """Return sentences on the advantage of the first seat, luck, the sequential test, and uncounted games."""
    sentences = []
    if summary.seats:
        sentences.append(f"The first seat won {format_percent(summary.seats[0].win_rate)} of the games.")
    if share := summary.deal_variance_share:
        percent = format_percent(_clip_at_zero(share))
        sentences.append(f"The deal explains {percent} of the variance that skill does not explain.")
    if summary.sprt:
        sentences.append(sprt_sentence(summary))
    if summary.uncounted:
        reason = "their round is incomplete, or the sequential test had already ended"
        sentences.append(f"{_count(summary.uncounted, 'game')} not counted: {reason}.")
    return sentences


def _clip_at_zero(share: IntervalEstimate) -> IntervalEstimate:
    """Return the estimate of a share with negative values, which occur with few deals, set to 0."""
    low, high = (None if bound is None else max(0.0, bound) for bound in (share.low, share.high))
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
    hypotheses = f"at most {test.elo0:g} Elo", f"at least {test.elo1:g} Elo"
    accepted, rejected = hypotheses[status.accepted], hypotheses[1 - status.accepted]
    first = summary.settings.bots[0]
    return f"Sequential test: the advantage of {first} is {accepted}, not {rejected} ({ratio})."


def verdict(summary: ArenaSummary) -> str:
    """Return a sentence that names the strongest bot."""
    best = summary.ranking()[0]
    if summary.settings.players == 1:
        track = "points" if len(best.mean_vector) == 1 else "lowest track"
        lowest = format_estimate(best.mean_lowest, ".1f")
        deals = format_percent(best.win_rate)
        return f"{best.bot} scored best, with mean {track} {lowest}. It won {deals} of the deals."
    if len(summary.bots) == 1:
        return f"{best.bot} played against itself."
    rivals = [rival for pair in summary.pairs if (rival := _close_rival(best.bot, pair))]
    caveat = f", but not significantly ahead of {' and '.join(rivals)}" if rivals else ""
    return f"{best.bot} is the strongest{caveat}: it won {format_percent(best.win_rate)} of its games."


def _close_rival(best: str, pair: PairStats) -> str | None:
    """Return the opponent of the best bot in a pair if the interval of the pair includes 50 %."""
    if best not in pair.bots or pair.ahead.low is None or pair.ahead.high is None:
        return None
    first, second = pair.bots
    return (second if best == first else first) if pair.ahead.low <= 0.5 <= pair.ahead.high else None


# ---------------------------------------------------------------- numbers


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def format_percent(share: IntervalEstimate) -> str:
    """Return a share as a percentage with its interval.

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
