"""Work that goes on where it stopped goes on with the same settings only."""

from __future__ import annotations

import msgspec

from ..errors import SettingsMismatch


def check_same_settings(kept: msgspec.Struct, asked: msgspec.Struct, what: str, advice: str) -> None:
    """Raise `SettingsMismatch` for the first field in which `kept` and `asked` differ."""
    for name in kept.__struct_fields__:
        old, new = getattr(kept, name), getattr(asked, name)
        if old != new:
            raise SettingsMismatch(
                f"{what} with another setting of {name}: {_text(old)} there, {_text(new)} now; "
                f"go on with the same settings{advice}"
            )


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
