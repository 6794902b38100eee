"""People: guests, accounts, authentication and sessions.

A visitor becomes a guest at once but is stored in the database only with the first action.
"""

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
from ..storage.journal import notify_person_changed
from ..storage.schema import people, revoked_sessions
from ..work_pools import BACKGROUND_NICENESS, QueueLimits, WorkPool
from .names import USERNAME, InvalidName, check_not_reserved, clean_name, clean_username, guest_name
from .tokens import Person, SessionSockets, Token, Tokens, hash_phrase, new_phrase

__all__ = [
    "Banned",
    "InvalidCredentials",
    "InvalidName",
    "PasswordRequired",
    "People",
    "Person",
    "clean_name",
]

MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 8, 128
HASH_QUEUE_LIMITS = QueueLimits(20, 5, "too many passwords are being checked")
MAX_CACHED_PEOPLE = 20_000
CACHE_SECONDS = 5.0  # lifetime of a cached person, in case a notification is lost
DAY_MS = 86_400_000
QUERY_BATCH = 200  # people per query, to keep transactions short
READ_ATTEMPTS = 3
MAX_REVOKED_SESSIONS = 200  # individually ended sessions per person, all read with the person


class InvalidCredentials(AxioError):
    """The phrase or password is wrong."""


class PasswordRequired(AxioError):
    """The operation requires the person's current password."""

    def __init__(self) -> None:
        super().__init__("the current password is required: send it with the request")


class Banned(AxioError):
    """The host has banned this person."""

    def __init__(self) -> None:
        super().__init__("the host of this server has banned you")


