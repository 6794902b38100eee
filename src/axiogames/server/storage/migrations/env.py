"""Alembic environment: runs migrations on the connection passed by `storage/database.py`."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from axiogames.server.storage.schema import metadata

connection: Connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
