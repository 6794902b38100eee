"""Database schema, access to server facts, and schema versions. Times are milliseconds since 1970.

`entries` is the source of truth: the ordered log of every table. `tables` and `seats` contain derived columns
for queries; they are written in the same transaction and could be rebuilt from the entries.
"""

from __future__ import annotations

from importlib import resources

from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

MIGRATIONS = "migrations"

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)

people = Table(
    "people",
    metadata,
    Column("id", String(24), primary_key=True),
    Column("name", String(24), nullable=False),
    Column("epoch", Integer, nullable=False),  # incremented to invalidate all cookies and tokens
    Column("created", BigInteger, nullable=False),
    Column("phrase", String(64), unique=True),  # keyed hash
    Column("username", String(24), unique=True),
    Column("password", Text),  # argon2
    Column("seen", BigInteger),  # day of the last visit; NULL without a visit since migration 0003
    Column("banned", BigInteger),  # time of the ban
)

tables = Table(
    "tables",
    metadata,
    Column("id", String(24), primary_key=True),
    Column("game", String(16), nullable=False),
    Column("players", Integer, nullable=False),
    Column("options", Text, nullable=False),
    Column("public", Boolean, nullable=False),
    Column("move_time", Integer),
    Column("daily", String(10)),
    Column("owner", String(24), nullable=False),
    Column("invite", String(24), nullable=False),
    Column("seed", String(64), nullable=False),
    Column("created", BigInteger, nullable=False),
    # Derived from the entries:
    Column("updated", BigInteger, nullable=False),
    Column("number", Integer, nullable=False),
    Column("moves", Integer, nullable=False),
    Column("status", String(8), nullable=False),
    Column("turn", Integer),
    Column("due", BigInteger),  # time of the server's next action: bot move, timeout or delayed draw
    Column("quarantined", Text),  # error that makes the table unreadable; NULL for readable ones
    Index("ix_tables_status_updated", "status", "updated"),
    Index("ix_tables_due", "due"),
    Index(
        "uq_tables_daily",
        "daily",
        "game",
        "owner",
        unique=True,
        sqlite_where=text("daily IS NOT NULL"),
        postgresql_where=text("daily IS NOT NULL"),
    ),
)

entries = Table(
    "entries",
    metadata,
    Column("table_id", String(24), ForeignKey("tables.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    sqlite_with_rowid=False,
)

seats = Table(
    "seats",
    metadata,
    Column("table_id", String(24), ForeignKey("tables.id"), primary_key=True),
    Column("seat", Integer, primary_key=True, autoincrement=False),
    Column("person", String(24), index=True),
    Column("name", String(24), nullable=False),
    Column("bot", String(24)),
    Column("here_until", BigInteger),  # end of the lease during which the person counts as connected
)

results = Table(
    "results",
    metadata,
    Column("day", String(10), primary_key=True),
    Column("game", String(16), primary_key=True),
    Column("person", String(24), primary_key=True),
    Column("table_id", String(24), ForeignKey("tables.id"), nullable=False),
    Column("name", String(24), nullable=False),
    Column("scores", Text, nullable=False),  # sorted, lowest first
    Column("rank", String(64), nullable=False),  # scores in a form that sorts as text
    Column("finished", BigInteger, nullable=False),
    Index("ix_results_day_game_rank", "day", "game", "rank"),
)

# Individually ended sessions. Incrementing `people.epoch` ends all sessions of a person.
revoked_sessions = Table(
    "revoked_sessions",
    metadata,
    Column("person", String(24), primary_key=True),
    Column("session", String(32), primary_key=True),
    Column("at", BigInteger, nullable=False),
)

# Reviews of finished games, shared by all processes. See storage/reviews.py for claims.
reviews = Table(
    "reviews",
    metadata,
    Column("table_id", String(24), ForeignKey("tables.id"), primary_key=True),
    Column("person", String(24), nullable=False),  # person who requested the review
    Column("asked", BigInteger, nullable=False),
    Column("claimed_until", BigInteger),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("body", Text),  # JSON; NULL while unfinished
)

# Changes by `axio admin` and by retention.
audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("actor", String(64), nullable=False),
    Column("action", String(32), nullable=False),
    Column("subject", String(64), nullable=False),
    Column("detail", Text, nullable=False),
)

# Facts about the server itself, such as the fingerprint of its secret key.
server_facts = Table(
    "server_facts",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", Text, nullable=False),
)


def read_fact(connection: Connection, name: str) -> str | None:
    """Return a fact, `None` if it is not set or the database has no such table yet."""
    if not inspect(connection).has_table(server_facts.name):
        return None
    return connection.execute(select(server_facts.c.value).where(server_facts.c.name == name)).scalar()


async def write_fact(connection: AsyncConnection, name: str, value: str) -> None:
    """Set a fact."""
    known = server_facts.c.name == name
    done = await connection.execute(update(server_facts).where(known).values(value=value))
    if not done.rowcount:
        await connection.execute(insert(server_facts), [{"name": name, "value": value}])


def alembic_config() -> Config:
    """Return Alembic's configuration with the location of the migrations."""
    config = Config()
    config.set_main_option("script_location", str(resources.files(__package__) / MIGRATIONS))
    return config


def known_revisions() -> set[str]:
    """Return the ids of all schema versions."""
    return {script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()}


def newest_revision() -> str:
    """Return the id of the newest schema version."""
    head = ScriptDirectory.from_config(alembic_config()).get_current_head()
    assert head is not None, "there are migrations"
    return head
