"""Commands without their extra name the library, the purpose and the install command in one line."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from axiogames.optional_deps import PURPOSES

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BASE = {"numpy", "numba", "llvmlite", "msgspec", "click", "rich"}
# Modules of the libraries that only extras install.
MODULES = {
    "server": (
        "aiosqlite", "alembic", "argon2", "asyncpg", "httptools", "itsdangerous", "litestar", "markdown_it",
        "platformdirs", "prometheus_client", "sqlalchemy", "uvicorn", "uvloop", "websockets",
    ),
    "png": ("resvg_py",),
    "arena": ("matplotlib", "openskill"),
    "cluster": ("distributed", "ray"),
    "data": ("pyarrow",),
    "rl": ("gymnasium", "pettingzoo", "pyspiel", "PIL"),
    "cuda": ("numba_cuda",),
}  # fmt: skip
ALL = tuple(name for names in MODULES.values() for name in names)

PROGRAM = """
import sys
for name in sys.argv[1].split(","):
    if name:
        sys.modules[name] = None
from axiogames.cli import main
sys.exit(main(sys.argv[2:]))
"""


def without(blocked: tuple[str, ...], *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the program in a process in which the modules in `blocked` cannot be imported."""
    command = [sys.executable, "-c", PROGRAM, ",".join(blocked), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8", cwd=cwd)


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recorded game, written by a base install."""
    folder = tmp_path_factory.mktemp("base")
    done = without(ALL, "simulate", "hex", "--games", "1", "--seed", "1", "--out", "hex.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("arguments", "needed", "purpose", "extra"),
    [
        (("serve",), ("litestar",), "`axio serve`", "server"),
        (("serve",), MODULES["server"], "`axio serve`", "server"),
        (("serve", "--help"), MODULES["server"], "`axio serve`", "server"),
        (("backup", "x.zip"), MODULES["server"], "`axio backup`", "server"),
        (("restore", "x.zip"), MODULES["server"], "`axio restore`", "server"),
        (("admin", "tables"), MODULES["server"], "`axio admin`", "server"),
        (("show", "hex.jsonl", "--png", "x.png"), MODULES["png"], "PNG pictures", "png"),
        (("arena", "run", "hex", "--bots", "random,greedy"), ("openskill",), "`axio arena`", "arena"),
        (("dataset", "hex", "--games", "1", "--out", "x"), MODULES["data"], "datasets", "data"),
    ],
)
def test_a_command_without_its_extra_says_how_to_install_it(
    arguments: tuple[str, ...], needed: tuple[str, ...], purpose: str, extra: str, game: Path
) -> None:
    done = without(needed, *arguments, cwd=game)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    library, _, rest = line.removeprefix("axio: ").partition(" is required for ")
    assert library in needed
    assert rest.startswith(f'{purpose}; install it with `pip install ".[{extra}]"`'), line


BASE_COMMANDS = (
    "--help",
    "games",
    "rules hex",
    "verify hex.jsonl",
    "show hex.jsonl --ply 3",
    "show hex.jsonl --svg hex.svg",
    "hint --help",
    "bench --help",
)


def test_a_base_install_runs_everything_else(game: Path) -> None:
    """All in one process, since the start of a process takes longer than most commands."""
    code = f"import sys\nfor name in {ALL!r}: sys.modules[name] = None\n"
    code += "from axiogames.cli import main\n"
    code += f"print({{line: main(line.split()) for line in {BASE_COMMANDS!r}}}, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=game, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == str(dict.fromkeys(BASE_COMMANDS, 0)), done.stderr


def test_importing_the_package_needs_no_extra(tmp_path: Path) -> None:
    code = f"import sys\nfor name in {ALL!r}: sys.modules[name] = None\nimport axiogames\n"
    code += "for name in axiogames.__all__: getattr(axiogames, name)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def library_names(requirements: list[str]) -> set[str]:
    """Return the names of the distributions in a list of requirements."""
    names = set()
    for requirement in requirements:
        name = requirement.partition(";")[0]
        for end in "<>=[ ":
            name = name.partition(end)[0]
        names.add(name)
    return names


def test_the_base_install_is_small() -> None:
    assert library_names(PROJECT["dependencies"]) == BASE


def test_every_extra_has_a_purpose() -> None:
    assert set(PROJECT["optional-dependencies"]) == set(PURPOSES)


def test_the_extras_server_and_rl_include_png() -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(extras["png"]) < set(extras["server"])
    assert set(extras["png"]) < set(extras["rl"])  # environments render frames as PNG pictures
