"""Reviews of finished games: computed in the background, one at a time, by one process for all."""

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
from ...web.board_json import BoardTile, board_encoder
from ..storage.reviews import PendingReview, ReviewStore
from ..work_pools import Busy
from .bots import RETRY_SECONDS, Bots
from .game_state import GameState, now
from .refusals import Refused, Unavailable
from .room import Room

MAX_REVIEWS = 2000  # stored; a game whose review was dropped can be reviewed again
MAX_PENDING, MAX_PENDING_OF_SPECTATORS = 30, 10  # pending reviews, and those requested by spectators
MAX_PER_PERSON, MAX_PER_NETWORK = 2, 5  # pending reviews
MAX_SERVED = 50_000  # people and networks whose last review is in memory
CLAIM_LIFETIME, CLAIM_RENEWAL = 30_000, 2_000  # milliseconds
IDLE_SECONDS = 5.0  # between two checks for reviews that other processes have requested
START_ROLLOUTS = 200  # per deal, for the value of a solo game before its start

Args = TypeVarTuple("Args")
Result = TypeVar("Result")

log = logging.getLogger(__name__)


class ComparedMove(Struct, frozen=True):
    """A candidate move: its value, its distance to the best move, and its tile on the board."""

    move: str
    value: float
    error: float
    behind: float
    behind_error: float
    tile: BoardTile | None


class ReviewedMove(Struct, frozen=True):
    """A move of the game. `at` is the step of the replay with the position before it."""

    ply: int
    at: int
    seat: int
    move: str
    rating: Rating
    given_up: float
    luck: Luck
    made: int
    candidates: list[ComparedMove]
    remark: Remark


class ReviewedSeat(Struct, frozen=True):
    """Summary of a seat. `line` lists its value after steps of the replay, as (step, value)."""

    account: Account
    given_up: float
    accuracy: float | None
    ratings: dict[Rating, int]
    line: list[tuple[int, float]]


class ReviewMessage(Struct, frozen=True):
    """Review of a game, with the steps of the replay that it refers to."""

    terms: ValueScale
    seats: list[ReviewedSeat]
    moves: list[ReviewedMove]
    turning: list[TurningPoint]


class ReviewState(Struct, frozen=True):
    """State of a review, with the numbers of judged moves and of all moves."""

    state: Literal["none", "running", "ready"]
    done: int = 0
    total: int = 0
    review: ReviewMessage | None = None


class Reviews:
    """Computes reviews, one at a time, and returns finished ones.

    Requests are stored in the database, so all processes know the same reviews, and a restart loses none.
    Players of a table come before spectators. After that, the network and the person that were served least
    recently come first.
    """

    def __init__(self, bots: Bots, store: ReviewStore, find: Callable[[str], Awaitable[Room]]) -> None:
        self._bots = bots
        self._store = store
        self._find = find
        self._request_lock = asyncio.Lock()
        self._requested = asyncio.Event()
        # By group and person: ordinal of the last review that was computed for them.
        self._served: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._computed = 0  # reviews

    async def find(self, table_id: str) -> bytes:
        """Return the `ReviewState` of a table as JSON."""
        stored = await self._store.find(table_id)
        if stored is None:
            return msgspec.json.encode(ReviewState("none"))
        if stored.body is None:
            return msgspec.json.encode(ReviewState("running", stored.done, stored.total))
        return b'{"state":"ready","done":%d,"total":%d,"review":%s}' % (
            stored.done,
            stored.total,
            stored.body.encode(),
        )

    async def exists(self, table_id: str) -> bool:
        """Return whether a review is ready or pending."""
        return await self._store.find(table_id) is not None

    async def request(self, game: GameState, person: str) -> None:
        """Request the review of a finished game.

        Raises:
            Refused: Too many reviews of this person are pending.
            Busy: Too many reviews are pending.
        """
        assert game.table is not None, "a finished game has been started"
        async with self._request_lock:  # held until the request counts as pending
            pending = await self._store.list_pending()
            if all(review.table_id != game.config.id for review in pending):
                self._check_capacity(pending, person, played=bool(game.seats_of(person)))
                await self._store.request(game.config.id, person, game.table.plies, now())
        self._requested.set()

    def _check_capacity(self, pending: Sequence[PendingReview], person: str, *, played: bool) -> None:
        if sum(review.person == person for review in pending) >= MAX_PER_PERSON:
            raise Refused("too_fast", "wait until the reviews that you have requested are ready")
        group = self._group(person)
        # Players are served first, so requests of spectators do not count for them.
        ahead = [review for review in pending if review.played or not played]
        if (
            sum(self._group(review.person) == group for review in ahead) >= MAX_PER_NETWORK
            or len(ahead) >= MAX_PENDING
            or (not played and sum(not review.played for review in ahead) >= MAX_PENDING_OF_SPECTATORS)
        ):
            raise Busy("too many reviews are pending")

    def _group(self, person: str) -> str:
        return self._bots.requesters.of(person).group

    # ------------------------------------------------------------ computing

    async def run(self, single_process: bool) -> None:
        """Compute the requested reviews, forever.

        Args:
            single_process: Whether this is the only process, so that stored claims are from before its start.
        """
        if single_process:
            await self._store.release_all()
        while True:
            self._requested.clear()
            if not await self.compute_next():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._requested.wait(), IDLE_SECONDS)

    async def compute_next(self) -> bool:
        """Compute the next pending review and return whether there was one."""
        started = now()
        unclaimed = [
            review
            for review in await self._store.list_pending()
            if review.claimed_until is None or review.claimed_until < started
        ]
        for review in sorted(unclaimed, key=self._sort_key):
            claim = _Claim(self._store, review.table_id, now() + CLAIM_LIFETIME)
            if await claim.take():
                self._note_served(review.person)
                await self._compute(review, claim)
                return True
        return False

    def _sort_key(self, review: PendingReview) -> tuple[bool, int, int, int]:
        """Return the sort key: players first, then the network and the person least recently served."""
        group = self._group(review.person)
        served = (self._served.get((group, "")), self._served.get((group, review.person)))
        return (not review.played, served[0] or 0, served[1] or 0, review.asked)

    def _note_served(self, person: str) -> None:
        self._computed += 1
        group = self._group(person)
        for key in ((group, ""), (group, person)):
            self._served[key] = self._computed
            self._served.move_to_end(key)
        while len(self._served) > MAX_SERVED:
            self._served.popitem(last=False)

    async def _compute(self, review: PendingReview, claim: _Claim) -> None:
        try:
            await claim.finish(msgspec.json.encode(await self._review(review.table_id, claim)).decode())
            await self._store.prune(MAX_REVIEWS)
        except _ClaimLost:
            log.warning("another process has taken over the review of table %s", review.table_id)
        except (SQLAlchemyError, OSError, Unavailable):
            raise  # the claim expires by itself
        except asyncio.CancelledError:
            with suppress(SQLAlchemyError, OSError):
                await self._store.release(review.table_id, claim.until)
            raise
        except Exception:
            log.exception("the game at table %s could not be reviewed", review.table_id)
            await self._store.discard(review.table_id, claim.until)

    async def _review(self, table_id: str, claim: _Claim) -> ReviewMessage:
        game = (await self._find(table_id)).game
        assert game.table is not None, "a finished game has been started"
        record = record_of(game.table, [seat.name for seat in game.seats])
        moves = await self._run_job(_all_decisions, record)
        start_budget = Budget(self._bots.review_budget.seconds, START_ROLLOUTS)
        start = await self._run_job(start_values, record, start_budget, table_id)
        judgements = []
        for decision in moves:
            judgements.append(
                await self._run_job(judge_decision, decision, self._bots.review_budget, table_id)
            )
            await claim.hold(len(judgements))
        return await self._run_job(_assemble_message, record, moves, judgements, start, table_id)

    async def _run_job(self, job: Callable[[*Args], Result], *args: *Args) -> Result:
        """Run a part of a review in a thread, once the queue has room for it."""
        while True:
            try:
                return await self._bots.run_in_background(job, *args)
            except Busy:
                if self._bots.advice.closed:
                    raise Unavailable from None
                await asyncio.sleep(RETRY_SECONDS)


