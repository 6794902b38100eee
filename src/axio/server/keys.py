"""The server's secret key: made at the first start, in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from .settings import PROGRAM, BadSetting

KEY_FILE = "key"
KEY_VARIABLE = f"{PROGRAM.upper()}_KEY"
SHORTEST = 32


def secret_key(folder: Path) -> str:
    """The key that signs cookies: from the environment, or from a file made when there is none.

    Several machines that serve the same database need the same key. Raises `BadSetting` for a key that is too
    short or a file that others can read.
    """
    if key := os.environ.get(KEY_VARIABLE, ""):
        if len(key) < SHORTEST:
            raise BadSetting(f"{KEY_VARIABLE} should have at least {SHORTEST} characters")
        return key
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / KEY_FILE
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(path)
    with os.fdopen(file, "w", encoding="ascii") as out:
        key = secrets.token_urlsafe(48)
        out.write(key)
    return key


def _read(path: Path) -> str:
    if path.stat().st_mode & 0o077:
        raise BadSetting(f"{path} can be read by others: it should have the mode 0600")
    key = path.read_text(encoding="ascii").strip()
    if len(key) < SHORTEST:
        raise BadSetting(
            f"{path} should hold a key of at least {SHORTEST} characters; remove it to get a new one"
        )
    return key
