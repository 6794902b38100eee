"""The versions of the schema that this program knows."""

from __future__ import annotations

from importlib import resources

from alembic.config import Config
from alembic.script import ScriptDirectory

MIGRATIONS = "migrations"


def alembic_config() -> Config:
    """Where the migrations are."""
    config = Config()
    config.set_main_option("script_location", str(resources.files(__package__) / MIGRATIONS))
    return config


def known_revisions() -> set[str]:
    """The names of all versions of the schema, from the first to the newest."""
    return {script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()}


def newest_revision() -> str:
    """The name of the newest version of the schema."""
    head = ScriptDirectory.from_config(alembic_config()).get_current_head()
    assert head is not None, "there are migrations"
    return head
