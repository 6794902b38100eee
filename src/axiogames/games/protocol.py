"""The facts (`Game`) and the compiled rules (`Rules`) of a game. Its third part is a `variant.Variant`.

Shared loops import the rules from this module by name. The imported objects are stand-ins, which
`runtime.compile.bind` replaces by the rules of a game.
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

MAX_PLAYERS = 4
MAX_TILES = 127  # counts of tiles are summed in bytes


@dataclass(frozen=True, slots=True)
class Option:
    """An optional rule.

    Attributes:
        name: Name of the option.
        summary: One line about the rule.
    """

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class Game:
    """The facts of a game.

    Attributes:
        id: Name of the game in commands, records and `GAMES`.
        name: Title of the game.
        summary: One sentence about the game.
        colours: Letters of the colours.
        tiles: Number of tiles.
        hand: Number of tiles in a full hand.
        cap: Maximum number of points on a track, `None` if there is no limit.
        options: Optional rules.
        reconstructed: Rules and components that no source documents.
        package: Package of a registered game; empty for a built-in game.
    """

    id: str
    name: str
    summary: str
    colours: str
    tiles: int
    hand: int
    cap: int | None
    options: tuple[Option, ...] = ()
    reconstructed: tuple[str, ...] = ()
    package: str = ""

    @property
    def files(self) -> Traversable:
        """The folder of the game, with rules pages, texts, figures and weights."""
        return resources.files(self.package or f"{__package__}.{self.id}")


Rule = Callable[..., Any]


def _hook(parameters: str, summary: str) -> Mapping[str, str]:
    return {"parameters": parameters, "summary": summary}


@dataclass(frozen=True, kw_only=True, eq=False)
class Rules:
    """The compiled rule functions (hooks) of a game.

    Rules use no Python objects, so that they run interpreted, compiled for the CPU and on a GPU. `Rules.of`
    builds them and derives every hook but the four required ones (see `runtime.defaults`).

    A hook takes the constants `c` (fields in `runtime.state.CONSTANT_FIELDS`) and a state `s`
    (`STATE_FIELDS`), both NumPy records, and some of these parameters:

    - `action`: An action id from 0 to `c.actions` - 1. Ids below `c.placements` are placements. In a chance
      phase, it is the id of an outcome.
    - `n`: Index of a legal action in ascending order.
    - `seat`: The seat to observe or to evaluate.
    - `rng`: Array with the state of a generator, see `runtime.xorshift`.
    - `word`: A random 64-bit word of a seeded generator.
    - `gain_keys`: Integer keys of points, see `runtime.evaluation`.
    - `places`: `BoardLayout.places` of the variant.
    - `out`, `mask`, `counts`: Array to write to, `at`: index of its first entry to write.
    - `rows`: Array of rows to write to, see `runtime.describing`; `at`: index of the row to write.
    - `start`: Any non-negative integer, at which a scan starts, so that ties are broken at random.
    - `keep`: Maximum length of the list of the best placements, `kept`: its current length.
    - `value` (of `fallback_action`): Utility of the best placement, `NOTHING_YET` if there is none.
    - `known`: Whether the tiles in the hand of `seat` are known.
    - `scratch`: Record of buffers: `scratch.utility` is the utility table of the seat to move,
      `scratch.actions` and `scratch.values` are the list of the best placements, see `runtime.evaluation`.

    Attributes:
        game: Name of the game.
        apply: `(c, s, action)`. Apply a legal action or a chance outcome, up to the next decision or draw.
        refusal: `(c, s, action) -> int`. Return the reason why an action is illegal for the seat to move, or
            `errors.OK`. It is defined for every action id.
        score: `(c, s, action)`. Write the points of a placement by track into `s.gain`. It is the only source
            of points, and it may return any value for the game's own use.
        observe_board: `(c, s, places, out)`. Write the board into an array of zeros as all seats see it.
        legal_actions: `(c, s, out) -> int`. Write the legal actions, ascending, and return their number.
        count_legal: `(c, s) -> int`. Return the number of legal actions.
        nth_legal: `(c, s, n) -> int`. Return the n-th legal action.
        legal_mask: `(c, s, mask)`. Write 1 for each legal action into an array of zeros.
        sample_legal: `(c, s, rng) -> int`. Return a legal action, uniformly at random. Seeded games depend on
            how an override uses `rng`.
        greedy_action: `(c, s, rng) -> (int, int)`. Return an action with the most points and the number of
            placements scored. Overrides may skip placements that cannot be best, and choose among
            non-placements freely, such as the exchange of the whole hand.
        top_placements: `(c, s, start, keep, scratch) -> int`. List up to `keep` placements with the highest
            utility, the best first, and return their number. The default takes the utility of `s.gain`. An
            override may estimate it differently (dominoes count each point of a pyramid like a first point,
            trio adds the utility of an extra turn); learned weights depend on the estimate.
        best_placements: `(c, s, gain_keys, out) -> int`. Write the legal placements with the highest key,
            ascending, and return their number. Unlike `top_placements`, it is exact.
        tiles_exchanged: `(c, s, action) -> int`. Return the number of tiles that a legal non-placement
            exchanges. Default: 0.
        chance_outcome: `(c, s, word) -> int`. Return the chance outcome that a random 64-bit word selects
            among those that `Variant.chances` lists. Default: an unseen tile.
        sample_chance: `(c, s, rng) -> int`. Return a random chance outcome. Default: a uniform unseen tile.
        has_extra_turn: `(c, s) -> bool`. Return whether the seat that has just moved moves again. Default: a
            placement is due.
        progress: `(c, s) -> float32`. Return the fraction of the game that has been played, in [0, 1].
            Default: by the tiles that have left the bag. An override measures it by design in another way,
            such as by free slots; learned weights depend on it, so it is not compared with the default.
        fallback_action: `(c, s, value, scratch) -> int`. Return the action that replaces a placement of this
            utility, or -1. Default: the first legal action if there is no placement.
        non_placements: `(c, s, kept, scratch) -> int`. Append non-placements to the list of the best actions
            and return its length. Default: all legal ones, ascending, if there is a fallback action.
        restore: `(c, s)`. Recompute the fields in `Variant.derived` from the others, whatever they contain.
            It must not index out of bounds, however wrong the others are: states from outside are checked
            after it. Default: there are no such fields.
        describe: `(c, s, action, rows, at)`. Write an action as numbers, as `runtime.describing` defines
            them. Default: a placement by the constants `slots`, the cells of each slot, and `kind_of`, the
            kind of tile of each way to colour a slot; the other actions pass.
        explain: `(c, s, action, rows) -> int`. Write where the points of a placement come from before caps,
            as `runtime.describing` defines it, and return the number of rows. It may write to `s.gain`.
            Default: the points of each track, without cells.
        observe_counters: `(c, s, seat, out, at)`. Write the entries that `Variant.counter_names` names.
            Default: none.
        add_hidden: `(c, s, seat, counts, at)`. Count by kind the tiles that are hidden from a seat and
            neither in hands nor in the bag. Default: none.
        track_features: `(c, s, seat, out)`. Write four features of each track, its potential points on this
            board, into an array of zeros. Default: zeros. An override defines inputs of the game's learned
            network, so it is not compared with the default.
        expected_gain: `(c, s, seat, known, scratch) -> float32`. Return the mean utility of the next
            placement of a seat. Default: 0. It is an input of the learned network like `track_features`.
    """

    game: str

    # required
    apply: Rule = field(
        metadata=_hook(
            "c, s, action", "apply a legal action or a chance outcome, up to the next decision or draw"
        )
    )
    refusal: Rule = field(
        metadata=_hook("c, s, action", "return the reason why an action is illegal, or `errors.OK`")
    )
    score: Rule = field(metadata=_hook("c, s, action", "write the points of a placement into s.gain"))
    observe_board: Rule = field(
        metadata=_hook("c, s, places, out", "write the board into an array of zeros as all seats see it")
    )

    # derived from `refusal` and `score`; override for speed
    legal_actions: Rule = field(
        metadata=_hook("c, s, out", "write the legal actions, ascending, and return their number")
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
            "c, s, rng", "return an action with the most points, and the number of scored placements"
        )
    )
    top_placements: Rule = field(
        metadata=_hook(
            "c, s, start, keep, scratch", "list the placements with the highest utility, return their number"
        )
    )
    best_placements: Rule = field(
        metadata=_hook(
            "c, s, gain_keys, out", "write the placements with the highest key and return their number"
        )
    )

    # derived; override where the game differs
    sample_chance: Rule = field(
        metadata=_hook("c, s, rng", "return a chance outcome; default: a uniform unseen tile")
    )
    chance_outcome: Rule = field(
        metadata=_hook(
            "c, s, word", "return the chance outcome that a random word selects; default: an unseen tile"
        )
    )
    tiles_exchanged: Rule = field(
        metadata=_hook(
            "c, s, action", "return the number of tiles that a non-placement exchanges; default: 0"
        )
    )
    has_extra_turn: Rule = field(
        metadata=_hook(
            "c, s", "return whether the seat that has just moved moves again; default: a placement is due"
        )
    )
    progress: Rule = field(
        metadata=_hook(
            "c, s", "return the fraction of the game that has been played; default: by the tiles in the bag"
        )
    )
    fallback_action: Rule = field(
        metadata=_hook(
            "c, s, value, scratch",
            "return the action that replaces a placement of this utility, or -1; "
            "default: the first legal action if there is no placement",
        )
    )
    non_placements: Rule = field(
        metadata=_hook(
            "c, s, kept, scratch",
            "append non-placements to a list of `kept` actions and return its length; "
            "default: all legal ones, ascending, if there is a fallback action",
        )
    )
    restore: Rule = field(
        metadata=_hook("c, s", "recompute the fields in `Variant.derived`; default: there are none")
    )
    describe: Rule = field(
        metadata=_hook(
            "c, s, action, rows, at", "write an action as numbers; default: by `c.slots` and `c.kind_of`"
        )
    )
    explain: Rule = field(
        metadata=_hook(
            "c, s, action, rows", "write where points come from; default: only the points of each track"
        )
    )
    observe_counters: Rule = field(
        metadata=_hook("c, s, seat, out, at", "write the entries of `Variant.counter_names`; default: none")
    )
    add_hidden: Rule = field(
        metadata=_hook(
            "c, s, seat, counts, at", "count hidden tiles outside hands and bag by kind; default: none"
        )
    )
    track_features: Rule = field(
        metadata=_hook("c, s, seat, out", "write four features of each track; default: zeros")
    )
    expected_gain: Rule = field(
        metadata=_hook(
            "c, s, seat, known, scratch", "return the mean utility of a seat's next placement; default: 0"
        )
    )

    @classmethod
    def of(cls, game: str, /, **functions: Rule) -> Rules:
        """Return the rules of a game, with defaults for the hooks that are left out.

        Args:
            game: Name of the game, for error messages.
            functions: Rule functions by the name of the hook.

        Returns:
            The complete rules.

        Raises:
            GameDefinitionError: A required hook is missing, a name is unknown, or a function has other
                parameters than its hook.
        """
        # Imported on first use: it needs NumPy, which listing the games does not.
        defaults = import_module(".runtime.defaults", __package__)
        hooks = {hook.name: hook.metadata for hook in fields(cls) if hook.metadata}
        for name in functions:
            if name not in hooks:
                close = get_close_matches(name, hooks, 1)
                remedy = f"did you mean `{close[0]}`?" if close else f"the rules are {', '.join(hooks)}"
                raise GameDefinitionError(f"{game}: unknown rule `{name}`; {remedy}")
        for name, hook in hooks.items():
            if name in functions:
                _check_parameters(game, name, hook["parameters"], functions[name])
            elif name not in defaults.DEFAULTS:
                raise GameDefinitionError(
                    f"{game}: Rules needs `{name}({hook['parameters']})`: {hook['summary']}"
                )
        rules = {name: functions[name] for name in hooks if name in functions}
        for name in defaults.DEFAULTS:
            if name not in rules:
                rules[name] = defaults.derived(name, rules)
        return cls(game=game, **rules)

    def by_name(self) -> dict[str, Rule]:
        """Return the rule functions by the name of the hook."""
        return {name: getattr(self, name) for name in HOOKS}

    def without_overrides(self) -> Rules:
        """Return rules with the defaults of all hooks that are derived from `refusal` and `score`."""
        scans = import_module(".runtime.defaults", __package__).SCANS
        others = {name: rule for name, rule in self.by_name().items() if name not in scans}
        return Rules.of(self.game, **others)


HOOKS = tuple(hook.name for hook in fields(Rules) if hook.metadata)


def _check_parameters(game: str, name: str, expected: str, rule: Any) -> None:
    """Check that a rule takes as many parameters as its callers pass. Raises `GameDefinitionError`."""
    if not inspect.isfunction(rule):
        raise GameDefinitionError(f"{game}: `{name}` must be a function of ({expected}), not {rule!r}")
    parameters = inspect.signature(rule).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if len(parameters) != expected.count(",") + 1 or any(p.kind not in positional for p in parameters):
        actual = ", ".join(str(parameter) for parameter in parameters)
        raise GameDefinitionError(f"{game}: `{name}` takes ({expected}), not ({actual})")


def _unbound(*_: Any) -> NoReturn:
    raise TypeError("a shared loop was called without the rules of a game; bind it with compile.bind")


def __getattr__(name: str) -> Any:
    """Return the stand-in of a hook: `from .protocol import apply`."""
    if name in HOOKS:
        return _unbound
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
