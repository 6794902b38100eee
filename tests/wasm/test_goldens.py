"""Games in WebAssembly, in Node and in Chromium, compared byte for byte with the same games in Python."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from axiogames.games.variant import Variant
from tools.wasm.build import module_file
from tools.wasm.variants import all_variants, describe_variant, variant_name

from ..demanded import need
from .driver import golden_seeds, play_goldens

GAMES = 3  # of each kind, in `make test`
MANY_GAMES = 1_000

VARIANTS = list(all_variants())
SAMPLE = [variant for variant in VARIANTS if variant.players == 2 and len(variant.options) != 1]


def in_node(variant: Variant, seeds: list[int], strong: bool) -> list[str]:
    """Return the digests of golden games played by Node."""
    node = need("node", shutil.which("node"))
    task = {
        "module": str(module_file(variant)),
        "data": describe_variant(variant),
        "seeds": [f"{seed:x}" for seed in seeds],
        "strong": strong,
    }
    program = Path(__file__).with_name("node.mjs")
    done = subprocess.run(
        [node, program], input=json.dumps(task), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    digests: list[str] = json.loads(done.stdout)
    return digests


@pytest.mark.parametrize("strong", [True, False], ids=["strong", "any"])
@pytest.mark.parametrize("variant", SAMPLE, ids=variant_name)
def test_games_in_node_equal_those_in_python(variant: Variant, strong: bool) -> None:
    seeds = golden_seeds(GAMES)
    assert in_node(variant, seeds, strong) == play_goldens(variant, seeds, strong)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=variant_name)
def test_many_strong_games_in_node_equal_those_in_python(variant: Variant) -> None:
    seeds = golden_seeds(MANY_GAMES)
    assert in_node(variant, seeds, True) == play_goldens(variant, seeds, True)
