"""Reviews of games that are over: made in the background, one after another, and kept for a while."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ...moves import Move
from ...players import Budget
from ...record import Record, record_of
from ...review.balance import Account, Luck
from ...review.game import Decision, Review, Turn, decisions, review, start_of
from ...review.judging import Candidate
from ...review.rating import Rating
from ...review.remarks import Remark
from ...review.terms import Terms
from .bots import Bots
from .describe import describer
from .game import Game
from .messages import OnBoard
from .refusals import Refused

KEPT = 200  # reviews in memory
MOST_WAITING = 30  # reviews that are asked for and not yet made
START_ROLLOUTS = 200  # for each deal that tells what a game alone is worth before it begins

log = logging.getLogger(__name__)


class Tried(Struct, frozen=True):
    """A move that was compared: what it is worth, how far behind the best, and where its tile would lie."""

    move: str
    value: float
    error: float
    behind: float
    behind_error: float
    tile: OnBoard | None


class ReviewedMove(Struct, frozen=True):
    """A move of the game; `at` is the step of the replay that shows the position before it."""

    ply: int
    at: int
    seat: int
    move: str
    rating: Rating
    given_up: float
    luck: Luck
    made: int
    candidates: list[Tried]
    remark: Remark


class ReviewedSeat(Struct, frozen=True):
    """How a seat played; `line` is what its game was worth after so many steps of the replay."""

    account: Account
    given_up: float
    accuracy: float | None
    ratings: dict[Rating, int]
    line: list[tuple[int, float]]


class ReviewMessage(Struct, frozen=True):
    """The review of a game, with the points of the replay that it speaks of."""

    terms: Terms
    seats: list[ReviewedSeat]
    moves: list[ReviewedMove]
    turning: list[Turn]


class ReviewState(Struct, frozen=True):
    """How far a review is: so many moves of so many are judged."""

    state: Literal["none", "running", "ready"]
    done: int = 0
    total: int = 0
    review: ReviewMessage | None = None


@dataclass
class _Work:
    state: ReviewState
    task: asyncio.Task[None] | None = None


class Reviews:
    """The reviews of this process, by the ids of their tables. Only one is worked on at a time.

    The bots' threads do it, a move at a time, so that a bot waits for one move of one review at most.
    """

    def __init__(self, bots: Bots) -> None:
        self._bots = bots
        self._kept: dict[str, _Work] = {}
        self._alone = asyncio.Lock()

    def state(self, table_id: str) -> ReviewState:
        """How far the review of a table is."""
        work = self._kept.get(table_id)
        return work.state if work else ReviewState("none")

    def start(self, game: Game) -> ReviewState:
        """See to it that the review of a game that is over is made. Raises `Refused` if too many wait."""
        table_id = game.terms.id
        if table_id not in self._kept:
            if sum(work.task is not None for work in self._kept.values()) >= MOST_WAITING:
                raise Refused("too_fast", "many reviews are being made; try again in a few minutes")
            assert game.table is not None, "a game that is over has begun"
            record = record_of(game.table, [seat.name for seat in game.seats])
            work = self._kept[table_id] = _Work(ReviewState("running", 0, game.table.plies))
            work.task = asyncio.create_task(self._make(table_id, work, record))
            self._forget()
        return self.state(table_id)

    async def _make(self, table_id: str, work: _Work, record: Record) -> None:
        try:
            async with self._alone:
                work.state = ReviewState("ready", review=await self._reviewed(table_id, work, record))
        except Exception:
            log.exception("the game at table %s could not be reviewed", table_id)
            del self._kept[table_id]
        finally:
            work.task = None

    async def _reviewed(self, table_id: str, work: _Work, record: Record) -> ReviewMessage:
        made = await self._bots.work(_all_decisions, record)
        quickly = Budget(self._bots.review_budget.seconds, START_ROLLOUTS)
        start = await self._bots.work(start_of, record, quickly, table_id)
        judgements = []
        for decision in made:
            judgements.append(await self._bots.judge(decision, table_id))
            work.state = replace(work.state, done=len(judgements), total=len(made))
        return _told(review(record, made, judgements, start, table_id), made)

    def _forget(self) -> None:
        """Let go of the oldest, but of none that is being made."""
        spare = len(self._kept) - KEPT
        for table_id in [one for one, work in self._kept.items() if work.task is None][: max(spare, 0)]:
            del self._kept[table_id]

    def close(self) -> None:
        """Stop what is being made."""
        for work in self._kept.values():
            if work.task is not None:
                work.task.cancel()


def _all_decisions(record: Record) -> list[Decision]:
    return list(decisions(record))


def _told(found: Review, made: Sequence[Decision]) -> ReviewMessage:
    steps = _steps(made)
    variant = made[0].view.variant if made else None

    def tried(one: Candidate) -> Tried:
        move = Move.parse(one.move)
        tile = describer(variant).on_board(move.tile, move.at) if variant and move.kind == "place" else None
        return Tried(one.move, one.value, one.error, one.behind, one.behind_error, tile)

    return ReviewMessage(
        terms=found.terms,
        seats=[
            ReviewedSeat(
                seat.account,
                seat.given_up,
                seat.accuracy,
                seat.ratings,
                [(steps[ply], value) for ply, value in seat.line],
            )
            for seat in found.seats
        ],
        moves=[
            ReviewedMove(
                move.ply,
                steps[move.ply - 1],
                move.seat,
                move.move,
                move.rating,
                move.given_up,
                move.luck,
                move.made,
                [tried(one) for one in move.candidates],
                move.remark,
            )
            for move in found.moves
        ],
        turning=list(found.turning),
    )


def _steps(made: Sequence[Decision]) -> list[int]:
    """After each number of moves the step of the replay: who keeps a hand does nothing that it shows."""
    steps = [0]
    for decision in made:
        steps.append(steps[-1] + (decision.move.kind != "keep"))
    return steps
