"""First schema: people, tables with entries and seats, results of daily deals."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "people",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("name", sa.String(length=24), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("phrase", sa.String(length=64), nullable=True),
        sa.Column("username", sa.String(length=24), nullable=True),
        sa.Column("password", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("phrase", name=op.f("uq_people_phrase")),
        sa.UniqueConstraint("username", name=op.f("uq_people_username")),
    )
    op.create_table(
        "tables",
        sa.Column("id", sa.String(length=24), nullable=False),
        sa.Column("game", sa.String(length=16), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("move_time", sa.Integer(), nullable=True),
        sa.Column("daily", sa.String(length=10), nullable=True),
        sa.Column("owner", sa.String(length=24), nullable=False),
        sa.Column("invite", sa.String(length=24), nullable=False),
        sa.Column("seed", sa.String(length=64), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("updated", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("moves", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=8), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("due", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tables")),
    )
    op.create_index("ix_tables_due", "tables", ["due"], unique=False)
    op.create_index("ix_tables_status_updated", "tables", ["status", "updated"], unique=False)
    op.create_index(
        "uq_tables_daily",
        "tables",
        ["daily", "game", "owner"],
        unique=True,
        sqlite_where=sa.text("daily IS NOT NULL"),
        postgresql_where=sa.text("daily IS NOT NULL"),
    )
    op.create_table(
        "entries",
        sa.Column("table_id", sa.String(length=24), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name=op.f("fk_entries_table_id")),
        sa.PrimaryKeyConstraint("table_id", "number", name=op.f("pk_entries")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "results",
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("game", sa.String(length=16), nullable=False),
        sa.Column("person", sa.String(length=24), nullable=False),
        sa.Column("table_id", sa.String(length=24), nullable=False),
        sa.Column("name", sa.String(length=24), nullable=False),
        sa.Column("scores", sa.Text(), nullable=False),
        sa.Column("rank", sa.String(length=64), nullable=False),
        sa.Column("finished", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name=op.f("fk_results_table_id")),
        sa.PrimaryKeyConstraint("day", "game", "person", name=op.f("pk_results")),
    )
    op.create_index("ix_results_day_game_rank", "results", ["day", "game", "rank"], unique=False)
    op.create_table(
        "seats",
        sa.Column("table_id", sa.String(length=24), nullable=False),
        sa.Column("seat", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("person", sa.String(length=24), nullable=True),
        sa.Column("name", sa.String(length=24), nullable=False),
        sa.Column("bot", sa.String(length=24), nullable=True),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name=op.f("fk_seats_table_id")),
        sa.PrimaryKeyConstraint("table_id", "seat", name=op.f("pk_seats")),
    )
    op.create_index(op.f("ix_seats_person"), "seats", ["person"], unique=False)
