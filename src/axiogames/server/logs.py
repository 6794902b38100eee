"""Logs as lines of JSON: when, how grave, where and what. No secrets, no hands, no addresses of people."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime


class JsonLines(logging.Formatter):
    """One line of JSON for each message."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up_logs(level: str) -> None:
    """Write the logs of everything to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Uvicorn would tell addresses of people, and in detail every message with its hands and tokens.
    for name in ("alembic", "aiosqlite", "sqlalchemy", "markdown_it", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)
