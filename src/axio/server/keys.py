"""The server's secret keys: the first signs, the others are older ones that are still read.

The key is made at the first start, in a file that only its owner can read. To replace it, put a new key
before the old one, in the environment (separated by commas) or in the file (one a line). Cookies are signed
anew when they come, and a phrase when somebody comes back by it; after some months the old key can be left
out, and with it cookies and phrases that nobody has used since, and tokens of programs.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..reading import is_unicode
from .private_files import make_private_folder, open_to_others
from .settings import PROGRAM, BadSetting

KEY_FILE = "key"
KEY_VARIABLE = f"{PROGRAM.upper()}_KEY"
SHORTEST = 32
FINGERPRINT = "key"  # the name of the fact that the database keeps of the key


class WrongKey(BadSetting):
    """The keys are not those of the database."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"the secret key is not the one that this database was used with: name the old key, too "
            f"({KEY_VARIABLE}=NEW,OLD or a line each in {folder / KEY_FILE}), "
            "or start once with --accept-new-key, which signs everybody out and makes all phrases worthless"
        )


def secret_keys(folder: Path) -> tuple[str, ...]:
    """Return the secret keys, the one that signs first: from the environment, or from a file.

    The file is made if there is none. Several machines that serve the same database need the same keys.

    Raises:
        BadSetting: A key is too short, or others can read the file.
    """
    if given := os.environ.get(KEY_VARIABLE, ""):
        return _split(given, KEY_VARIABLE, "commas")
    make_private_folder(folder)
    path = folder / KEY_FILE
    if not path.exists():
        _make(path)
    if open_to_others(path):
        raise BadSetting(f"{path} can be read by others: it should have the mode 0600")
    return _split(path.read_text(encoding="utf-8", errors="replace").strip(), str(path), "line ends")


def fingerprint(key: str) -> str:
    """Return what a database may know of a key: it tells keys apart and nothing else."""
    return hmac.new(key.encode(), b"fingerprint", hashlib.sha256).hexdigest()[:32]


def check_fingerprint(known: str | None, keys: Sequence[str], folder: Path) -> None:
    """Raise `WrongKey` if a database was used with a key that is not among these."""
    if known is not None and known not in map(fingerprint, keys):
        raise WrongKey(folder)


def _split(text: str, where: str, separator: str) -> tuple[str, ...]:
    parts = re.split(r"[,\r\n]", text)
    stripped = [part.strip() for part in parts] if len(parts) > 1 else parts
    keys = list(dict.fromkeys(key for key in stripped if key))
    if not keys or min(map(len, keys)) < SHORTEST or not is_unicode(text):
        raise BadSetting(
            f"{where} should hold a key of at least {SHORTEST} characters in UTF-8, "
            f"or several of them separated by {separator}"
        )
    return tuple(keys)


def _make(path: Path) -> None:
    """Write a new key, whole or not at all. Of several processes that do so at once, one wins."""
    draft = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        _write(draft, secrets.token_urlsafe(48))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was faster: its key counts
        except (OSError, AttributeError, NotImplementedError):  # a file system without links
            with suppress(FileExistsError):
                _write(path, draft.read_text(encoding="ascii"))
    finally:
        draft.unlink(missing_ok=True)


def _write(path: Path, key: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w", encoding="ascii") as out:
        if hasattr(os, "fchmod"):
            os.fchmod(file, 0o600)  # whatever the umask
        out.write(key)
        out.flush()
        os.fsync(file)
