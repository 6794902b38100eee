"""`Rules.of` reports errors of a declaration when the game is loaded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from axiogames.errors import OCCUPIED, GameDefinitionError
from axiogames.games import GAMES, find_variant
from axiogames.games.protocol import HOOKS, Rules
from axiogames.games.runtime.compile import INTERPRETED, rule
from axiogames.games.runtime.defaults import DEFAULTS
from axiogames.games.runtime.state import PLACE
from axiogames.games.runtime.xorshift import seed_state

REQUIRED = {"apply", "refusal", "score", "observe_board"}


@rule
def of_three(c, s, action):  # type: ignore[no-untyped-def]
    """Stand in for a rule with three parameters."""
    return 0


@rule
def of_four(c, s, cell, value):  # type: ignore[no-untyped-def]
    """Stand in for a rule with four parameters."""
    return 0


@rule
def of_two(c, s):  # type: ignore[no-untyped-def]
    """Stand in for a rule with two parameters."""
    return 0


def required_rules(**changed: Any) -> dict[str, Any]:
    """Return the required rules, with changes."""
    required = {
        "apply": of_three,
        "refusal": of_three,
        "score": of_three,
        "observe_board": of_four,
    }
    return required | changed


def test_required_rules_are_enough() -> None:
    assert set(HOOKS) - set(DEFAULTS) == REQUIRED
    rules = Rules.of("tiny", **required_rules())
    assert set(rules.by_name()) == set(HOOKS)
    assert rules.apply is of_three
    assert all(map(callable, rules.by_name().values()))


@pytest.mark.parametrize("missing", sorted(REQUIRED))
def test_missing_rule_is_named_with_its_purpose(missing: str) -> None:
    rules = required_rules()
    del rules[missing]
    with pytest.raises(GameDefinitionError, match=rf"^tiny: Rules needs `{missing}\(c, s, .*\)`: \w+"):
        Rules.of("tiny", **rules)


def test_messages_name_the_game_the_rule_and_the_remedy() -> None:
    def message(**rules: Any) -> str:
        with pytest.raises(GameDefinitionError) as caught:
            Rules.of("tiny", **rules)
        return str(caught.value)

    without_score = {name: rule for name, rule in required_rules().items() if name != "score"}
    assert message(**without_score) == (
        "tiny: Rules needs `score(c, s, action)`: write the points of a placement into s.gain"
    )
    assert message(**required_rules(legal_action=of_three)) == (
        "tiny: unknown rule `legal_action`; did you mean `legal_actions`?"
    )
    assert message(**required_rules(xyz=of_three)).startswith(
        "tiny: unknown rule `xyz`; the rules are apply, "
    )
    assert message(**required_rules(apply=of_two)) == "tiny: `apply` takes (c, s, action), not (c, s)"
    assert message(**required_rules(progress=of_three)) == "tiny: `progress` takes (c, s), not (c, s, action)"
    assert (
        message(**required_rules(apply=None))
        == "tiny: `apply` must be a function of (c, s, action), not None"
    )


def test_rules_with_other_kinds_of_parameters_are_refused() -> None:
    with pytest.raises(GameDefinitionError, match=r"`apply` takes \(c, s, action\), not \(c, s, \*action\)"):
        Rules.of("tiny", **required_rules(apply=lambda c, s, *action: 0))


@pytest.mark.parametrize("game", GAMES)
def test_without_overrides_restores_defaults(game: str) -> None:
    rules = find_variant(game).kernels.declared
    derived = rules.without_overrides()
    assert all(getattr(derived, name) is getattr(rules, name) for name in REQUIRED)
    assert derived.legal_actions is not rules.legal_actions
    assert derived.observe_counters is rules.observe_counters


def test_stand_ins_have_the_names_of_rules() -> None:
    from axiogames.games import protocol

    with pytest.raises(TypeError, match=r"bind it with compile\.bind"):
        protocol.apply(None, None, 0)
    with pytest.raises(AttributeError, match="aply"):
        _ = protocol.aply


@pytest.mark.skipif(not INTERPRETED, reason="compiled rules take NumPy records only")
def test_defaults_without_a_placement_choose_other_actions() -> None:
    def refuse_placements(c: Any, s: Any, action: int) -> int:
        return 0 if action >= c.placements else OCCUPIED

    rules = Rules.of("tiny", **required_rules(refusal=refuse_placements))
    c, s = SimpleNamespace(actions=3, placements=1), SimpleNamespace(phase=PLACE, gain=[0])
    scratch = SimpleNamespace(actions=[0, 0], values=[0.0], utility=None)
    assert rules.nth_legal(c, s, 1) == 2
    assert rules.nth_legal(c, s, 2) == -1
    assert rules.greedy_action(c, s, seed_state(1)) == (1, 0)
    assert rules.top_placements(c, s, 0, 1, scratch) == 0
    assert rules.non_placements(c, s, 0, scratch) == 2
    assert rules.best_placements(c, s, [[0, 1]], scratch.actions) == 0
    assert rules.tiles_exchanged(c, s, 2) == 0
    assert scratch.actions == [1, 2]
