"""Settings of a server, and its secret keys."""

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
from .private_files import accessible_to_others, make_private_folder
from .transport.hosts import parse_host_name, parse_network, parse_page_address

ENVIRONMENT = f"{PROGRAM.upper()}_SERVER"
DATABASE_VARIABLE = f"{PROGRAM.upper()}_DATABASE"
DATABASE_FILE = f"{PROGRAM}.sqlite3"
KEY_VARIABLE = f"{PROGRAM.upper()}_KEY"
KEY_FILE = "key"
MIN_KEY_LENGTH = 32
FINGERPRINT = "key"  # name of the row in `server_facts` with the fingerprint of the key


class InvalidSetting(AxioError):
    """A setting is invalid, or settings contradict each other."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a server. Worker processes receive them through the environment."""

    data: str = ""  # folder for the database and the key; default: the user's data folder
    database: str = ""  # URL such as postgresql://name@host/base; default: an SQLite file in `data`
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    origins: tuple[str, ...] = ()  # origins of the page, if a proxy serves it
    allowed_hosts: tuple[str, ...] = ()  # additional accepted values of the Host header
    proxies: tuple[str, ...] = ()  # addresses and networks whose `X-Forwarded-*` headers are trusted
    service_worker: bool = True  # browsers keep the page for offline use; False: they delete it
    secure_cookies: bool = False  # send cookies over HTTPS only; implied by origins with https://
    rate_limits: bool = True  # limit the rate of requests per client
    bot_threads: int = 0  # bots that move at the same time; 0: one per core but one
    bot_seconds: float = 1.0  # time limit of a bot's move, in seconds
    max_tables: int = 100_000  # unfinished tables on the server
    max_tables_per_person: int = 40  # unfinished tables opened by one person
    keep_open: int = 7  # days; see operations/retention.py. 0: forever
    keep_unfinished: int = 60
    keep_closed: int = 30
    keep_guests: int = 180
    keep_reviews: int = 30
    log_level: str = "info"
    metrics_host: str = "127.0.0.1"
    metrics_port: int = 0  # first of one port per worker for metrics; 0: no metrics
    accept_new_key: bool = False  # start although the database was used with another secret key

    @property
    def folder(self) -> Path:
        """Data folder of the server."""
        return Path(self.data) if self.data else user_data_path(PROGRAM, appauthor=False)

    @property
    def metrics_ports(self) -> range:
        """Ports for metrics, one per worker; empty without metrics."""
        return range(self.metrics_port, self.metrics_port + self.workers if self.metrics_port else 0)

    @property
    def url(self) -> str:
        """SQLAlchemy URL of the database. Raises `InvalidSetting`."""
        if not self.database:
            return f"sqlite+aiosqlite:///{self.folder / DATABASE_FILE}"
        scheme, found, rest = self.database.partition("://")
        drivers = {
            "postgresql": "postgresql+asyncpg",
            "postgres": "postgresql+asyncpg",
            "sqlite": "sqlite+aiosqlite",
        }
        if not found or scheme not in drivers:
            raise InvalidSetting(
                f"unknown database {scheme}://…: use postgresql://user:password@host/name or sqlite:///file"
            )
        return f"{drivers[scheme]}://{rest}"

    @property
    def dsn(self) -> str:
        """URL of a PostgreSQL database for asyncpg."""
        return driver_url(self.url)

    @property
    def on_postgresql(self) -> bool:
        """Whether the database is a PostgreSQL server."""
        return self.url.startswith("postgresql")

    def check(self) -> Self:
        """Return these settings. Raises `InvalidSetting` if they are invalid or contradict each other."""
        if self.on_postgresql and not _is_valid_url(self.dsn):
            raise InvalidSetting(
                "invalid URL of the database: use postgresql://user:password@host:port/name, "
                "and in a password %40 for @, %2F for /, %3A for :"
            )
        if not self.on_postgresql and self.workers > 1:
            raise InvalidSetting(
                f"{self.workers} worker processes need PostgreSQL, which carries events between them: "
                "add --database postgresql://… or use one worker"
            )
        if not self.on_postgresql and sqlite_file(self.url) is None:
            raise InvalidSetting(
                "a database in memory would lose all games: use sqlite:///file or omit --database"
            )
        if self.port in self.metrics_ports or self.metrics_ports.stop > 65_536:
            last = self.metrics_ports.stop - 1
            raise InvalidSetting(
                f"metrics need one port per worker, {self.metrics_port} to {last}, below 65536 and "
                f"different from --port {self.port}: choose another with --metrics-port"
            )
        for origin in self.origins:
            if parse_page_address(origin) is None:
                raise InvalidSetting(f"invalid origin {origin!r}: use the form https://example.org")
        for name in self.allowed_hosts:
            if parse_host_name(name) is None:
                raise InvalidSetting(f"invalid host {name!r}: use a name such as play.example.org")
        for proxy in self.proxies:
            try:
                parse_network(proxy)
            except ValueError as error:
                raise InvalidSetting(
                    f"invalid proxy {proxy!r} ({error}): use an address or network such as 10.0.0.5 or "
                    "10.0.0.0/24"
                ) from None
        return self

    def to_environment(self) -> None:
        """Pass these settings to child processes."""
        os.environ[ENVIRONMENT] = msgspec.json.encode(asdict(self)).decode()

    @classmethod
    def from_environment(cls) -> Self:
        """Return the settings passed by the parent process, or the defaults.

        They may contain a password, so they are removed from the environment that children inherit.
        """
        found = msgspec.json.decode(os.environ.pop(ENVIRONMENT, "{}"))
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in found.items() if name in known}
        lists = {name: tuple(values.get(name, ())) for name in ("origins", "allowed_hosts", "proxies")}
        return cls(**{**values, **lists})


