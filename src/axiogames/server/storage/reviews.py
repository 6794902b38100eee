"""Reviews of finished games, shared by all processes.

A row without a body is a requested review. The process that computes it claims the row for a limited time and
renews the claim; an expired claim may be taken over. The expiry time also identifies the claim, so writes
under a lost claim have no effect.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import and_, delete, exists, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from .database import Database
from .schema import reviews, seats

DELETE_BATCH = 100  # old reviews per transaction


class StoredReview(NamedTuple):
    """A review: finished (with a body) or in progress."""

    done: int
    total: int
    body: str | None


class PendingReview(NamedTuple):
    """An unfinished review. `played`: the person who requested it has a seat at the table."""

    table_id: str
    person: str
    asked: int
    claimed_until: int | None
    total: int
    played: bool


class ReviewStore:
    """Queries and updates of reviews."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, table_id: str) -> StoredReview | None:
        """Return the review of a table, `None` if none was requested."""
        query = select(reviews.c.done, reviews.c.total, reviews.c.body).where(reviews.c.table_id == table_id)
        async with self._database.reading() as connection:
            row = (await connection.execute(query)).first()
        return StoredReview(*row) if row else None

    async def request(self, table_id: str, person: str, total: int, now: int) -> None:
        """Request a review, unless one exists."""
        row = {"table_id": table_id, "person": person, "asked": now, "done": 0, "total": total}
        try:
            async with self._database.writing() as connection:
                await connection.execute(insert(reviews), [row])
        except IntegrityError:
            pass  # requested concurrently, or the table was deleted

    async def list_pending(self) -> list[PendingReview]:
        """Return the unfinished reviews in the order of the requests."""
        played = exists().where(seats.c.table_id == reviews.c.table_id, seats.c.person == reviews.c.person)
        columns = (reviews.c[name] for name in ("table_id", "person", "asked", "claimed_until", "total"))
        query = (
            select(*columns, played)
            .where(reviews.c.body.is_(None))
            .order_by(reviews.c.asked, reviews.c.table_id)
        )
        async with self._database.reading() as connection:
            return [PendingReview(*row[:5], bool(row[5])) for row in await connection.execute(query)]

    async def claim(self, table_id: str, now: int, until: int) -> bool:
        """Claim a review, and return whether it was free."""
        free = or_(reviews.c.claimed_until.is_(None), reviews.c.claimed_until < now)
        return await self._write(and_(_is_pending(table_id), free), claimed_until=until)

    async def renew(self, table_id: str, claim: int, until: int, done: int) -> bool:
        """Renew a claim and store the progress, and return whether the claim was still valid."""
        return await self._write(_is_claimed(table_id, claim), claimed_until=until, done=done)

    async def finish(self, table_id: str, claim: int, body: str) -> bool:
        """Store a finished review, and return whether the claim was still valid."""
        done = {"done": reviews.c.total, "claimed_until": None, "body": body}
        return await self._write(_is_claimed(table_id, claim), **done)

    async def release(self, table_id: str, claim: int) -> None:
        """Release a claim."""
        await self._write(_is_claimed(table_id, claim), claimed_until=None)

    async def release_all(self) -> None:
        """Release all claims. For a server with a single process, after a restart."""
        await self._write(
            and_(reviews.c.body.is_(None), reviews.c.claimed_until.is_not(None)), claimed_until=None
        )

    async def discard(self, table_id: str, claim: int) -> None:
        """Delete a review that failed. It can be requested again."""
        async with self._database.writing() as connection:
            await connection.execute(delete(reviews).where(_is_claimed(table_id, claim)))

    async def prune(self, keep: int) -> None:
        """Delete the oldest finished reviews except the newest `keep`."""
        ready = reviews.c.body.is_not(None)
        old = select(reviews.c.table_id).where(ready).order_by(reviews.c.asked.desc())
        async with self._database.reading() as connection:
            ids = (await connection.execute(old.offset(keep).limit(DELETE_BATCH))).scalars().all()
        if ids:
            async with self._database.writing() as connection:
                await connection.execute(delete(reviews).where(reviews.c.table_id.in_(ids), ready))

    async def _write(self, condition: Any, **values: Any) -> bool:
        async with self._database.writing() as connection:
            return bool(
                (await connection.execute(update(reviews).where(condition).values(**values))).rowcount
            )


def _is_pending(table_id: str) -> Any:
    return and_(reviews.c.table_id == table_id, reviews.c.body.is_(None))


def _is_claimed(table_id: str, claim: int) -> Any:
    return and_(_is_pending(table_id), reviews.c.claimed_until == claim)
