"""Settings of a stored run, and the check that a run is resumed with the settings it was started with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from msgspec import Struct

from ..errors import SettingsMismatch
from ..games import find_variant
from ..games.variant import Variant


class RunConfig(Struct, frozen=True):
    """Settings shared by arenas and datasets.

    Subclasses add their own fields. Their last field is `version`, the version of the package that started
    the run: the order of the fields is that of the stored files.
    """

    flags: ClassVar[Mapping[str, str]] = {"options": "--option"}

    game: str
    players: int
    options: tuple[str, ...]
    bots: tuple[str, ...]
    seed: str

    @property
    def variant(self) -> Variant:
        """The variant that is played."""
        return find_variant(self.game, self.players, dict.fromkeys(self.options, True))

    def check_resumable(self, requested: Self, folder: Path, remedy: str) -> None:
        """Raise `SettingsMismatch` for the first setting in which `requested` differs from this stored run.

        Args:
            requested: settings of the call that would resume the run.
            folder: where the run is stored.
            remedy: what to do instead of repeating the settings, such as "choose another folder".
        """
        for name in self.__struct_fields__:
            stored, current = getattr(self, name), getattr(requested, name)
            if stored == current:
                continue
            old, new = self._argument(name, stored), self._argument(name, current)
            if old is None:
                difference = f"without {self._flag(name)}, not with {new}"
            else:
                difference = f"with {old}, not {new or 'without it'}"
            raise SettingsMismatch(
                f"cannot resume: the run in {folder}/ was started {difference};"
                f" repeat its settings or {remedy}"
            )

    def _flag(self, name: str) -> str:
        return self.flags.get(name, f"--{name}")

    def _argument(self, name: str, value: object) -> str | None:
        """Return a setting as it is written on the command line, or `None` if its option is omitted."""
        flag = self._flag(name)
        if value is None or value is False or value == ():
            return None
        if value is True:
            return flag
        if name in ("game", "version"):
            return f"{name} {value}"
        if name == "options" and isinstance(value, tuple):
            return " ".join(f"{flag} {option}" for option in value)
        if isinstance(value, tuple):
            return f"{flag} {','.join(value)}"
        return f"{flag} {value}"