class _ClaimLost(Exception):
    """Another process has claimed the review."""


class _Claim:
    """Claim of this process to a review. It expires unless it is renewed."""

    def __init__(self, store: ReviewStore, table_id: str, until: int) -> None:
        self._store = store
        self._table_id = table_id
        self.until = until

    async def take(self) -> bool:
        """Claim the review and return `True`, unless another process has claimed it."""
        return await self._store.claim(self._table_id, now(), self.until)

    async def hold(self, done: int) -> None:
        """Renew the claim if it is time to, and store the number of judged moves. Raises `_ClaimLost`."""
        until = now() + CLAIM_LIFETIME
        if until - self.until >= CLAIM_RENEWAL:
            if not await self._store.renew(self._table_id, self.until, until, done):
                raise _ClaimLost
            self.until = until

    async def finish(self, body: str) -> None:
        """Store the review. Raises `_ClaimLost`."""
        if not await self._store.finish(self._table_id, self.until, body):
            raise _ClaimLost


def _assemble_message(
    record: Record,
    moves: Sequence[Decision],
    judgements: Sequence[Judgement],
    start: Sequence[float],
    table_id: str,
) -> ReviewMessage:
    return _review_message(assemble_review(record, moves, judgements, start, table_id), moves)


def _all_decisions(record: Record) -> list[Decision]:
    return list(decisions(record))


def _review_message(review: Review, moves: Sequence[Decision]) -> ReviewMessage:
    steps = _replay_steps(moves)
    variant = moves[0].view.variant if moves else None

    def compare(judged: JudgedMove) -> ComparedMove:
        move = Move.parse(judged.move)
        tile = None
        if variant and move.kind == "place":
            tile = board_encoder(variant).board_tile(move.tile, move.at)
        return ComparedMove(judged.move, judged.value, judged.error, judged.behind, judged.behind_error, tile)

    return ReviewMessage(
        terms=review.scale,
        seats=[
            ReviewedSeat(
                seat.account,
                seat.loss,
                seat.accuracy,
                seat.ratings,
                [(steps[ply], value) for ply, value in seat.line],
            )
            for seat in review.seats
        ],
        moves=[
            ReviewedMove(
                move.ply,
                steps[move.ply - 1],
                move.seat,
                move.move,
                move.rating,
                move.loss,
                move.luck,
                move.chosen_index,
                [compare(candidate) for candidate in move.candidates],
                move.remark,
            )
            for move in review.moves
        ],
        turning=list(review.turning_points),
    )


def _replay_steps(moves: Sequence[Decision]) -> list[int]:
    """Return the step of the replay after each move, starting with 0. Keeping a hand is not a step."""
    steps = [0]
    for decision in moves:
        steps.append(steps[-1] + (decision.move.kind != "keep"))
    return steps
