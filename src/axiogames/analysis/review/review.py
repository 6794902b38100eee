"""Reviewing a recorded game: a judgement of every decision, and accounts of luck and skill.

A review takes four steps: `decisions` replays the record, `judge_decision` judges each decision,
`start_values` estimates the value of the game at the start, and `assemble_review` combines the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import UNSET, Struct, field

from ... import __version__
from ...games.runtime.state import OFFER
from ...model.events import Draw, Event, Exchange, Pass, Place
from ...model.record import Record, apply_event, replay
from ...model.table import Table
from ...model.view import View
from ...moves import Move
from ...players.interface import Budget
from ...rng import Generator
from .accounts import Account, DecisionEffect, Luck, settle_accounts
from .judging import JudgedMove, Judgement, judge
from .remarks import Remark, Wording, remark_on
from .values import RATINGS, Rating, ValueScale, accuracy, rating_for, result_values, value_scale

EVEN = 0.5  # value of a game at the start, with several players
START_DEALS = 12  # deals that estimate the value at the start of a one-player game
MAX_TURNING_POINTS = 6
MIN_SWING = 0.04  # minimum change of value at a turning point

RATING_SYMBOLS: Mapping[Rating, str] = {
    "forced": "–",
    "best": "✓",
    "good": "·",
    "inaccuracy": "?!",
    "mistake": "?",
    "blunder": "??",
}
BAD_RATINGS: tuple[Rating, ...] = ("inaccuracy", "mistake", "blunder")


@dataclass(frozen=True, slots=True)
class Decision:
    """A move of the record and the view of its seat.

    `drew` are the tiles that the seat has drawn since its last move.
    """

    ply: int
    seat: int
    move: Move
    action: int
    view: View
    drew: tuple[str, ...]


class MoveReview(Struct, frozen=True):
    """The review of a move: the position as its seat saw it, the compared moves, and the loss of value.

    `luck` is the change by chance since the seat's last move, and `choice` the value of the move minus that
    of the rollout policy's move.
    """

    ply: int
    seat: int
    move: str
    known: str
    drew: tuple[str, ...]
    candidates: tuple[JudgedMove, ...]
    chosen_index: int = field(name="made")
    rating: Rating
    loss: float = field(name="given_up")
    choice: float
    luck: Luck
    remark: Remark
    rollouts: int


class TurningPoint(Struct, frozen=True):
    """A large change of a seat's value, by its choice or by luck before its move.

    For luck after the seat's last move, `ply` is the number of moves of the game plus one.
    """

    ply: int
    seat: int
    cause: Literal["choice", "luck"] = field(name="by")
    change: float


class SeatReview(Struct, frozen=True):
    """The review of a seat: its account, its accuracy from 0 to 100, and the number of moves by rating.

    `loss` is its total loss of value. `line` is its curve in the graph: pairs of a ply and the value after
    it.
    """

    name: str
    account: Account
    luck_after: Luck
    accuracy: float | None
    loss: float = field(name="given_up")
    ratings: dict[Rating, int]
    line: tuple[tuple[int, float], ...]


class Review(Struct, frozen=True):
    """The review of a game."""

    game: str
    name: str
    options: dict[str, bool]
    tracks: tuple[str, ...]
    cap: int | None
    scale: ValueScale = field(name="terms")
    over: bool
    seats: tuple[SeatReview, ...]
    moves: tuple[MoveReview, ...]
    turning_points: tuple[TurningPoint, ...] = field(name="turning")
    seed: str
    version: str = __version__


def decisions(record: Record) -> Iterator[Decision]:
    """Yield every decision of a recorded game, with the view of its seat. Raises `InvalidRecord`."""
    replay(record)  # raises for an invalid record before the first decision is used
    table = Table(replay(record, upto=0).variant)
    drew: list[list[str]] = [[] for _ in record.players]
    for event in record.events:
        move = _move(table, event)
        if move is not None:
            seat = table.turn
            assert seat is not None, "the record has been checked"
            view = table.view(seat)
            yield Decision(table.plies + 1, seat, move, view.action_of(move), view, tuple(drew[seat]))
            drew[seat].clear()
        apply_event(table, event)
        if isinstance(event, Draw):
            drew[event.p] += event.tiles


def _move(table: Table, event: Event) -> Move | None:
    """Return the move that an event records; `None` for draws that follow no offer.

    Keeping a hand has no event of its own: a draw follows the offer directly.
    """
    match event:
        case Place(_, tile, at, _, named):
            return Move("place", tile, at, named)
        case Exchange(_, shown):
            hand = table.state["phase"][0] == OFFER
            return Move("exchange", tiles=() if hand else shown)
        case Pass():
            return Move("pass")
        case Draw() if table.state["phase"][0] == OFFER:
            return Move("keep")
    return None


def judge_decision(decision: Decision, budget: Budget, seed: int | str) -> Judgement:
    """Judge a decision. Each move of a game has different determinizations."""
    return judge(decision.view, decision.action, budget, Generator(f"{seed}/{decision.ply}").bits() >> 1)


def start_values(record: Record, budget: Budget, seed: int | str) -> list[float]:
    """Return the value of the game for every seat at the start.

    With several players, the game is even, and the advantage of the first move counts as luck. For one
    player, the value is the mean over other deals.
    """
    if len(record.players) > 1:
        return [EVEN] * len(record.players)
    variant = replay(record, upto=0).variant
    values = []
    for deal in range(START_DEALS):
        table = Table(variant, f"{seed}/deal {deal}")
        judgement = judge(table.view(0), None, budget, Generator(f"{seed}/deal {deal}").bits() >> 1)
        values += [judgement.policy_value.value] if judgement.candidates else []
    return [sum(values) / len(values)]


def assemble_review(
    record: Record,
    decided: Sequence[Decision],
    judgements: Sequence[Judgement],
    start: Sequence[float],
    seed: int | str,
) -> Review:
    """Return the review of a record.

    Args:
        record: the recorded game.
        decided: its decisions.
        judgements: their judgements.
        start: value of the game for every seat at the start.
        seed: seed of the judgements.
    """
    variant = decided[0].view.variant if decided else replay(record).variant
    players = len(record.players)
    result = None
    if record.result is not UNSET:
        points = [tuple(scores.values()) for scores in record.result.scores]
        result = result_values(variant, record.result.place, points)
    unforced = [n for n, judgement in enumerate(judgements) if not judgement.forced]
    effects = [_effect(decided[n].seat, judgements[n]) for n in unforced]
    accounts, luck_before, luck_after = settle_accounts(variant, start, effects, result)
    luck = dict(zip(unforced, luck_before, strict=True))
    moves = tuple(
        _move_review(decision, judgement, luck.get(n, Luck(0.0, 0.0)))
        for n, (decision, judgement) in enumerate(zip(decided, judgements, strict=True))
    )
    end = None if result is None else len(moves)
    return Review(
        game=record.game,
        name=variant.game.name,
        options=dict(record.options),
        tracks=variant.tracks,
        cap=variant.cap,
        scale=value_scale(variant),
        over=result is not None,
        seats=tuple(
            _seat_review(
                record.players[seat],
                [move for move in moves if move.seat == seat],
                accounts[seat],
                luck_after[seat],
                end,
            )
            for seat in range(players)
        ),
        moves=moves,
        turning_points=_turning_points(moves, luck_after),
        seed=str(seed),
    )


def _effect(seat: int, judgement: Judgement) -> DecisionEffect:
    return DecisionEffect(seat, judgement.policy_value, judgement.choice, judgement.margin)


def _move_review(decision: Decision, judgement: Judgement, luck: Luck) -> MoveReview:
    loss = judgement.loss
    return MoveReview(
        ply=decision.ply,
        seat=decision.seat,
        move=str(decision.move),
        known=decision.view.position,
        drew=decision.drew,
        candidates=judgement.candidates,
        chosen_index=judgement.chosen_index,
        rating="forced" if judgement.forced else rating_for(loss),
        loss=loss,
        choice=judgement.choice.value,
        luck=luck,
        remark=remark_on(decision.view, judgement),
        rollouts=judgement.rollouts,
    )


def _seat_review(
    name: str, moves: Sequence[MoveReview], account: Account, luck_after: Luck, plies: int | None
) -> SeatReview:
    """Return the review of a seat.

    Args:
        name: name of the player.
        moves: reviews of the seat's moves.
        account: account of the seat.
        luck_after: luck of the seat after its last move.
        plies: number of moves of the game, or `None` if it is unfinished.
    """
    line = [(0, account.start)]
    for move in moves:
        if move.candidates:
            value = move.candidates[move.chosen_index].value
            line += [(move.ply - 1, value - move.choice), (move.ply, value)]
    if plies is not None:
        line.append((plies, account.result))
    return SeatReview(
        name=name,
        account=account,
        luck_after=luck_after,
        accuracy=accuracy([move.loss for move in moves if move.candidates]),
        loss=sum(move.loss for move in moves),
        ratings={rating: sum(move.rating == rating for move in moves) for rating in RATINGS},
        line=tuple(line),
    )


def _turning_points(moves: Sequence[MoveReview], luck_after: Sequence[Luck]) -> tuple[TurningPoint, ...]:
    """Return the largest changes of value, in the order of the game."""
    found = [TurningPoint(move.ply, move.seat, "choice", -move.loss) for move in moves]
    found += [TurningPoint(move.ply, move.seat, "luck", move.luck.change) for move in moves]
    found += [TurningPoint(len(moves) + 1, seat, "luck", luck.change) for seat, luck in enumerate(luck_after)]
    large = sorted(
        (turn for turn in found if abs(turn.change) >= MIN_SWING), key=lambda turn: -abs(turn.change)
    )
    chosen: list[TurningPoint] = []
    for turn in large:
        if len(chosen) < MAX_TURNING_POINTS and not any(_mirrored(turn, other) for other in chosen):
            chosen.append(turn)
    return tuple(sorted(chosen, key=lambda turn: (turn.ply, turn.cause == "choice")))


def _mirrored(turn: TurningPoint, other: TurningPoint) -> bool:
    """Return whether two points are the same chance event, good for one seat and bad for another."""
    adjacent = abs(turn.ply - other.ply) <= 1 and turn.seat != other.seat
    return adjacent and turn.cause == other.cause == "luck" and (turn.change > 0) != (other.change > 0)


def turning_point_text(turn: TurningPoint, review: Review, wording: Wording) -> str:
    """Return a sentence about a turning point."""
    name = review.seats[turn.seat].name
    if turn.cause == "choice":
        move, loss = wording.move(review.moves[turn.ply - 1].move), wording.change(-turn.change)
        return wording.text("turn_choice", ply=turn.ply, name=name, move=move, change=loss)
    where = "luck" if turn.ply <= len(review.moves) else "end"
    good = "good" if turn.change > 0 else "bad"
    change = wording.change(turn.change, signed=True)
    return wording.text(f"turn_{where}_{good}", ply=turn.ply, name=name, change=change)


def summary_rows(review: Review, wording: Wording) -> Iterator[list[str]]:
    """Yield the rows of the table of luck and skill: the header, then a row per seat."""
    text, change = wording.text, wording.change
    end = "result" if review.over else "so_far"
    symbols = (RATING_SYMBOLS[rating] for rating in BAD_RATINGS)
    yield [*map(text, ("player", "accuracy", "start", "luck", "play", end)), *symbols]
    for seat in review.seats:
        account = seat.account
        yield [
            seat.name,
            "–" if seat.accuracy is None else wording.number(seat.accuracy),
            wording.value(account.start),
            change(account.luck, signed=True),
            change(account.choices + account.others, signed=True),
            wording.value(account.result),
            *(str(seat.ratings[rating]) for rating in BAD_RATINGS),
        ]
