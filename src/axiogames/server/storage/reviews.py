"""Reviews of finished games, kept for all processes.

A row without a body is a review that was asked for. The process that makes it claims the row for a while and
renews the claim as it goes on; a claim that has run out may be taken over. The time at which a claim runs out
also identifies it: what is written under a claim that somebody else has taken over changes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import and_, delete, exists, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from .database import Database
from .schema import reviews, seats

AT_ONCE = 100  # old reviews that are deleted together


class KeptReview(NamedTuple):
    """A review that is ready (with a body) or on its way."""

    done: int
    total: int
    body: str | None


class PendingReview(NamedTuple):
    """A review that is not ready. `played` tells whether the person who asked played at the table."""

    table_id: str
    person: str
    asked: int
    claimed_until: int | None
    total: int
    played: bool


class ReviewStore:
    """Reads and writes reviews."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, table_id: str) -> KeptReview | None:
        """Return the review of a table, `None` if nobody has asked for it."""
        query = select(reviews.c.done, reviews.c.total, reviews.c.body).where(reviews.c.table_id == table_id)
        async with self._database.reading() as connection:
            row = (await connection.execute(query)).first()
        return KeptReview(*row) if row else None

    async def ask(self, table_id: str, person: str, total: int, now: int) -> None:
        """Add a review that is to be made, unless there is one."""
        row = {"table_id": table_id, "person": person, "asked": now, "done": 0, "total": total}
        try:
            async with self._database.writing() as connection:
                await connection.execute(insert(reviews), [row])
        except IntegrityError:
            pass  # somebody else has asked at the same time, or the table was deleted

    async def pending(self) -> list[PendingReview]:
        """Return the reviews that are not ready, in the order in which they were asked for."""
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
        """Claim a review; whether nobody else has done so."""
        free = or_(reviews.c.claimed_until.is_(None), reviews.c.claimed_until < now)
        return await self._write(and_(_waiting(table_id), free), claimed_until=until)

    async def renew(self, table_id: str, claim: int, until: int, done: int) -> bool:
        """Renew a claim and note how much is done; whether the claim still held."""
        return await self._write(_claimed(table_id, claim), claimed_until=until, done=done)

    async def finish(self, table_id: str, claim: int, body: str) -> bool:
        """Keep a review that is ready; whether the claim still held."""
        done = {"done": reviews.c.total, "claimed_until": None, "body": body}
        return await self._write(_claimed(table_id, claim), **done)

    async def release(self, table_id: str, claim: int) -> None:
        """Give up a claim: the next process may begin."""
        await self._write(_claimed(table_id, claim), claimed_until=None)

    async def release_all(self) -> None:
        """Give up all claims. For the only process that makes reviews, after a restart."""
        await self._write(
            and_(reviews.c.body.is_(None), reviews.c.claimed_until.is_not(None)), claimed_until=None
        )

    async def drop(self, table_id: str, claim: int) -> None:
        """Delete a review that cannot be made. It can be asked for again."""
        async with self._database.writing() as connection:
            await connection.execute(delete(reviews).where(_claimed(table_id, claim)))

    async def forget(self, keep: int) -> None:
        """Delete the reviews that were asked for first, so that so many stay."""
        ready = reviews.c.body.is_not(None)
        old = select(reviews.c.table_id).where(ready).order_by(reviews.c.asked.desc())
        async with self._database.reading() as connection:
            found = (await connection.execute(old.offset(keep).limit(AT_ONCE))).scalars().all()
        if found:
            async with self._database.writing() as connection:
                await connection.execute(delete(reviews).where(reviews.c.table_id.in_(found), ready))

    async def _write(self, condition: Any, **values: Any) -> bool:
        async with self._database.writing() as connection:
            return bool(
                (await connection.execute(update(reviews).where(condition).values(**values))).rowcount
            )


def _waiting(table_id: str) -> Any:
    return and_(reviews.c.table_id == table_id, reviews.c.body.is_(None))


def _claimed(table_id: str, claim: int) -> Any:
    return and_(_waiting(table_id), reviews.c.claimed_until == claim)
