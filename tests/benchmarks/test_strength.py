"""docs/explanation/strength.md is generated from the stored results of the arena, without manual edits."""

from __future__ import annotations

import pytest

from axiogames.analysis.arena.page import reproducing_command
from benchmarks.strength import page as strength_page
from benchmarks.strength.run import MATCHES

pytestmark = pytest.mark.slow

FOUND = strength_page.read()


def test_page_is_generated_from_the_stored_results() -> None:
    assert strength_page.PAGE.read_text(encoding="utf-8") == strength_page.page(FOUND)


def test_every_file_belongs_to_a_match() -> None:
    assert {path.stem for path in strength_page.FOLDER.glob("*")} == set(FOUND) <= set(MATCHES)


@pytest.mark.parametrize("name", FOUND)
def test_stored_results_match_the_settings_of_their_match(name: str) -> None:
    summary, settings = FOUND[name].summary, MATCHES[name].settings
    found = summary.settings
    assert (found.game, found.players, found.bots, found.seed) == (
        settings.game, settings.players, settings.bots, settings.seed,
    )  # fmt: skip
    assert FOUND[name].provenance.command == reproducing_command(found, summary.deals)
    assert summary.games == sum(bot.games for bot in summary.bots) / summary.settings.players
