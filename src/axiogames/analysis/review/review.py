"""The review of a whole game: every decision judged from what the seat knew, and what made the difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET, Struct

from ... import __version__
from ...games.runtime.state import OFFER
from ...model.events import Draw, Event, Exchange, Pass, Place
from ...model.record import Record, carry_out, replay
from ...model.table import Table
from ...model.view import View
from ...moves import Move
from ...players.interface import Budget
from ...rng import Generator
from .accounts import Account, Luck, Step, balance
from .judging import Candidate, Judgement, judge
from .remarks import Remark, Wording, remark_on
from .values import RATINGS, Rating, Terms, accuracy, rated, terms_of, value_of_result

EVEN = 0.5  # what a game is worth before it begins, to everybody alike
DEALS = 12  # opening positions that tell what a game alone is worth before it begins
TURNING = 6  # turning points that are told
SWING = 0.04  # the least change that is one


@dataclass(frozen=True, slots=True)
class Decision:
    """A move that was made, and what its player knew before; `drew` is what had come into the hand since."""

    ply: int
    seat: int
    move: Move
    action: int
    view: View
    drew: tuple[str, ...]


class Reviewed(Struct, frozen=True):
    """A move of the game: what was known, the moves compared, what it gave up, and what there is to say.

    `luck` is what had happened to the seat by chance since its move before, `choice` what the move was then
    worth more than simple play.
    """

    ply: int
    seat: int
    move: str
    known: str
    drew: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    made: int
    rating: Rating
    given_up: float
    choice: float
    luck: Luck
    remark: Remark
    rollouts: int


class Turn(Struct, frozen=True):
    """A turning point: what changed for a seat at its move, by its choice or by luck before it.

    Luck after a seat's last move has the number of moves of the game plus one.
    """

    ply: int
    seat: int
    by: str
    change: float


class Summary(Struct, frozen=True):
    """How a seat played: its account, its accuracy from 0 to 100, how often it made moves of each rating.

    `given_up` is what it gave up in all, and `line` what its game was worth after so many moves.
    """

    name: str
    account: Account
    luck_after: Luck
    accuracy: float | None
    given_up: float
    ratings: dict[Rating, int]
    line: tuple[tuple[int, float], ...]


class Review(Struct, frozen=True):
    """A game as it can be learned from."""

    game: str
    name: str
    options: dict[str, bool]
    tracks: tuple[str, ...]
    cap: int | None
    terms: Terms
    over: bool
    seats: tuple[Summary, ...]
    moves: tuple[Reviewed, ...]
    turning: tuple[Turn, ...]
    seed: str
    version: str = __version__


def decisions(record: Record) -> Iterator[Decision]:
    """Every decision of a recorded game, with the view of its seat. Raises `InvalidRecord`."""
    replay(record)  # whatever is wrong with the record is said before anything is made of it
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
        carry_out(table, event)
        if isinstance(event, Draw):
            drew[event.p] += event.tiles


def _move(table: Table, event: Event) -> Move | None:
    """The move that an event tells of. A hand that is kept has no event: a draw follows the offer."""
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


def judged(decision: Decision, budget: Budget, seed: int | str) -> Judgement:
    """The judgement of a decision. Every move of a game has guesses of its own."""
    return judge(decision.view, decision.action, budget, Generator(f"{seed}/{decision.ply}").bits() >> 1)


def start_of(record: Record, budget: Budget, seed: int | str) -> list[float]:
    """What the game was worth to every seat before it began.

    With several players that is an even game; who moves first is luck. Alone it is found by other deals.
    """
    if len(record.players) > 1:
        return [EVEN] * len(record.players)
    variant = replay(record, upto=0).variant
    values = []
    for deal in range(DEALS):
        table = Table(variant, f"{seed}/deal {deal}")
        judgement = judge(table.view(0), None, budget, Generator(f"{seed}/deal {deal}").bits() >> 1)
        values += [judgement.simple.value] if judgement.candidates else []
    return [sum(values) / len(values)]


def review(
    record: Record,
    made: Sequence[Decision],
    judgements: Sequence[Judgement],
    start: Sequence[float],
    seed: int | str,
) -> Review:
    """Put the judgements of all decisions of a record together."""
    variant = made[0].view.variant if made else replay(record).variant
    players = len(record.players)
    result = None
    if record.result is not UNSET:
        points = [tuple(scores.values()) for scores in record.result.scores]
        result = [value_of_result(variant, record.result.place, points, seat) for seat in range(players)]
    free = [n for n, judgement in enumerate(judgements) if not judgement.forced]
    steps = [_step(made[n].seat, judgements[n]) for n in free]
    accounts, lucks, after = balance(players, start, steps, result)
    luck = dict(zip(free, lucks, strict=True))
    moves = tuple(
        _reviewed(decision, judgement, luck.get(n, Luck(0.0, 0.0)))
        for n, (decision, judgement) in enumerate(zip(made, judgements, strict=True))
    )
    return Review(
        game=record.game,
        name=variant.game.name,
        options=dict(record.options),
        tracks=variant.tracks,
        cap=variant.cap,
        terms=terms_of(variant),
        over=result is not None,
        seats=tuple(
            _summary(record.players[seat], seat, moves, accounts[seat], after[seat], result is not None)
            for seat in range(players)
        ),
        moves=moves,
        turning=_turning(moves, after),
        seed=str(seed),
    )


def _step(seat: int, judgement: Judgement) -> Step:
    return Step(seat, judgement.simple, judgement.choice, judgement.lead)


def _reviewed(decision: Decision, judgement: Judgement, luck: Luck) -> Reviewed:
    given_up = judgement.given_up
    return Reviewed(
        ply=decision.ply,
        seat=decision.seat,
        move=str(decision.move),
        known=decision.view.position,
        drew=decision.drew,
        candidates=judgement.candidates,
        made=judgement.made,
        rating="forced" if judgement.forced else rated(given_up),
        given_up=given_up,
        choice=judgement.choice.value,
        luck=luck,
        remark=remark_on(decision.view, judgement),
        rollouts=judgement.rollouts,
    )


def _summary(
    name: str, seat: int, moves: Sequence[Reviewed], account: Account, after: Luck, over: bool
) -> Summary:
    own = [move for move in moves if move.seat == seat]
    line = [(0, account.start)]
    for move in own:
        if move.candidates:
            worth = move.candidates[move.made].value
            line += [(move.ply - 1, worth - move.choice), (move.ply, worth)]
    if over:
        line.append((len(moves), account.result))
    return Summary(
        name=name,
        account=account,
        luck_after=after,
        accuracy=accuracy([move.given_up for move in own if move.candidates]),
        given_up=sum(move.given_up for move in own),
        ratings={rating: sum(move.rating == rating for move in own) for rating in RATINGS},
        line=tuple(line),
    )


def _turning(moves: Sequence[Reviewed], after: Sequence[Luck]) -> tuple[Turn, ...]:
    """The largest changes, in the order of the game."""
    found = [Turn(move.ply, move.seat, "choice", -move.given_up) for move in moves]
    found += [Turn(move.ply, move.seat, "luck", move.luck.change) for move in moves]
    found += [Turn(len(moves) + 1, seat, "luck", luck.change) for seat, luck in enumerate(after)]
    large = sorted((turn for turn in found if abs(turn.change) >= SWING), key=lambda turn: -abs(turn.change))
    kept: list[Turn] = []
    for turn in large:
        if len(kept) < TURNING and not any(_mirrored(turn, other) for other in kept):
            kept.append(turn)
    return tuple(sorted(kept, key=lambda turn: (turn.ply, turn.by == "choice")))


def _mirrored(turn: Turn, other: Turn) -> bool:
    """Whether two seats tell of the same luck: what is good for the one is bad for the other."""
    near = abs(turn.ply - other.ply) <= 1 and turn.seat != other.seat
    return near and turn.by == other.by == "luck" and (turn.change > 0) != (other.change > 0)


SIGNS: Mapping[Rating, str] = {
    "forced": "–",
    "best": "✓",
    "good": "·",
    "inaccuracy": "?!",
    "mistake": "?",
    "blunder": "??",
}
WRONG: tuple[Rating, ...] = ("inaccuracy", "mistake", "blunder")


def told_turn(turn: Turn, review: Review, wording: Wording) -> str:
    """A turning point as a sentence."""
    name = review.seats[turn.seat].name
    if turn.by == "choice":
        move, lost = wording.move(review.moves[turn.ply - 1].move), wording.change(-turn.change)
        return wording.say("turn_choice", ply=turn.ply, name=name, move=move, change=lost)
    where = "luck" if turn.ply <= len(review.moves) else "end"
    good = "good" if turn.change > 0 else "bad"
    change = wording.change(turn.change, signed=True)
    return wording.say(f"turn_{where}_{good}", ply=turn.ply, name=name, change=change)


def summary_rows(review: Review, wording: Wording) -> Iterator[list[str]]:
    """The table of luck and skill: its head, then a row for each seat."""
    say, change = wording.say, wording.change
    end = "result" if review.over else "so_far"
    signs = (SIGNS[rating] for rating in WRONG)
    yield [*map(say, ("player", "accuracy", "start", "luck", "play", end)), *signs]
    for seat in review.seats:
        account = seat.account
        yield [
            seat.name,
            "–" if seat.accuracy is None else wording.number(seat.accuracy),
            wording.value(account.start),
            change(account.luck, signed=True),
            change(account.choices + account.others, signed=True),
            wording.value(account.result),
            *(str(seat.ratings[rating]) for rating in WRONG),
        ]
