"""Rollout configs: stored in the weights file, with defaults where it has none."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np

from axiogames.games import find_variant
from axiogames.players.evaluation.weights import load_weights, read_weights, untrained_weights, write_weights
from axiogames.players.search import rollouts
from axiogames.players.search.analysis import analyse
from axiogames.players.search.rollouts import (
    DEFAULT_CONFIGS,
    FAST,
    FAST_CONFIG,
    FULL,
    FULL_CONFIG,
    TO_THE_END,
    UNTRAINED_CONFIG,
    RolloutConfig,
    load_config,
    read_config,
    write_config,
)
from tests.players.search.positions import played

CUSTOM = RolloutConfig(turns=TO_THE_END, width=7, prior_weight=12.5, search_after=0.25)


def test_config_is_stored_in_the_weights_file(tmp_path: Path) -> None:
    file = tmp_path / "weights.npz"
    two, three = find_variant("rota", 2), find_variant("rota", 3)
    write_weights(two, load_weights(two), file)
    assert read_config(two, FAST, file) == FAST_CONFIG
    assert read_config(two, FULL, file) == FULL_CONFIG
    write_config(two, FAST, CUSTOM, file)
    assert read_config(two, FAST, file) == CUSTOM
    assert read_config(two, FULL, file) == FULL_CONFIG
    assert read_config(three, FAST, file) == FAST_CONFIG
    write_weights(three, load_weights(three), file)  # other entries are kept
    assert read_config(two, FAST, file) == CUSTOM
    assert np.array_equal(read_weights(two, file)["hidden_weights"], load_weights(two)["hidden_weights"])


def test_rollouts_without_a_network_run_to_the_end() -> None:
    variant = find_variant("rota", 2)
    with patch.object(rollouts, "load_weights", return_value=untrained_weights(variant)):
        for pace in DEFAULT_CONFIGS:
            assert load_config.__wrapped__(variant, pace) == UNTRAINED_CONFIG


def test_analysis_uses_the_config_of_the_game() -> None:
    table = played("rota", 2, 8)
    assert table.turn is not None
    view = table.view(table.turn)
    usual = analyse(view, seed=1, rollouts=2000)
    assert usual == analyse(view, seed=1, rollouts=2000, config=load_config(view.variant, FAST))
    assert usual != analyse(view, seed=1, rollouts=2000, config=CUSTOM)
