"""What a game provides: its facts (`Game`) and its rules (`Rules`). Its names and texts are a `Variant`.

Loops that are written once for all games import the rules from here by their names. These are stand-ins until
`runtime.compile.bind` puts the rules of a game in their place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from importlib import import_module, resources
from importlib.abc import Traversable
from typing import Any, NoReturn

from ..errors import GameDefinitionError

MOST_PLAYERS = 4


@dataclass(frozen=True, slots=True)
class Option:
    """A rule that a table may switch on."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class Game:
    """A game's facts, as a person would list them."""

    id: str
    name: str
    summary: str
    colours: str
    tiles: int
    hand: int
    cap: int | None
    options: tuple[Option, ...] = ()
    reconstructed: tuple[str, ...] = ()
    package: str = ""  # of a registered game; those built in are named by their id

    @property
    def files(self) -> Traversable:
        """The folder of the game: rules pages, texts, figures and weights."""
        return resources.files(self.package or f"{__package__}.{self.id}")


Rule = Callable[..., Any]


def _hook(parameters: str, does: str) -> Mapping[str, str]:
    return {"parameters": parameters, "does": does}


@dataclass(frozen=True, kw_only=True, eq=False)
class Rules:
    """Compiled rule functions of a game over its constants `c` and a state `s`, both NumPy records.

    Rules hold no Python objects, so that they run interpreted, compiled for the CPU and on a GPU. Build one
    with `Rules.of`, which derives what a game leaves out from the five required rules (`runtime.defaults`).

    A rule takes nothing else than `c` (see `runtime.state.CONSTANT_FIELDS`) and `s` (`STATE_FIELDS`), and

    - `action`: the id of a legal action from 0 to `c.actions` - 1, of which those below `c.placements` are
      placements, or in a chance phase of an outcome;
    - `rng`: an array with the state of a generator, see `runtime.xorshift`;
    - `scratch`: a record to work on; `scratch.utility` holds what points are worth, see `runtime.evaluation`.
    """

    game: str

    # required
    apply: Rule = field(
        metadata=_hook(
            "c, s, action", "apply a legal action or a chance outcome, up to the next decision or draw"
        )
    )
    refusal: Rule = field(
        metadata=_hook("c, s, action", "return why the seat to move may not do this, `errors.OK` if it may")
    )
    score: Rule = field(metadata=_hook("c, s, action", "write the points of a placement into s.gain"))
    set_cell: Rule = field(
        metadata=_hook("c, s, cell, value", "put something on the board and update what follows from it")
    )
    observe_board: Rule = field(
        metadata=_hook("c, s, places, out", "write the board as everybody sees it into an array of zeros")
    )

    # derived from `refusal` and `score`; override for speed
    legal_actions: Rule = field(
        metadata=_hook("c, s, out", "write the legal actions, ascending; return their number")
    )
    count_legal: Rule = field(metadata=_hook("c, s", "return the number of legal actions"))
    nth_legal: Rule = field(
        metadata=_hook("c, s, n", "return the n-th legal action, ascending, counted from 0")
    )
    legal_mask: Rule = field(
        metadata=_hook("c, s, mask", "write 1 for each legal action into an array of zeros")
    )
    sample_legal: Rule = field(metadata=_hook("c, s, rng", "return a legal action, uniformly at random"))
    greedy_action: Rule = field(
        metadata=_hook(
            "c, s, rng", "return an action with the most points now, and the number of scored actions"
        )
    )
    top_placements: Rule = field(
        metadata=_hook(
            "c, s, start, keep, scratch", "list the placements with the highest utility; return their number"
        )
    )

    # derived; override where the game differs
    sample_chance: Rule = field(
        metadata=_hook("c, s, rng", "return a chance outcome; default: a uniform unseen tile")
    )
    has_extra_turn: Rule = field(
        metadata=_hook(
            "c, s", "return whether the seat that has just moved moves again; default: it is to place a tile"
        )
    )
    progress: Rule = field(
        metadata=_hook(
            "c, s", "return the share of the game that is over, 0 to 1; default: by the tiles in the bag"
        )
    )
    fallback_action: Rule = field(
        metadata=_hook(
            "c, s, value, scratch",
            "return what to do rather than a placement of this utility, -1 for nothing; "
            "default: the first legal action where there is no placement",
        )
    )
    non_placements: Rule = field(
        metadata=_hook(
            "c, s, kept, scratch",
            "append other actions than placements to a list of `kept`; return its length; "
            "default: all legal ones, ascending, where there is a fallback action",
        )
    )
    observe_counters: Rule = field(
        metadata=_hook("c, s, seat, out, at", "write `Variant.counter_names` from `at` on; default: nothing")
    )
    add_hidden: Rule = field(
        metadata=_hook(
            "c, s, seat, counts, at", "count tiles hidden elsewhere than in hands or the bag; default: none"
        )
    )
    track_features: Rule = field(
        metadata=_hook(
            "c, s, seat, out", "write for each track what it may still gain, in four numbers; default: zeros"
        )
    )
    expected_gain: Rule = field(
        metadata=_hook(
            "c, s, seat, known, scratch", "return the mean utility of a seat's next placement; default: 0"
        )
    )

    @classmethod
    def of(cls, game: str, /, **given: Rule) -> Rules:
        """Return the rules of a game, with defaults for derived rules that are not given.

        Args:
            game: Name of the game, for error messages.
            given: Rule functions by the names of the fields.

        Raises:
            GameDefinitionError: A required rule is missing, there is no rule of a name, or one takes other
                parameters.
        """
        defaults = import_module(
            ".runtime.defaults", __package__
        )  # needs NumPy, which a list of games does not
        hooks = {hook.name: hook.metadata for hook in fields(cls) if hook.metadata}
        for name in given:
            if name not in hooks:
                close = get_close_matches(name, hooks, 1)
                remedy = f"did you mean `{close[0]}`?" if close else f"the rules are {', '.join(hooks)}"
                raise GameDefinitionError(f"{game}: unknown rule `{name}`; {remedy}")
        for name, hook in hooks.items():
            if name in given:
                _check_parameters(game, name, hook["parameters"], given[name])
            elif name not in defaults.DEFAULTS:
                raise GameDefinitionError(
                    f"{game}: Rules needs `{name}({hook['parameters']})`: {hook['does']}"
                )
        rules = {name: given[name] for name in hooks if name in given}
        for name in defaults.DEFAULTS:
            if name not in rules:
                rules[name] = defaults.derived(name, rules)
        return cls(game=game, **rules)

    def by_name(self) -> dict[str, Rule]:
        """Return the rule functions by the names that loops use."""
        return {name: getattr(self, name) for name in HOOKS}

    def without_overrides(self) -> Rules:
        """Return rules in which all that can be derived from `refusal` and `score` is."""
        scans = import_module(".runtime.defaults", __package__).SCANS
        kept = {name: rule for name, rule in self.by_name().items() if name not in scans}
        return Rules.of(self.game, **kept)


HOOKS = tuple(hook.name for hook in fields(Rules) if hook.metadata)


def _check_parameters(game: str, name: str, wanted: str, rule: Any) -> None:
    """Check that a rule takes as many parameters as its callers pass. Raises `GameDefinitionError`."""
    function = getattr(rule, "py_func", rule)  # of a compiled rule
    if not inspect.isfunction(function):
        raise GameDefinitionError(f"{game}: `{name}` is a function of ({wanted}), not {rule!r}")
    parameters = inspect.signature(function).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if len(parameters) != wanted.count(",") + 1 or any(p.kind not in positional for p in parameters):
        took = ", ".join(str(parameter) for parameter in parameters)
        raise GameDefinitionError(f"{game}: `{name}` takes ({wanted}), not ({took})")


def _unbound(*_: Any) -> NoReturn:
    raise TypeError("a shared loop was called without a game's rules: bind it with compile.bind first")


def __getattr__(name: str) -> Any:
    """Return the stand-in for a rule: `from .protocol import apply`."""
    if name in HOOKS:
        return _unbound
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
