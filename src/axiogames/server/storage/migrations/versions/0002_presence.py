"""Who is connected, for several processes to know of each other."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Seats say until when their person is known to be here."""
    with op.batch_alter_table("seats") as seats:
        seats.add_column(sa.Column("here_until", sa.BigInteger(), nullable=True))
