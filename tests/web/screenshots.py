"""Take screenshots: the one of the README, and all pages in all states.

python -m tests.web.screenshots OUT              everything, into the folder OUT, and docs/pictures/page.png
python -m tests.web.screenshots OUT home daily   only these states
python -m tests.web.screenshots                  only docs/pictures/page.png
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser as Chromium
from playwright.sync_api import ViewportSize, sync_playwright

from tests.server.driving import start_server
from tests.web.browsing import SIZES, THEMES, launch, new_visitor
from tests.web.playing import TARGETS
from tests.web.stage import Stage, advance
from tests.web.states import STATES, open_with_hint, settle

README = Path(__file__).parents[2] / "docs" / "pictures" / "page.png"
GOOD_MOVE = 4  # points
README_SIZE: ViewportSize = {"width": 1280, "height": 800}


def take_states(chromium: Chromium, stage: Stage, folder: Path, names: Iterable[str]) -> None:
    """Take screenshots of all states, or those named, at all sizes, light and dark."""
    folder.mkdir(parents=True, exist_ok=True)
    selected = set(names)
    for state, size, theme in product(STATES, SIZES, THEMES):
        if selected and state.name not in selected:
            continue
        visitor = new_visitor(chromium, stage.url, size, theme=theme, service_worker=False)
        page = state.show(visitor, stage)
        settle(page)
        page.screenshot(path=folder / f"{state.name}-{size}-{theme}.png")
        visitor.context.close()


def take_readme(chromium: Chromium, stage: Stage, path: Path = README) -> None:
    """Take the screenshot of a game with a pending tile and the points it would score."""
    table = stage.ann.open("axio", ["me", "balanced"]).id
    with stage.ann.live(table) as live:
        advance(live, 8)
        for _ in range(4):
            if max(map(sum, (live.moves or {})["gain"])) < GOOD_MOVE:
                advance(live, 1)
    visitor = new_visitor(chromium, stage.url, service_worker=False)
    visitor.page.set_viewport_size(README_SIZE)
    stage.sign_in(visitor)
    player = open_with_hint(visitor, table)
    place = visitor.find("#board [data-preview]").get_attribute("data-preview")
    visitor.page.keyboard.press("Escape")  # discards the hint; its tile is then put down by a click
    target = next(target for target in visitor.page.evaluate(TARGETS) if target["name"] == place)
    visitor.click_at(target["x"], target["y"])
    visitor.page.mouse.move(5, 5)
    visitor.find("#preview-points").wait_for()
    assert player.wait_for_action() == "place"
    settle(visitor.page)
    visitor.page.screenshot(path=path)
    visitor.context.close()


def main(arguments: list[str]) -> None:
    """Take the requested screenshots."""
    with (
        tempfile.TemporaryDirectory() as data,
        start_server(Path(data)) as server,
        sync_playwright() as playwright,
    ):
        chromium = launch(playwright.chromium)
        stage = Stage(server.url)
        if len(arguments) < 2:
            take_readme(chromium, stage)
        if arguments:
            take_states(chromium, stage, Path(arguments[0]), arguments[1:])
        chromium.close()


if __name__ == "__main__":
    main(sys.argv[1:])
