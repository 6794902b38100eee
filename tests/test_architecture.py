"""Rules of the architecture: one tuple names the games, rule code is plain, games are independent."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module, resources
from pathlib import Path
from types import ModuleType

import pytest

import axiogames as axio
from axiogames.games import GAMES, find_variant, game, rules_page

PACKAGE = Path(axio.__file__).parent
RULES = {"axio": 18, "hex": 7, "rota": 8, "trio": 11}


def modules(folder: Path = PACKAGE) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def constants(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_one_tuple_names_the_games(path: Path) -> None:
    where = path.relative_to(PACKAGE)
    # The command is called `axio`, too.
    if where in (Path("games/__init__.py"), Path("__init__.py")):
        return
    named = [(line, text) for line, text in constants(path) if text in GAMES]
    if where.parts[0] == "games" and where.parts[1] in GAMES:
        # The folder of a game may contain its own name, in the declaration.
        named = [(line, text) for line, text in named if text != where.parts[1]]
    assert not named, f"{where} names games: {named}"


@pytest.mark.parametrize("name", GAMES)
def test_games_do_not_import_each_other(name: str) -> None:
    for path in modules(PACKAGE / "games" / name):
        text = path.read_text(encoding="utf-8")
        for other in set(GAMES) - {name}:
            assert not re.search(rf"from \.\.{other}\b|games\.{other}\b", text), path


def rule_modules() -> list[Path]:
    return [
        path
        for path in modules()
        if re.search(r"^@(rule|rule_noinline|entry_point)$", path.read_text(encoding="utf-8"), re.M)
    ]


# Numbers, and functions with the same result on every platform, to the last bit.
NUMPY_IN_RULES = ("float32", "float64", "floor", "sqrt")


@pytest.mark.parametrize("path", rule_modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rule_code_holds_no_python_objects(path: Path) -> None:
    """CUDA kernels cannot use lists, dictionaries, strings, exceptions and allocations."""
    forbidden = (
        ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp,
        ast.JoinedStr, ast.Raise, ast.Try, ast.With, ast.Lambda, ast.Yield, ast.Await,
    )  # fmt: skip
    for function in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
            continue
        body = function.body[1:]  # after the docstring
        assert ast.get_docstring(function), f"{function.name} has no docstring"
        for node in (node for statement in body for node in ast.walk(statement)):
            assert not isinstance(node, forbidden), f"{function.name}, line {node.lineno}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
                known = node.attr.startswith(("int", "uint")) or node.attr in NUMPY_IN_RULES
                assert known, f"{function.name}: np.{node.attr}"


def rule_tests(name: str) -> ModuleType:
    return import_module(f"tests.games.test_{name}")


@pytest.mark.parametrize("name", GAMES)
def test_every_numbered_rule_has_a_test(name: str) -> None:
    table = rule_tests(name).RULES
    assert sorted(table) == list(range(1, RULES[name] + 1))
    for number, tests in table.items():
        assert tests, f"rule {number} of {name} has no test"
        for test in tests:
            assert test.__name__.startswith("test_")
            assert test.__module__.startswith("tests.games.test_")
            collected = vars(import_module(test.__module__)).get(test.__name__)
            assert collected is test, f"another test has the name {test.__name__}"


@pytest.mark.parametrize("name", GAMES)
def test_the_rules_page_has_every_numbered_rule(name: str) -> None:
    page = rules_page(name)
    numbers = {
        int(n) for group in re.findall(r"\((\d+(?:[,–\- ]+\d+)*)\)", page) for n in re.findall(r"\d+", group)
    }
    missing = set(range(1, RULES[name] + 1)) - numbers
    assert not missing, f"the page of {name} leaves out {sorted(missing)}"
    assert "[reconstruction]" in page
    assert "[ruling]" in page
    assert "unofficial" in page.lower()


@pytest.mark.parametrize("name", GAMES)
def test_variants_agree_with_the_declaration_of_their_game(name: str) -> None:
    declared = game(name)
    for players in range(1, 5):
        variant = find_variant(name, players)
        assert sum(variant.tileset.values()) == declared.tiles
        assert variant.hand in (declared.hand, 1)
        assert declared.id == name
        assert declared.reconstructed


def test_the_state_of_axio_for_two_has_at_most_one_kilobyte() -> None:
    assert find_variant(GAMES[0], 2).opening.dtype.itemsize <= 1024


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("players", range(1, 5))
def test_states_have_no_padding_bytes(name: str, players: int) -> None:
    dtype = find_variant(name, players).opening.dtype
    assert dtype.itemsize == sum(dtype.fields[field][0].itemsize for field in dtype.names)


def test_the_package_contains_its_data() -> None:
    files = resources.files(axio)
    assert (files / "model" / "record.schema.json").is_file()
    assert (files / "py.typed").is_file()
