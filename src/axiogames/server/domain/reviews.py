"""Reviews of games that are over: made in the background, one after another, once for all processes."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Literal, TypeVar, TypeVarTuple

import msgspec
from msgspec import Struct
from sqlalchemy.exc import SQLAlchemyError

from ...analysis.review.accounts import Account, Luck
from ...analysis.review.judging import JudgedMove, Judgement
from ...analysis.review.remarks import Remark
from ...analysis.review.review import (
    Decision,
    Review,
    TurningPoint,
    assemble_review,
    decisions,
    judge_decision,
    start_values,
)
from ...analysis.review.values import Rating, ValueScale
from ...model.record import Record, record_of
from ...moves import Move
from ...players import Budget
from ..presentation.board_json import describer
from ..presentation.messages import BoardTile
from ..storage.reviews import PendingReview, ReviewStore
from ..transport.rate_limits import REMEMBERED
from ..work_pools import Busy
from .bots import RETRY, Bots
from .game_state import GameState, now
from .refusals import Refused, Unavailable
from .room import Room

KEPT = 2000  # reviews; a game whose review was forgotten can be reviewed again
MOST_WAITING, MOST_OF_STRANGERS = 30, 10  # reviews that are asked for and not yet made
MOST_EACH, MOST_NEAR = 2, 5  # of one person, and of one network
CLAIMED, RENEWED = 30_000, 2_000  # milliseconds: how long a claim holds, and how often it is renewed
IDLE = 5.0  # seconds until a process looks for reviews that were asked for elsewhere
START_ROLLOUTS = 200  # for each deal that tells what a game alone is worth before it begins

Work = TypeVarTuple("Work")
Done = TypeVar("Done")

log = logging.getLogger(__name__)


class Tried(Struct, frozen=True):
    """A move that was compared: what it is worth, how far behind the best, and where its tile would lie."""

    move: str
    value: float
    error: float
    behind: float
    behind_error: float
    tile: BoardTile | None


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

    terms: ValueScale
    seats: list[ReviewedSeat]
    moves: list[ReviewedMove]
    turning: list[TurningPoint]


class ReviewState(Struct, frozen=True):
    """How far a review is: so many moves of so many are judged."""

    state: Literal["none", "running", "ready"]
    done: int = 0
    total: int = 0
    review: ReviewMessage | None = None


class Reviews:
    """Makes reviews, one at a time, and finds those that were made.

    What is asked for is kept in the database, so every process answers the same, and a restart loses nothing.
    Players of a table go before others, and networks and people take turns.
    """

    def __init__(self, bots: Bots, store: ReviewStore, find: Callable[[str], Awaitable[Room]]) -> None:
        self._bots = bots
        self._store = store
        self._find = find
        self._asking = asyncio.Lock()
        self._asked = asyncio.Event()
        self._served: OrderedDict[tuple[str, str], int] = (
            OrderedDict()
        )  # whose turn it was, by group and person
        self._turns = 0

    async def find(self, table_id: str) -> bytes:
        """Return the `ReviewState` of a table as JSON."""
        kept = await self._store.find(table_id)
        if kept is None:
            return msgspec.json.encode(ReviewState("none"))
        if kept.body is None:
            return msgspec.json.encode(ReviewState("running", kept.done, kept.total))
        return b'{"state":"ready","done":%d,"total":%d,"review":%s}' % (*kept[:2], kept.body.encode())

    async def exists(self, table_id: str) -> bool:
        """Whether a review is ready or on its way."""
        return await self._store.find(table_id) is not None

    async def ask(self, game: GameState, person: str) -> None:
        """See to it that the review of a game that is over is made.

        Raises:
            Refused: This person waits for other reviews.
            Busy: Too many people do.
        """
        assert game.table is not None, "a game that is over has begun"
        async with self._asking:  # nobody else is counted in meanwhile
            pending = await self._store.list_pending()
            if all(one.table_id != game.config.id for one in pending):
                self._check_room(pending, person, played=bool(game.seats_of(person)))
                await self._store.request(game.config.id, person, game.table.plies, now())
        self._asked.set()

    def _check_room(self, pending: Sequence[PendingReview], person: str, *, played: bool) -> None:
        if sum(one.person == person for one in pending) >= MOST_EACH:
            raise Refused("too_fast", "wait until the reviews that you have asked for are ready")
        near = self._group(person)
        others = [
            one for one in pending if one.played or not played
        ]  # who plays goes before those who do not
        if (
            sum(self._group(one.person) == near for one in others) >= MOST_NEAR
            or len(others) >= MOST_WAITING
            or (not played and sum(not one.played for one in others) >= MOST_OF_STRANGERS)
        ):
            raise Busy("many reviews are being made")

    def _group(self, person: str) -> str:
        return self._bots.askers.of(person).group

    # ------------------------------------------------------------ making them

    async def work(self, alone: bool) -> None:
        """Make the reviews that are asked for, forever. `lock_directory`: no other process does."""
        if alone:
            await self._store.release_all()
        while True:
            self._asked.clear()
            if not await self.make_next():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._asked.wait(), IDLE)

    async def make_next(self) -> bool:
        """Make the review whose turn it is; whether there was one."""
        begun = now()
        free = [
            one
            for one in await self._store.list_pending()
            if one.claimed_until is None or one.claimed_until < begun
        ]
        for one in sorted(free, key=self._turn):
            claim = _Claim(self._store, one.table_id, now() + CLAIMED)
            if await claim.take():
                self._serve(one.person)
                await self._make(one, claim)
                return True
        return False

    def _turn(self, one: PendingReview) -> tuple[bool, int, int, int]:
        """Sort key: players first, then the network and the person who were served the longest time ago."""
        group = self._group(one.person)
        served = (self._served.get((group, "")), self._served.get((group, one.person)))
        return (not one.played, served[0] or 0, served[1] or 0, one.asked)

    def _serve(self, person: str) -> None:
        self._turns += 1
        group = self._group(person)
        for key in ((group, ""), (group, person)):
            self._served[key] = self._turns
            self._served.move_to_end(key)
        while len(self._served) > REMEMBERED:
            self._served.popitem(last=False)

    async def _make(self, one: PendingReview, claim: _Claim) -> None:
        try:
            await claim.finish(msgspec.json.encode(await self._reviewed(one.table_id, claim)).decode())
            await self._store.prune(KEPT)
        except _Lost:
            log.warning("another process makes the review of table %s now", one.table_id)
        except (SQLAlchemyError, OSError, Unavailable):
            raise  # the claim runs out by itself
        except asyncio.CancelledError:
            with suppress(SQLAlchemyError, OSError):
                await self._store.release(one.table_id, claim.until)
            raise
        except Exception:
            log.exception("the game at table %s could not be reviewed", one.table_id)
            await self._store.discard(one.table_id, claim.until)

    async def _reviewed(self, table_id: str, claim: _Claim) -> ReviewMessage:
        game = (await self._find(table_id)).game
        assert game.table is not None, "a game that is over has begun"
        record = record_of(game.table, [seat.name for seat in game.seats])
        made = await self._work(_all_decisions, record)
        quickly = Budget(self._bots.review_budget.seconds, START_ROLLOUTS)
        start = await self._work(start_values, record, quickly, table_id)
        judgements = []
        for decision in made:
            judgements.append(await self._work(judge_decision, decision, self._bots.review_budget, table_id))
            await claim.hold(len(judgements))
        return await self._work(_whole, record, made, judgements, start, table_id)

    async def _work(self, what: Callable[[*Work], Done], *given: *Work) -> Done:
        """Do a part of a review, when there is room for it."""
        while True:
            try:
                return await self._bots.work(what, *given)
            except Busy:
                if self._bots.advice.closed:
                    raise Unavailable from None
                await asyncio.sleep(RETRY)


class _Lost(Exception):
    """Another process has taken over."""


class _Claim:
    """The claim of this process to a review."""

    def __init__(self, store: ReviewStore, table_id: str, until: int) -> None:
        self._store = store
        self._table_id = table_id
        self.until = until

    async def take(self) -> bool:
        """Claim the review; whether nobody else has."""
        return await self._store.claim(self._table_id, now(), self.until)

    async def hold(self, done: int) -> None:
        """Note how much is done, when it is time to renew the claim. Raises `_Lost`."""
        until = now() + CLAIMED
        if until - self.until >= RENEWED:
            if not await self._store.renew(self._table_id, self.until, until, done):
                raise _Lost
            self.until = until

    async def finish(self, body: str) -> None:
        """Keep the review. Raises `_Lost`."""
        if not await self._store.finish(self._table_id, self.until, body):
            raise _Lost


def _whole(
    record: Record,
    made: Sequence[Decision],
    judgements: Sequence[Judgement],
    start: Sequence[float],
    table_id: str,
) -> ReviewMessage:
    return _told(assemble_review(record, made, judgements, start, table_id), made)


def _all_decisions(record: Record) -> list[Decision]:
    return list(decisions(record))


def _told(found: Review, made: Sequence[Decision]) -> ReviewMessage:
    steps = _steps(made)
    variant = made[0].view.variant if made else None

    def tried(one: JudgedMove) -> Tried:
        move = Move.parse(one.move)
        tile = describer(variant).board_tile(move.tile, move.at) if variant and move.kind == "place" else None
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
