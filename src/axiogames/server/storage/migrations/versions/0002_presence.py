"""Presence of people, shared by several processes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the end of the presence lease to seats."""
    with op.batch_alter_table("seats") as seats:
        seats.add_column(sa.Column("here_until", sa.BigInteger(), nullable=True))