def driver_url(url: str) -> str:
    """Return the asyncpg URL for a SQLAlchemy URL of PostgreSQL."""
    return url.replace("postgresql+asyncpg", "postgresql", 1)


def _is_valid_url(text: str) -> bool:
    try:
        urlsplit(text.encode().decode()).port  # noqa: B018
    except ValueError:  # also for text that is not valid UTF-8
        return False
    return True


def sqlite_file(url: str) -> Path | None:
    """Return the file of an SQLite database, `None` for a database in memory."""
    address = make_url(url)
    name = address.database or ""
    if address.query.get("mode") == "memory":
        return None
    if name.startswith("file:"):
        name = unquote(name.removeprefix("file:").partition("?")[0])
    return None if name in ("", ":memory:") else Path(name)


# ------------------------------------------------------------ secret keys


class KeyMismatch(InvalidSetting):
    """The secret key differs from the one that the database was used with."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"the secret key is not the one that this database was used with: add the old key "
            f"({KEY_VARIABLE}=NEW,OLD or one line each in {folder / KEY_FILE}), "
            "or start once with --accept-new-key, which ends all sessions and invalidates all phrases"
        )


def secret_keys(folder: Path) -> tuple[str, ...]:
    """Return the secret keys from the environment or the key file. The first one signs.

    A missing file is created. Machines that serve the same database need the same keys.

    Raises:
        InvalidSetting: A key is too short, or other users can read the file.
    """
    if keys := os.environ.get(KEY_VARIABLE, ""):
        return _parse_keys(keys, KEY_VARIABLE, "commas")
    make_private_folder(folder)
    path = folder / KEY_FILE
    if not path.exists():
        _create_key_file(path)
    if accessible_to_others(path):
        raise InvalidSetting(f"other users can read {path}: set its mode to 0600")
    return _parse_keys(path.read_text(encoding="utf-8", errors="replace").strip(), str(path), "line ends")


def fingerprint(key: str) -> str:
    """Return the fingerprint of a key, which distinguishes keys and reveals nothing else."""
    return hmac.new(key.encode(), b"fingerprint", hashlib.sha256).hexdigest()[:32]


def check_fingerprint(known: str | None, keys: Sequence[str], folder: Path) -> None:
    """Raise `KeyMismatch` if `known` is the fingerprint of none of the keys."""
    if known is not None and known not in map(fingerprint, keys):
        raise KeyMismatch(folder)


def _parse_keys(text: str, source: str, separator: str) -> tuple[str, ...]:
    parts = re.split(r"[,\r\n]", text)
    stripped = [part.strip() for part in parts] if len(parts) > 1 else parts
    keys = list(dict.fromkeys(key for key in stripped if key))
    if not keys or min(map(len, keys)) < MIN_KEY_LENGTH or not is_unicode(text):
        raise InvalidSetting(
            f"{source} must contain a key of at least {MIN_KEY_LENGTH} characters in UTF-8, "
            f"or several separated by {separator}"
        )
    return tuple(keys)


def _create_key_file(path: Path) -> None:
    """Create the key file atomically. If several processes try at once, the first one wins."""
    draft = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        _write_key(draft, secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process has created it first
        except (OSError, AttributeError, NotImplementedError):  # a file system without hard links
            with suppress(FileExistsError):
                _write_key(path, draft.read_text(encoding="ascii"))
    finally:
        draft.unlink(missing_ok=True)


def _write_key(path: Path, key: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as out:
        if hasattr(os, "fchmod"):
            os.fchmod(file, 0o600)  # regardless of the umask
        out.write(key)
        out.flush()
        os.fsync(file)
