"""People: guests from their first visit, kept when they first do something."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import ColumnElement, RowMapping, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from ...errors import AxioError
from ..domain.refusals import Unavailable
from ..storage.database import Database
from ..storage.journal import announce_person
from ..storage.schema import people, revoked_sessions
from ..work_pools import BACKGROUND, Bounds, WorkPool
from .names import USERNAME, BadName, check_not_reserved, clean_name, clean_username, guest_name
from .tokens import Person, Sessions, Token, Tokens, hashed, new_phrase

__all__ = ["BadName", "Banned", "PasswordNeeded", "People", "Person", "WrongSecret", "clean_name"]

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 128
MOST_HASHES = Bounds(20, 5, "too many passwords are being checked")
REMEMBERED = 20_000
FRESH = 5.0  # seconds that what is known of a person is taken for true, if a notice of a change is lost
DAY = 86_400_000  # milliseconds
AT_ONCE = 200  # people in one query: the tables go on meanwhile
TRIES = 3
MOST_ENDED = 200  # sessions of a person that were ended one by one: they are read whenever the person is


class WrongSecret(AxioError):
    """A phrase or password that belongs to nobody here."""


class PasswordNeeded(AxioError):
    """Something that only whoever knows the password may do."""

    def __init__(self) -> None:
        super().__init__("this needs your password: send the one that is set now")


class Banned(AxioError):
    """The host does not let this person in."""

    def __init__(self) -> None:
        super().__init__("the host of this server has banned you")


class People:
    """Everybody the server knows."""

    def __init__(self, database: Database, keys: Sequence[str]) -> None:
        self._database = database
        self.keys = tuple(keys)
        self.tokens = Tokens(self.keys)
        self.sessions = Sessions()
        self._hasher = PasswordHasher()
        # One thread: a hash takes 64 MB and all processors for a tenth of a second. Logins go first (kind 0).
        self.hashing = WorkPool("password", 1, MOST_HASHES, kinds=2, niceness=BACKGROUND)
        self._known: dict[str, tuple[float, Person]] = {}
        self._reading: dict[str, object] = {}  # who is being read; gone from here if they change meanwhile

    @property
    def oldest_key(self) -> str:
        """The key that has been in use for longest."""
        return self.keys[-1]

    def close(self) -> None:
        """Stop checking passwords."""
        self.hashing.close()

    def arrive(self) -> Person:
        """A new guest."""
        person = secrets.token_hex(10)
        return Person(person, guest_name(person))

    # ------------------------------------------------------------ who somebody is

    async def by_token(self, token: str) -> Person | None:
        """The person that a cookie or token names, if it is still good."""
        read = self.tokens.read(token)
        return await self.by_session(read) if read is not None else None

    async def by_session(self, token: Token) -> Person | None:
        """The person that a token names which was made here, if it is still good."""
        person = await self.find(token.person)
        return person if person.allows(token) else None

    async def find(self, person_id: str) -> Person:
        """What is known of a person; a guest who has not done anything yet is known by the cookie alone."""
        known = self._known.get(person_id)
        if known and time.monotonic() - known[0] < FRESH:
            return known[1]
        (person,) = await self.refresh([person_id])
        return person

    async def refresh(self, ids: Sequence[str]) -> list[Person]:
        """Read people from the database, and end the WebSockets of sessions that are over."""
        found: list[Person] = []
        for first in range(0, len(ids), AT_ONCE):
            found += await self._read(ids[first : first + AT_ONCE])
        for person in found:
            self.sessions.check(person)
        return found

    async def _read(self, ids: Sequence[str]) -> list[Person]:
        for _ in range(TRIES):
            reading = object()
            self._reading.update(dict.fromkeys(ids, reading))
            try:
                rows, revoked = await self._rows(ids)
                found = [_person(one, rows.get(one), revoked.get(one, ())) for one in ids]
                changed = False
                for person in found:
                    if self._reading.get(person.id) is reading:
                        self._remember(person)
                    changed = changed or person.id not in self._reading
            finally:
                for one in ids:
                    if self._reading.get(one) is reading:
                        del self._reading[one]
            if not changed:
                break  # nobody has changed while they were read
        return found

    async def _rows(self, ids: Sequence[str]) -> tuple[dict[str, RowMapping], dict[str, set[str]]]:
        revoked: dict[str, set[str]] = {}
        async with self._database.reading() as connection:
            found = await connection.execute(select(people).where(people.c.id.in_(ids)))
            rows = {row["id"]: row for row in found.mappings()}
            ended = select(revoked_sessions.c.person, revoked_sessions.c.session)
            for person, session in await connection.execute(ended.where(revoked_sessions.c.person.in_(ids))):
                revoked.setdefault(person, set()).add(session)
        return rows, revoked

    def _remember(self, person: Person) -> None:
        self._known.pop(person.id, None)
        self._known[person.id] = time.monotonic(), person
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]

    def token(self, person: Person, session: str = "") -> str:
        """The token to hand to a person; of a new session if none is named."""
        return self.tokens.make(person.id, person.epoch, session)

    async def heard(self, person_id: str) -> Person:
        """Another process has changed somebody: what is true now."""
        self._forget(person_id)
        return await self.find(person_id)

    def _forget(self, person_id: str) -> None:
        self._known.pop(person_id, None)
        self._reading.pop(person_id, None)

    # ------------------------------------------------------------ changes

    async def keep(self, person: Person) -> Person:
        """See to it that the database knows a person."""
        if not person.kept:
            row = {"id": person.id, "name": person.name, "epoch": person.epoch, "created": _now()}
            try:
                async with self._database.writing() as connection:
                    await connection.execute(insert(people), [{**row, "seen": _today()}])
            except IntegrityError:
                pass  # somebody's second request at the same time
            self._forget(person.id)
            return await self.find(person.id)
        return person

    async def note_visit(self, person: Person) -> None:
        """Remember the day on which a person was here last."""
        if person.kept and (person.seen or 0) < _today():
            seen = update(people).where(people.c.id == person.id).values(seen=_today())
            with suppress(Unavailable):  # the page works with a database that can only be read
                async with self._database.writing() as connection:
                    await connection.execute(seen)
            self._forget(person.id)

    async def rename(self, person: Person, name: str) -> Person:
        """Give a person another name. Raises `BadName`."""
        return await self._change(await self.keep(person), name=clean_name(name))

    async def give_phrase(self, person: Person, asker: str = "", *, old: str | None = None) -> str:
        """A new secret phrase; it is not kept, only its hash.

        Where a password is set, `old` must be it: a phrase outlives the sessions, so a session alone does
        not make one.

        Raises:
            PasswordNeeded: A password is set, and `old` is missing.
            WrongSecret: `old` is not the password.
            Busy: Too many passwords are being checked.
        """
        before = await self.check_password(person, old, asker)
        phrase = new_phrase()
        same = people.c.password.is_(None) if before is None else people.c.password == before
        await self._change(await self.keep(person), same, phrase=hashed(phrase, self.keys[0]))
        return phrase

    async def set_password(
        self, person: Person, username: str, password: str, asker: str = "", *, old: str | None = None
    ) -> Person:
        """Let a person come back by username and password.

        Where a password is set already, `old` must be it, all sessions end, and the phrase is void: whoever
        asks needs a new token.

        Raises:
            BadName: The username or the password cannot be taken.
            PasswordNeeded: A password is set, and `old` is missing.
            WrongSecret: `old` is not the password.
            Busy: Too many passwords are being checked.
        """
        username = clean_username(username)
        if username != person.username:
            check_not_reserved(username)
        if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
            raise BadName(
                "bad_password", f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters"
            )
        before = await self.check_password(person, old, asker)
        secret = await self.hashing.run(self._hasher.hash, password, asker=asker or person.id, kind=1)
        values: dict[str, Any] = {"username": username, "password": secret}
        try:
            if before is None:
                unset = people.c.password.is_(None)
                return await self._change(await self.keep(person), unset, **values)
            return await self._end_sessions(person, people.c.password == before, phrase=None, **values)
        except IntegrityError:
            raise BadName("name_taken", f"the username {username} is taken; choose another") from None

    async def check_password(self, person: Person, password: str | None, asker: str = "") -> str | None:
        """Return the hash of a person's password, `None` where none is set.

        Raises `PasswordNeeded` if one is set and `password` is missing, `WrongSecret` if it is another, or
        `Busy`.
        """
        row = await self._one(people.c.id == person.id)
        secret: str | None = row["password"] if row else None
        if secret is None:
            return None
        if password is None:
            raise PasswordNeeded
        if not await self.hashing.run(self._verify, secret, password, asker=asker or person.id):
            raise WrongSecret("the password is wrong")
        return secret

    async def by_phrase(self, phrase: str) -> Person:
        """The person with a phrase. Raises `WrongSecret`, or `Banned`."""
        hashes = [hashed(phrase, key) for key in self.keys]
        row = await self._one(people.c.phrase.in_(hashes))
        if row is None:
            raise WrongSecret(
                "nobody here has this phrase; check its letters, or make a new one on the other device"
            )
        person = await self.heard(row["id"])
        if row["phrase"] != hashes[0]:  # so that the old key can be left out one day
            with suppress(WrongSecret):  # there is another phrase by now
                await self._change(person, people.c.phrase == row["phrase"], phrase=hashes[0])
        return _let_in(person, row)

    async def by_password(self, username: str, password: str, asker: str = "") -> Person:
        """The person with a username and password; addresses take turns.

        Raises `WrongSecret`, `Banned` or `Busy`.
        """
        username = username.strip().lower()
        row = await self._one(people.c.username == username) if USERNAME.fullmatch(username) else None
        secret = row["password"] if row else None
        # As much work for a name that does not exist: how long it takes tells nothing.
        tried = password[:LONGEST_PASSWORD]
        good = await self.hashing.run(self._verify, secret or self._nobody, tried, asker=asker or username)
        if row is None or secret is None or not good:
            raise WrongSecret("the username or the password is wrong")
        return _let_in(await self.heard(row["id"]), row)

    @property
    def _nobody(self) -> str:
        return "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$" + "A" * 43

    def _verify(self, secret: str, password: str) -> bool:
        try:
            return self._hasher.verify(secret, password)
        except (VerificationError, InvalidHashError):
            return False

    # ------------------------------------------------------------ sessions

    async def forget_devices(self, person: Person) -> Person:
        """End all sessions of a person: every cookie and token is worthless, every WebSocket is closed."""
        return await self._end_sessions(await self.keep(person))

    async def end_session(self, token: Token) -> Person:
        """End one session: its cookie or token is worthless, its WebSockets are closed.

        When `MOST_ENDED` of a person were ended one by one, all of them are.
        """
        person = await self.find(token.person)
        if len(person.revoked) >= MOST_ENDED:
            return await self.forget_devices(person)
        row = {"person": token.person, "session": token.session, "at": _now()}
        try:
            async with self._database.writing() as connection:
                await connection.execute(insert(revoked_sessions), [row])
                await announce_person(connection, token.person)
        except IntegrityError:
            pass  # it was ended before
        return await self.heard(token.person)

    async def ban(self, person: Person) -> Person:
        """Let a person in no more: what they ask is refused, their WebSockets are closed."""
        return await self._change(await self.keep(person), banned=_now())

    async def unban(self, person: Person) -> Person:
        """Let a person in again."""
        return await self._change(person, banned=None)

    async def _end_sessions(self, person: Person, *conditions: ColumnElement[bool], **values: Any) -> Person:
        return await self._change(person, *conditions, epoch=people.c.epoch + 1, **values)

    async def _change(self, person: Person, *conditions: ColumnElement[bool], **values: Any) -> Person:
        """Change a person, in this process and all others.

        Raises `WrongSecret` if a condition does not hold.
        """
        async with self._database.writing() as connection:
            changed = update(people).where(people.c.id == person.id, *conditions).values(**values)
            if not (await connection.execute(changed)).rowcount and conditions:
                raise WrongSecret("the password has been changed meanwhile")
            if "epoch" in values:  # it covers the sessions that were ended one by one, and no later ones
                ended = revoked_sessions.c.person == person.id
                await connection.execute(delete(revoked_sessions).where(ended))
            await announce_person(connection, person.id)
        return await self.heard(person.id)

    async def _one(self, condition: ColumnElement[bool]) -> RowMapping | None:
        async with self._database.reading() as connection:
            return (await connection.execute(select(people).where(condition))).mappings().first()


def _person(person_id: str, row: RowMapping | None, revoked: Iterable[str]) -> Person:
    ended = frozenset(revoked)
    if row is None:
        return Person(person_id, guest_name(person_id), revoked=ended)
    return Person(
        row["id"],
        row["name"],
        row["epoch"],
        row["username"],
        row["phrase"] is not None,
        kept=True,
        banned=row["banned"] is not None,
        erased=row["created"] == 0,
        seen=row["seen"],
        revoked=ended,
    )


def _let_in(person: Person, checked: RowMapping) -> Person:
    """The person whose secret was right when the row was read. Raises `Banned` or `WrongSecret`."""
    if person.banned:
        raise Banned
    if person.epoch != checked["epoch"]:  # perhaps because somebody else knows the secret
        raise WrongSecret("all sessions were ended at this moment; try again")
    return person


def _now() -> int:
    return time.time_ns() // 1_000_000


def _today() -> int:
    return _now() // DAY * DAY
