"""Manners of playing on: kept beside what has been learned, the usual ones where there are none."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np

from axio.games import find_variant
from axio.search import manners
from axio.search.analysis import analyse
from axio.search.manners import (
    HURRIED,
    QUICK,
    THOROUGH,
    UNHURRIED,
    UNLEARNED,
    USUAL,
    Manner,
    find_manner,
    read_manner,
    write_manner,
)
from axio.search.minds import blank_mind, find_mind, read_mind, write_mind
from axio.search.rollouts import TO_THE_END

from .positions import played

ODD = Manner(turns=TO_THE_END, width=7, faith=12.5, late=0.25)


def test_a_manner_is_kept_beside_what_has_been_learned(tmp_path: Path) -> None:
    file = tmp_path / "mind.npz"
    two, three = find_variant("rota", 2), find_variant("rota", 3)
    write_mind(two, find_mind(two), file)
    assert read_manner(two, HURRIED, file) == QUICK
    assert read_manner(two, UNHURRIED, file) == THOROUGH
    write_manner(two, HURRIED, ODD, file)
    assert read_manner(two, HURRIED, file) == ODD
    assert read_manner(two, UNHURRIED, file) == THOROUGH
    assert read_manner(three, HURRIED, file) == QUICK
    write_mind(three, find_mind(three), file)  # learning more of something else changes nothing
    assert read_manner(two, HURRIED, file) == ODD
    assert np.array_equal(read_mind(two, file)["weights"], find_mind(two)["weights"])


def test_without_a_mind_rollouts_go_to_the_end() -> None:
    variant = find_variant("rota", 2)
    with patch.object(manners, "find_mind", return_value=blank_mind(variant)):
        for pace in USUAL:
            assert find_manner.__wrapped__(variant, pace) == UNLEARNED


def test_a_game_is_thought_about_in_its_manner() -> None:
    table = played("rota", 2, 8)
    assert table.turn is not None
    view = table.view(table.turn)
    usual = analyse(view, seed=1, rollouts=2000)
    assert usual == analyse(view, seed=1, rollouts=2000, manner=find_manner(view.variant, HURRIED))
    assert usual != analyse(view, seed=1, rollouts=2000, manner=ODD)
