"""How a server is set up: everything a host can choose, in one place."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

import msgspec
from platformdirs import user_data_path
from sqlalchemy import make_url

from .. import PROGRAM
from ..errors import AxioError
from ..files import is_unicode
from .private_files import make_private_folder, open_to_others
from .transport.hosts import parse_host_name, parse_network, parse_page_address

ENVIRONMENT = f"{PROGRAM.upper()}_SERVER"
DATABASE_VARIABLE = f"{PROGRAM.upper()}_DATABASE"
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
    allowed_hosts: tuple[str, ...] = ()  # more names under which the server may be asked
    proxies: tuple[str, ...] = ()  # addresses and networks whose X-Forwarded-For and -Proto are believed
    secure: bool = False  # whether cookies travel over HTTPS only; origins with https:// imply it
    limits: bool = True  # whether clients that ask too often are told to wait
    bot_threads: int = 0  # how many bots think at the same time; 0 is one a processor
    bot_seconds: float = 1.0
    most_tables: int = 100_000  # unfinished tables that are kept at the same time
    most_tables_each: int = 40  # unfinished tables that one person may have opened
    keep_open: int = 7  # days; see operations/retention.py. 0 is forever
    keep_unfinished: int = 60
    keep_closed: int = 30
    keep_guests: int = 180
    keep_reviews: int = 30
    logs: str = "info"
    metrics_host: str = "127.0.0.1"
    metrics_port: int = 0  # where metrics are served, for each worker one port from here on; 0 is nowhere
    accept_new_key: bool = False  # whether a secret key is taken that the database was not used with

    @property
    def folder(self) -> Path:
        """The folder that the server keeps its files in."""
        return Path(self.data) if self.data else user_data_path(PROGRAM, appauthor=False)

    @property
    def metrics_ports(self) -> range:
        """The ports of metrics, one for each worker; none if they are not served."""
        return range(self.metrics_port, self.metrics_port + self.workers if self.metrics_port else 0)

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
        return driver_address(self.url)

    @property
    def on_postgresql(self) -> bool:
        """Whether the database is a PostgreSQL server."""
        return self.url.startswith("postgresql")

    def check(self) -> Self:
        """These settings. Raises `BadSetting` if they contradict each other."""
        if self.on_postgresql and not _is_address(self.dsn):
            raise BadSetting(
                "the address of the database cannot be read: write "
                "postgresql://user:password@host:port/name, in a password %40 for @, %2F for /, %3A for :"
            )
        if not self.on_postgresql and self.workers > 1:
            raise BadSetting(
                "several worker processes need PostgreSQL, which carries events between them: "
                "add --database postgresql://… or use one worker"
            )
        if not self.on_postgresql and sqlite_file(self.url) is None:
            raise BadSetting("a database in memory keeps nothing: write sqlite:///file or omit --database")
        if self.port in self.metrics_ports or self.metrics_ports.stop > 65_536:
            last = self.metrics_ports.stop - 1
            raise BadSetting(
                f"metrics need a port for each worker, {self.metrics_port} to {last}, below 65536 and "
                f"apart from --port {self.port}: choose another with --metrics-port"
            )
        for origin in self.origins:
            if parse_page_address(origin) is None:
                raise BadSetting(f"the origin {origin!r} should look like https://example.org")
        for name in self.allowed_hosts:
            if parse_host_name(name) is None:
                raise BadSetting(f"the host {name!r} should be a name such as play.example.org")
        for proxy in self.proxies:
            try:
                parse_network(proxy)
            except ValueError as error:
                raise BadSetting(
                    f"the proxy {proxy!r} should be an address or network such as 10.0.0.5 or 10.0.0.0/24 "
                    f"({error})"
                ) from None
        return self

    def to_environment(self) -> None:
        """Leave these settings to processes that are started from here."""
        os.environ[ENVIRONMENT] = msgspec.json.encode(asdict(self)).decode()

    @classmethod
    def from_environment(cls) -> Self:
        """The settings that the process was started with.

        They may hold a password, so they are taken out of the environment that children inherit.
        """
        found = msgspec.json.decode(os.environ.pop(ENVIRONMENT, "{}"))
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in found.items() if name in known}
        lists = {name: tuple(values.get(name, ())) for name in ("origins", "allowed_hosts", "proxies")}
        return cls(**{**values, **lists})


def driver_address(url: str) -> str:
    """The address of a PostgreSQL database for its own driver, from the one for SQLAlchemy."""
    return url.replace("postgresql+asyncpg", "postgresql", 1)


def _is_address(text: str) -> bool:
    try:
        urlsplit(text.encode().decode()).port  # noqa: B018
    except ValueError:  # among them bytes that are no UTF-8
        return False
    return True


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database, `None` for a database in memory."""
    address = make_url(url)
    name = address.database or ""
    if address.query.get("mode") == "memory":
        return None
    if name.startswith("file:"):
        name = unquote(name.removeprefix("file:").partition("?")[0])
    return None if name in ("", ":memory:") else Path(name)


