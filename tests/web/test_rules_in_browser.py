"""The rules in Chromium: the same games as in Python, under the page's own security policy."""

from __future__ import annotations

from pathlib import Path

import pytest

from axiogames.games.variant import Variant
from tests.wasm.driver import golden_seeds, play_goldens
from tools.wasm.variants import all_variants, layout_name, variant_name

from .conftest import Visit

DRIVER = Path(__file__).parents[1] / "wasm" / "driver.js"
VARIANTS = list(all_variants())
SAMPLE = [variant for variant in VARIANTS if variant.players == 2 and len(variant.options) != 1]
PLAY = """async ([layout, variant, seeds]) => {
    const [{ instantiateRules }, { playGoldens }, wasm, data] = await Promise.all([
        import("/static/js/rules/module.js"),
        import("/static/js/golden-driver.js"),
        fetch(`/static/wasm/${layout}.wasm`).then((response) => response.arrayBuffer()),
        fetch(`/static/wasm/variants/${variant}.json`).then((response) => response.json()),
    ]);
    const rules = await instantiateRules(wasm);
    return [await playGoldens(rules, data, seeds, true), await playGoldens(rules, data, seeds, false)];
}"""


def check_in_chromium(visit: Visit, variant: Variant, games: int) -> None:
    page = visit(service_worker=False).goto("/offline")
    page.route(
        "**/golden-driver.js", lambda route: route.fulfill(path=DRIVER, content_type="text/javascript")
    )
    seeds = golden_seeds(games)
    task = [layout_name(variant), variant_name(variant), [f"{seed:x}" for seed in seeds]]
    digests = page.evaluate(PLAY, task)
    assert digests == [play_goldens(variant, seeds, True), play_goldens(variant, seeds, False)]


@pytest.mark.parametrize("variant", SAMPLE, ids=variant_name)
def test_games_in_chromium_equal_those_in_python(visit: Visit, variant: Variant) -> None:
    check_in_chromium(visit, variant, 2)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=variant_name)
def test_many_games_in_chromium_equal_those_in_python(visit: Visit, variant: Variant) -> None:
    check_in_chromium(visit, variant, 100)