class People:
    """Reads, authenticates and changes people. People read recently are cached."""

    def __init__(self, database: Database, keys: Sequence[str]) -> None:
        self._database = database
        self.keys = tuple(keys)
        self.tokens = Tokens(self.keys)
        self.sessions = SessionSockets()
        self._hasher = PasswordHasher()
        # One thread: a hash takes 64 MB and all cores for 0.1 s. Logins go first (priority 0).
        self.hashing = WorkPool("password", 1, HASH_QUEUE_LIMITS, priorities=2, niceness=BACKGROUND_NICENESS)
        self._cache: dict[str, tuple[float, Person]] = {}
        self._reading: dict[str, object] = {}  # reads in progress by person, removed if the person changes

    @property
    def oldest_key(self) -> str:
        """The oldest secret key."""
        return self.keys[-1]

    def close(self) -> None:
        """Refuse further password checks."""
        self.hashing.close()

    def new_guest(self) -> Person:
        """Return a new guest, not yet stored."""
        person_id = secrets.token_hex(10)
        return Person(person_id, guest_name(person_id))

    # ------------------------------------------------------------ authentication by token

    async def find_by_token(self, token: str) -> Person | None:
        """Return the person of a cookie or token, `None` if it is invalid or its session has ended."""
        content = self.tokens.read(token)
        return await self.find_by_session(content) if content is not None else None

    async def find_by_session(self, token: Token) -> Person | None:
        """Return the person of a verified token, `None` if its session has ended."""
        person = await self.find(token.person)
        return person if person.allows(token) else None

    async def find(self, person_id: str) -> Person:
        """Return a person, from the cache or the database. Guests who are not stored have default values."""
        cached = self._cache.get(person_id)
        if cached and time.monotonic() - cached[0] < CACHE_SECONDS:
            return cached[1]
        (person,) = await self.refresh([person_id])
        return person

    async def refresh(self, ids: Sequence[str]) -> list[Person]:
        """Read people from the database and close the WebSockets of ended sessions."""
        refreshed: list[Person] = []
        for start in range(0, len(ids), QUERY_BATCH):
            refreshed += await self._read(ids[start : start + QUERY_BATCH])
        for person in refreshed:
            self.sessions.close_ended(person)
        return refreshed

    async def _read(self, ids: Sequence[str]) -> list[Person]:
        for _ in range(READ_ATTEMPTS):
            reading = object()
            self._reading.update(dict.fromkeys(ids, reading))
            try:
                rows, revoked = await self._rows(ids)
                current = [_person(key, rows.get(key), revoked.get(key, ())) for key in ids]
                changed = False
                for person in current:
                    if self._reading.get(person.id) is reading:
                        self._add_to_cache(person)
                    changed = changed or person.id not in self._reading
            finally:
                for key in ids:
                    if self._reading.get(key) is reading:
                        del self._reading[key]
            if not changed:
                break  # no person changed during the read
        return current

    async def _rows(self, ids: Sequence[str]) -> tuple[dict[str, RowMapping], dict[str, set[str]]]:
        revoked: dict[str, set[str]] = {}
        async with self._database.reading() as connection:
            result = await connection.execute(select(people).where(people.c.id.in_(ids)))
            rows = {row["id"]: row for row in result.mappings()}
            ended = select(revoked_sessions.c.person, revoked_sessions.c.session)
            for person, session in await connection.execute(ended.where(revoked_sessions.c.person.in_(ids))):
                revoked.setdefault(person, set()).add(session)
        return rows, revoked

    def _add_to_cache(self, person: Person) -> None:
        self._cache.pop(person.id, None)
        self._cache[person.id] = time.monotonic(), person
        if len(self._cache) > MAX_CACHED_PEOPLE:
            del self._cache[next(iter(self._cache))]

    def token(self, person: Person, session: str = "") -> str:
        """Return a signed token for a person, by default for a new session."""
        return self.tokens.make(person.id, person.epoch, session)

    async def reload(self, person_id: str) -> Person:
        """Drop a person from the cache, after a change, and read it again."""
        self._forget(person_id)
        return await self.find(person_id)

    def _forget(self, person_id: str) -> None:
        self._cache.pop(person_id, None)
        self._reading.pop(person_id, None)

    # ------------------------------------------------------------ changes

    async def ensure_stored(self, person: Person) -> Person:
        """Return the person after storing it in the database, if necessary."""
        if not person.stored:
            row = {"id": person.id, "name": person.name, "epoch": person.epoch, "created": _now()}
            try:
                async with self._database.writing() as connection:
                    await connection.execute(insert(people), [{**row, "seen": _today()}])
            except IntegrityError:
                pass  # stored by a concurrent request
            self._forget(person.id)
            return await self.find(person.id)
        return person

    async def record_visit(self, person: Person) -> None:
        """Store the day of a person's last visit."""
        if person.stored and (person.seen or 0) < _today():
            visit = update(people).where(people.c.id == person.id).values(seen=_today())
            with suppress(Unavailable):  # the page also works with a read-only database
                async with self._database.writing() as connection:
                    await connection.execute(visit)
            self._forget(person.id)

    async def rename(self, person: Person, name: str) -> Person:
        """Change a person's name. Raises `InvalidName`."""
        return await self._change(await self.ensure_stored(person), name=clean_name(name))

    async def issue_phrase(self, person: Person, network: str = "", *, old: str | None = None) -> str:
        """Return a new secret phrase. Only its hash is stored.

        If a password is set, `old` must match it: a phrase outlives the sessions, so a session alone is not
        enough.

        Raises:
            PasswordRequired: A password is set and `old` is missing.
            InvalidCredentials: `old` is not the password.
            Busy: Too many passwords are being checked.
        """
        checked = await self.check_password(person, old, network)
        phrase = new_phrase()
        unchanged = people.c.password.is_(None) if checked is None else people.c.password == checked
        await self._change(
            await self.ensure_stored(person), unchanged, phrase=hash_phrase(phrase, self.keys[0])
        )
        return phrase

    async def set_password(
        self, person: Person, username: str, password: str, network: str = "", *, old: str | None = None
    ) -> Person:
        """Set a person's username and password.

        If a password is set already, `old` must match it. The change then ends all sessions and deletes the
        phrase, and the caller needs a new token.

        Raises:
            InvalidName: The username or the password is not allowed.
            PasswordRequired: A password is set and `old` is missing.
            InvalidCredentials: `old` is not the password.
            Busy: Too many passwords are being checked.
        """
        username = clean_username(username)
        if username != person.username:
            check_not_reserved(username)
        if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
            raise InvalidName(
                "bad_password",
                f"a password has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters, "
                f"not {len(password)}",
            )
        checked = await self.check_password(person, old, network)
        hashed = await self.hashing.run(
            self._hasher.hash, password, requester=network or person.id, priority=1
        )
        values: dict[str, Any] = {"username": username, "password": hashed}
        try:
            if checked is None:
                unset = people.c.password.is_(None)
                return await self._change(await self.ensure_stored(person), unset, **values)
            return await self._end_sessions(person, people.c.password == checked, phrase=None, **values)
        except IntegrityError:
            raise InvalidName("name_taken", f"the username {username} is taken; choose another") from None

    async def check_password(self, person: Person, password: str | None, network: str = "") -> str | None:
        """Check a person's password and return its stored hash, `None` if no password is set.

        Raises:
            PasswordRequired: A password is set and `password` is missing.
            InvalidCredentials: `password` is wrong.
            Busy: Too many passwords are being checked.
        """
        row = await self._find_row(people.c.id == person.id)
        hashed: str | None = row["password"] if row else None
        if hashed is None:
            return None
        if password is None:
            raise PasswordRequired
        if not await self.hashing.run(self._verify, hashed, password, requester=network or person.id):
            raise InvalidCredentials("the password is wrong")
        return hashed

    async def find_by_phrase(self, phrase: str) -> Person:
        """Return the person with a phrase. Raises `InvalidCredentials` or `Banned`."""
        hashes = [hash_phrase(phrase, key) for key in self.keys]
        row = await self._find_row(people.c.phrase.in_(hashes))
        if row is None:
            raise InvalidCredentials(
                "unknown phrase: check its letters, or create a new one on the other device"
            )
        person = await self.reload(row["id"])
        if row["phrase"] != hashes[0]:  # rehash it with the newest key, so that the old key can be removed
            with suppress(InvalidCredentials):  # the phrase has just been replaced
                await self._change(person, people.c.phrase == row["phrase"], phrase=hashes[0])
        return _admit(person, row)

    async def find_by_password(self, username: str, password: str, network: str = "") -> Person:
        """Return the person with a username and password. Checks are queued fairly by network.

        Raises:
            InvalidCredentials: The username or the password is wrong.
            Banned: The host has banned the person.
            Busy: Too many passwords are being checked.
        """
        username = username.strip().lower()
        row = await self._find_row(people.c.username == username) if USERNAME.fullmatch(username) else None
        hashed = row["password"] if row else None
        # Hash for unknown usernames too, so that the response time does not reveal which ones exist.
        attempt = password[:MAX_PASSWORD_LENGTH]
        matches = await self.hashing.run(
            self._verify, hashed or self._dummy_hash, attempt, requester=network or username
        )
        if row is None or hashed is None or not matches:
            raise InvalidCredentials("the username or the password is wrong")
        return _admit(await self.reload(row["id"]), row)

    @property
    def _dummy_hash(self) -> str:
        return "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$" + "A" * 43

    def _verify(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False

    # ------------------------------------------------------------ sessions

    async def sign_out_everywhere(self, person: Person) -> Person:
        """End all sessions of a person: cookies and tokens become invalid, WebSockets are closed."""
        return await self._end_sessions(await self.ensure_stored(person))

    async def end_session(self, token: Token) -> Person:
        """End one session: its cookie or token becomes invalid, its WebSockets are closed.

        After `MAX_REVOKED_SESSIONS` individually ended sessions, all sessions of the person end.
        """
        person = await self.find(token.person)
        if len(person.revoked) >= MAX_REVOKED_SESSIONS:
            return await self.sign_out_everywhere(person)
        row = {"person": token.person, "session": token.session, "at": _now()}
        try:
            async with self._database.writing() as connection:
                await connection.execute(insert(revoked_sessions), [row])
                await notify_person_changed(connection, token.person)
        except IntegrityError:
            pass  # already ended
        return await self.reload(token.person)

    async def ban(self, person: Person) -> Person:
        """Ban a person: refuse all requests and close the WebSockets."""
        return await self._change(await self.ensure_stored(person), banned=_now())

    async def unban(self, person: Person) -> Person:
        """Lift the ban of a person."""
        return await self._change(person, banned=None)

    async def _end_sessions(self, person: Person, *conditions: ColumnElement[bool], **values: Any) -> Person:
        return await self._change(person, *conditions, epoch=people.c.epoch + 1, **values)

    async def _change(self, person: Person, *conditions: ColumnElement[bool], **values: Any) -> Person:
        """Change a person in the database and notify all processes.

        Raises `InvalidCredentials` if a condition does not hold.
        """
        async with self._database.writing() as connection:
            changed = update(people).where(people.c.id == person.id, *conditions).values(**values)
            if not (await connection.execute(changed)).rowcount and conditions:
                raise InvalidCredentials("the password was changed at this moment; try again")
            if "epoch" in values:  # a new epoch covers the individually ended sessions
                ended = revoked_sessions.c.person == person.id
                await connection.execute(delete(revoked_sessions).where(ended))
            await notify_person_changed(connection, person.id)
        return await self.reload(person.id)

    async def _find_row(self, condition: ColumnElement[bool]) -> RowMapping | None:
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
        stored=True,
        banned=row["banned"] is not None,
        erased=row["created"] == 0,  # set by `PersonalData.erase`
        seen=row["seen"],
        revoked=ended,
    )


def _admit(person: Person, checked: RowMapping) -> Person:
    """Return the person after a successful check of `checked`. Raises `Banned` or `InvalidCredentials`."""
    if person.banned:
        raise Banned
    if person.epoch != checked["epoch"]:  # all sessions were ended during the check
        raise InvalidCredentials("all sessions were ended at this moment; try again")
    return person


def _now() -> int:
    return time.time_ns() // 1_000_000


def _today() -> int:
    return _now() // DAY_MS * DAY_MS
