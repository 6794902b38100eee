"""Overrides of derived rules agree with the defaults."""

from __future__ import annotations

import numpy as np
import pytest

from axiogames.errors import GameDefinitionError
from axiogames.games import GAMES, find_variant
from axiogames.games.runtime.compile import INTERPRETED, rule
from axiogames.model import testing
from axiogames.model.table import Table
from axiogames.model.testing import check_game


@pytest.mark.skipif(INTERPRETED, reason="interpreted scans of all actions are slow")
@pytest.mark.parametrize("game", GAMES)
def test_overrides_agree_with_their_defaults(game: str) -> None:
    assert check_game(game, 2) > 20


def test_wrong_restore_is_found() -> None:
    variant = find_variant("rota")
    table = Table(variant, "wrong")
    checks = object.__new__(testing._Checks)
    checks.variant = variant
    checks.check_view(table, 0)
    table.state["edge"][0, -1] = 1  # a field that the rules would leave 0
    with pytest.raises(GameDefinitionError, match=r"rota: `restore` does not recompute edge as `apply`"):
        checks.check_view(table, 0)


@pytest.mark.skipif(not INTERPRETED, reason="compiled code would come from the cache of the original rules")
def test_wrong_override_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    @rule
    def one_less(c, s):  # type: ignore[no-untyped-def]
        """Leave an action out."""
        return variant.kernels.declared.count_legal(c, s) - 1

    variant = find_variant("rota")
    monkeypatch.setitem(variant.kernels.rules, "count_legal", one_less)
    checks = testing._Checks(variant)
    table = Table(variant, "wrong")
    with pytest.raises(
        GameDefinitionError,
        match=r"rota: `count_legal` of the game's rules returns \d+, but `refusal` allows",
    ):
        checks.check_rules(table)
    monkeypatch.undo()
    assert len(testing._Checks(variant).check_rules(table)) == np.count_nonzero(
        table.legal_moves().actions + 1
    )