KEY_FILE = "key"
KEY_VARIABLE = f"{PROGRAM.upper()}_KEY"
SHORTEST = 32
FINGERPRINT = "key"  # the name of the fact that the database keeps of the key


class WrongKey(BadSetting):
    """The keys are not those of the database."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"the secret key is not the one that this database was used with: name the old key, too "
            f"({KEY_VARIABLE}=NEW,OLD or a line each in {folder / KEY_FILE}), "
            "or start once with --accept-new-key, which signs everybody out and makes all phrases worthless"
        )


def secret_keys(folder: Path) -> tuple[str, ...]:
    """Return the secret keys, the one that signs first: from the environment, or from a file.

    The file is made if there is none. Several machines that serve the same database need the same keys.

    Raises:
        BadSetting: A key is too short, or others can read the file.
    """
    if given := os.environ.get(KEY_VARIABLE, ""):
        return _split(given, KEY_VARIABLE, "commas")
    make_private_folder(folder)
    path = folder / KEY_FILE
    if not path.exists():
        _make(path)
    if open_to_others(path):
        raise BadSetting(f"{path} can be read by others: it should have the mode 0600")
    return _split(path.read_text(encoding="utf-8", errors="replace").strip(), str(path), "line ends")


def fingerprint(key: str) -> str:
    """Return what a database may know of a key: it tells keys apart and nothing else."""
    return hmac.new(key.encode(), b"fingerprint", hashlib.sha256).hexdigest()[:32]


def check_fingerprint(known: str | None, keys: Sequence[str], folder: Path) -> None:
    """Raise `WrongKey` if a database was used with a key that is not among these."""
    if known is not None and known not in map(fingerprint, keys):
        raise WrongKey(folder)


def _split(text: str, where: str, separator: str) -> tuple[str, ...]:
    parts = re.split(r"[,\r\n]", text)
    stripped = [part.strip() for part in parts] if len(parts) > 1 else parts
    keys = list(dict.fromkeys(key for key in stripped if key))
    if not keys or min(map(len, keys)) < SHORTEST or not is_unicode(text):
        raise BadSetting(
            f"{where} should hold a key of at least {SHORTEST} characters in UTF-8, "
            f"or several of them separated by {separator}"
        )
    return tuple(keys)


def _make(path: Path) -> None:
    """Write a new key, whole or not at all. Of several processes that do so at once, one wins."""
    draft = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        _write(draft, secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was faster: its key counts
        except (OSError, AttributeError, NotImplementedError):  # a file system without links
            with suppress(FileExistsError):
                _write(path, draft.read_text(encoding="ascii"))
    finally:
        draft.unlink(missing_ok=True)


def _write(path: Path, key: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as out:
        if hasattr(os, "fchmod"):
            os.fchmod(file, 0o600)  # whatever the umask
        out.write(key)
        out.flush()
        os.fsync(file)
