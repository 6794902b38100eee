"""Every page in every state: accessible at all sizes, in both languages, light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import ViewportSize

from tests.web.browsing import SIZES
from tests.web.checks import clipped_texts, hidden_board, sideways, small_targets, violations
from tests.web.conftest import Visit
from tests.web.stage import GAMES, Stage
from tests.web.states import STATES, State, settle

TIGHT: list[ViewportSize] = [{"width": 320, "height": 640}, {"width": 740, "height": 360}]
# Every second state is shown at two of the sizes, the others and the other language at the other two.
ROOMY: list[list[ViewportSize]] = [
    [{"width": 360, "height": 740}, {"width": 1440, "height": 900}],
    [{"width": 768, "height": 1024}, {"width": 3840, "height": 2160}],
]


def seldom(state: State, language: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a state: languages with shorter words run in `make slow` only."""
    other_text = state.name.startswith("rules-") and state.name != f"rules-{GAMES[0]}"
    return [pytest.mark.slow] if other_text or language != state.languages[-1] else []


@pytest.mark.parametrize(
    ("state", "language"),
    [
        pytest.param(one, language, id=f"{one.name}-{language}", marks=seldom(one, language))
        for one in STATES
        for language in one.languages
    ],
)
def test_pages_are_accessible_on_all_screens(visit: Visit, stage: Stage, state: State, language: str) -> None:
    # Every second state is dark on a phone; on a desktop or in the other language the others are.
    dark = (STATES.index(state) % 2 == 0) == (language == "de")
    visitor = visit("phone", language=language, theme="dark" if dark else "light", worker=False)
    page = state.show(visitor, stage)
    settle(page)
    wrong = {"phone": violations(visitor), "too small for a finger": small_targets(page)}
    page.emulate_media(color_scheme="light" if dark else "dark")
    page.set_viewport_size(SIZES["desktop"])
    settle(page)
    wrong["desktop"] = violations(visitor)
    for screen in (*TIGHT, *ROOMY[dark]):
        page.set_viewport_size(screen)
        settle(page)
        size = f"{screen['width']}×{screen['height']}"
        wrong[f"sideways at {size}"] = sideways(page, screen["width"])
        wrong[f"clipped at {size}"] = clipped_texts(page)
        if state.board:
            wrong[f"board at {size}"] = hidden_board(page)
    assert {where: what for where, what in wrong.items() if what} == {}
