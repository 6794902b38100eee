"""How a server is set up: everything a host can choose, in one place."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

import msgspec
from platformdirs import user_data_path

from ..errors import AxioError

PROGRAM = __name__.partition(".")[0]
ENVIRONMENT = f"{PROGRAM.upper()}_SERVER"
DATABASE_FILE = f"{PROGRAM}.sqlite3"


class BadSetting(AxioError):
    """A server cannot be started the way it was asked for."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server needs to know. Worker processes get it through the environment."""

    data: str = ""  # the folder for the database and the key; by default the user's data folder
    database: str = ""  # an address such as postgresql://name@host/base; by default a file in `data`
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    origins: tuple[str, ...] = ()  # addresses under which the page is served, where a proxy stands before it
    secure: bool = False  # whether cookies travel over HTTPS only
    limits: bool = True  # whether clients that ask too often are told to wait
    bot_threads: int = 0  # how many bots think at the same time; 0 is one a processor
    bot_seconds: float = 1.0
    most_tables: int = 100_000  # unfinished tables that are kept at the same time
    most_tables_each: int = 40  # unfinished tables that one person may have opened
    logs: str = "info"

    @property
    def folder(self) -> Path:
        """The folder that the server keeps its files in."""
        return Path(self.data) if self.data else user_data_path(PROGRAM, appauthor=False)

    @property
    def url(self) -> str:
        """The database's address for SQLAlchemy."""
        if not self.database:
            return f"sqlite+aiosqlite:///{self.folder / DATABASE_FILE}"
        scheme, found, rest = self.database.partition("://")
        drivers = {
            "postgresql": "postgresql+asyncpg",
            "postgres": "postgresql+asyncpg",
            "sqlite": "sqlite+aiosqlite",
        }
        if not found or scheme not in drivers:
            raise BadSetting(
                f"the database {scheme}://… is not known: "
                "write postgresql://user:password@host/name or sqlite:///file"
            )
        return f"{drivers[scheme]}://{rest}"

    @property
    def dsn(self) -> str:
        """The address of a PostgreSQL database, for its own driver."""
        return self.url.replace("postgresql+asyncpg", "postgresql", 1)

    @property
    def on_postgresql(self) -> bool:
        """Whether the database is a PostgreSQL server."""
        return self.url.startswith("postgresql")

    def check(self) -> Self:
        """These settings. Raises `BadSetting` if they contradict each other."""
        if not self.on_postgresql and self.workers > 1:
            raise BadSetting(
                "several worker processes need PostgreSQL, which carries events between them: "
                "add --database postgresql://… or use one worker"
            )
        for origin in self.origins:
            if not origin.startswith(("http://", "https://")):
                raise BadSetting(f"the origin {origin!r} should look like https://example.org")
        return self

    def to_environment(self) -> None:
        """Leave these settings to processes that are started from here."""
        os.environ[ENVIRONMENT] = msgspec.json.encode(asdict(self)).decode()

    @classmethod
    def from_environment(cls) -> Self:
        """The settings that the process was started with."""
        found = msgspec.json.decode(os.environ.get(ENVIRONMENT, "{}"))
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in found.items() if name in known}
        return cls(**{**values, "origins": tuple(values.get("origins", ()))})
