"""People: guests from their first visit, kept when they first do something."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import RowMapping, insert, select, update
from sqlalchemy.exc import IntegrityError

from ...errors import AxioError
from ..storage.database import Database
from ..storage.schema import people
from .phrases import hashed, new_phrase
from .tokens import Tokens

LONGEST_NAME = 24
SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 128
REMEMBERED = 20_000
FRESH = 10.0  # seconds that what is known of a person is taken for true
_USERNAME = re.compile(r"[a-z0-9][a-z0-9_.-]{1,23}")
_UNPRINTABLE = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


class BadName(AxioError):
    """A name, username or password that cannot be taken; `code` is for programs."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class WrongSecret(AxioError):
    """A phrase or password that belongs to nobody here."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is known by a cookie or a token."""

    id: str
    name: str
    epoch: int = 0
    username: str | None = None
    phrase: bool = False
    kept: bool = False  # whether the database knows them


def clean_name(name: str) -> str:
    """A name as it is shown. Raises `BadName`."""
    name = " ".join(_UNPRINTABLE.sub("", name).split())
    if not 1 <= len(name) <= LONGEST_NAME:
        raise BadName("bad_name", f"a name has 1 to {LONGEST_NAME} characters")
    return name


def guest_name(person: str) -> str:
    """What a guest is called before choosing a name."""
    return f"Guest {person[:4]}"


class People:
    """Everybody the server knows."""

    def __init__(self, database: Database, key: str) -> None:
        self._database = database
        self.key = key
        self.tokens = Tokens(key)
        self._hasher = PasswordHasher()
        self._known: dict[str, tuple[float, Person]] = {}

    def arrive(self) -> Person:
        """A new guest."""
        person = secrets.token_hex(10)
        return Person(person, guest_name(person))

    async def by_token(self, token: str) -> Person | None:
        """The person that a cookie or token names, if it is still good."""
        read = self.tokens.read(token)
        if read is None:
            return None
        person = await self.find(read[0])
        return person if person.epoch == read[1] else None

    async def find(self, person_id: str) -> Person:
        """What is known of a person; a guest who has not done anything yet is known by the cookie alone."""
        known = self._known.get(person_id)
        if known and time.monotonic() - known[0] < FRESH:
            return known[1]
        async with self._database.reading() as connection:
            found = await connection.execute(select(people).where(people.c.id == person_id))
            row = found.mappings().first()
        return self._remember(_person(row) if row else Person(person_id, guest_name(person_id)))

    def _remember(self, person: Person) -> Person:
        self._known.pop(person.id, None)
        self._known[person.id] = time.monotonic(), person
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        return person

    def token(self, person: Person) -> str:
        """The token to hand to a person."""
        return self.tokens.make(person.id, person.epoch)

    # ------------------------------------------------------------ changes

    async def keep(self, person: Person) -> Person:
        """See to it that the database knows a person."""
        if not person.kept:
            row = {"id": person.id, "name": person.name, "epoch": person.epoch, "created": _now()}
            try:
                async with self._database.writing() as connection:
                    await connection.execute(insert(people), [row])
            except IntegrityError:
                pass  # somebody's second request at the same time
            self._known.pop(person.id, None)
            return await self.find(person.id)
        return person

    async def rename(self, person: Person, name: str) -> Person:
        """Give a person another name. Raises `BadName`."""
        return await self._change(await self.keep(person), name=clean_name(name))

    async def give_phrase(self, person: Person) -> str:
        """A new secret phrase; it is not kept, only its hash."""
        phrase = new_phrase()
        await self._change(await self.keep(person), phrase=hashed(phrase, self.key))
        return phrase

    async def set_password(self, person: Person, username: str, password: str) -> Person:
        """Let a person come back by username and password. Raises `BadName`."""
        username = username.strip().lower()
        if not _USERNAME.fullmatch(username):
            raise BadName(
                "bad_username",
                "a username has 2 to 24 of a-z, 0-9, '.', '_' and '-', and starts with a letter or digit",
            )
        if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
            raise BadName(
                "bad_password", f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters"
            )
        secret = await asyncio.to_thread(self._hasher.hash, password)
        try:
            return await self._change(await self.keep(person), username=username, password=secret)
        except IntegrityError:
            raise BadName("name_taken", f"the username {username} is taken; choose another") from None

    async def by_phrase(self, phrase: str) -> Person:
        """The person with a phrase. Raises `WrongSecret`."""
        row = await self._one(people.c.phrase == hashed(phrase, self.key))
        if row is None:
            raise WrongSecret(
                "nobody here has this phrase; check its letters, or make a new one on the other device"
            )
        return self._remember(_person(row))

    async def by_password(self, username: str, password: str) -> Person:
        """The person with a username and password. Raises `WrongSecret`."""
        username = username.strip().lower()
        row = await self._one(people.c.username == username) if _USERNAME.fullmatch(username) else None
        secret = row["password"] if row else None
        # As much work for a name that does not exist: how long it takes tells nothing.
        good = await asyncio.to_thread(self._verify, secret or self._nobody, password[:LONGEST_PASSWORD])
        if row is None or secret is None or not good:
            raise WrongSecret("the username or the password is wrong")
        return self._remember(_person(row))

    @property
    def _nobody(self) -> str:
        return "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21lc2FsdA$" + "A" * 43

    def _verify(self, secret: str, password: str) -> bool:
        try:
            return self._hasher.verify(secret, password)
        except (VerificationError, InvalidHashError):
            return False

    async def forget_devices(self, person: Person) -> Person:
        """Make every cookie and token of a person worthless."""
        return await self._change(await self.keep(person), epoch=person.epoch + 1)

    async def _change(self, person: Person, **values: object) -> Person:
        async with self._database.writing() as connection:
            await connection.execute(update(people).where(people.c.id == person.id).values(**values))
        self._known.pop(person.id, None)
        return await self.find(person.id)

    async def _one(self, condition: object) -> RowMapping | None:
        async with self._database.reading() as connection:
            return (await connection.execute(select(people).where(condition))).mappings().first()  # type: ignore[arg-type]


def _person(row: RowMapping) -> Person:
    return Person(row["id"], row["name"], row["epoch"], row["username"], row["phrase"] is not None, True)


def _now() -> int:
    return time.time_ns() // 1_000_000
