"""Logging as JSON lines with time, level, logger and message.

Log messages contain no secrets, no hidden tiles and no network addresses of clients.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime


class JsonFormatter(logging.Formatter):
    """Format each record as one line of JSON."""

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


def configure_logging(level: str) -> None:
    """Log everything of at least `level` to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Below this level Uvicorn logs client addresses, and every message with its hidden tiles and tokens.
    for name in ("alembic", "aiosqlite", "sqlalchemy", "markdown_it", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)
