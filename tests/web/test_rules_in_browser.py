"""The rules in Chromium: the same games as in Python, under the page's own security policy."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Route

from axiogames.games.variant import Variant
from axiogames.web.pages import WEB, rules_index
from tests.wasm.driver import golden_seeds, play_goldens
from tools.wasm.variants import all_variants, variant_name

from .conftest import Visit

# Served to the page under /golden/.
SCRIPTS = {
    "module.js": WEB / "js" / "rules" / "module.js",
    "driver.js": Path(__file__).parents[1] / "wasm" / "driver.js",
}
VARIANTS = list(all_variants())
SAMPLE = [variant for variant in VARIANTS if variant.players == 2 and len(variant.options) != 1]
PLAY = """async ([files, seeds]) => {
    const [{ instantiateRules }, { playGoldens }, module, data] = await Promise.all([
        import("/golden/module.js"),
        import("/golden/driver.js"),
        WebAssembly.compileStreaming(fetch(`/static/wasm/${files.module}`)),
        fetch(`/static/wasm/${files.data}`).then((response) => response.json()),
    ]);
    const rules = await instantiateRules(module);
    return [await playGoldens(rules, data, seeds, true), await playGoldens(rules, data, seeds, false)];
}"""


def check_in_chromium(visit: Visit, variant: Variant, games: int) -> None:
    page = visit(service_worker=False).goto("/privacy")
    for name, path in SCRIPTS.items():
        page.route(f"**/golden/{name}", partial(serve, path))
    seeds = golden_seeds(games)
    files = msgspec.to_builtins(rules_index().variants[variant_name(variant)])
    digests = page.evaluate(PLAY, [files, [f"{seed:x}" for seed in seeds]])
    assert digests == [play_goldens(variant, seeds, True), play_goldens(variant, seeds, False)]


def serve(path: Path, route: Route) -> None:
    route.fulfill(path=path, content_type="text/javascript")


@pytest.mark.parametrize("variant", SAMPLE, ids=variant_name)
def test_games_in_chromium_equal_those_in_python(visit: Visit, variant: Variant) -> None:
    check_in_chromium(visit, variant, 2)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=variant_name)
def test_many_games_in_chromium_equal_those_in_python(visit: Visit, variant: Variant) -> None:
    check_in_chromium(visit, variant, 100)
