"""The package is installed from its source folder: `axio` on PyPI is another package."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from collections.abc import Iterator
from importlib import metadata
from itertools import takewhile
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

import axiogames as axio

ROOT = Path(__file__).parents[1]
NAMES = {"axio", "axiogames"}
# Files with examples of wrong commands.
EXCLUDED = {"tests/test_installation.py"}
TEXTS = {".md", ".py", ".toml", ".txt", ".json", ".html", ".js", ".yml", ".yaml", ".cfg", ".sh", ".ipynb", ""}

INSTALLERS = (
    r"pip3?(?:\.exe)?\s+(?:install|download|wheel)"
    r"|pipx\s+(?:install|run|inject)|uvx|uv\s+(?:add|tool\s+(?:install|run)|pip\s+install)"
    r"|poetry\s+add|pdm\s+add|hatch\s+dep|conda\s+install|mamba\s+install|easy_install"
)
_COMMAND = re.compile(rf"(?:{INSTALLERS})(?P<rest>[^\n`#|;&]*)")
_EXTRA = re.compile(r"(?<![\w/.-])(?:axio|axiogames)\[[a-z]")
_REQUIREMENT = re.compile(r"^[\w.-]+")


def texts() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    if listed.returncode:
        pytest.skip("not a checkout: the files of the project are not known")
    return [name for name in listed.stdout.split("\n") if name and Path(name).suffix in TEXTS]


def from_an_index(text: str) -> list[str]:
    """Return the commands in a text that would install the package from an index, and names with extras."""
    found = [match[0] for match in _EXTRA.finditer(text)]
    for match in _COMMAND.finditer(text):
        words = (word.strip("\"'\\,.()") for word in match["rest"].split())
        for word in takewhile(lambda word: word != "in", words):  # before "in the source folder"
            name = _REQUIREMENT.match(word)
            if name and name[0].lower() in NAMES and "/" not in word and not word.endswith((".whl", ".gz")):
                found.append(match[0])
    return found


@pytest.mark.parametrize(
    "text",
    [
        "pip install axio",
        'run pip install "axio[arena]" first',
        "python -m pip install --upgrade 'axio>=1'",
        "pipx install axio",
        "uvx axio serve",
        "uv add axio",
        "needs axio[rl]",
    ],
)
def test_installation_from_an_index_is_recognised(text: str) -> None:
    assert from_an_index(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install .",
        'pip install ".[arena]"',
        "pip install dist/axio-1.whl && axio play",
        "make play; axio",
    ],
)
def test_installation_from_a_folder_is_accepted(text: str) -> None:
    assert not from_an_index(text)


def test_no_text_recommends_installation_from_an_index() -> None:
    found = {}
    for name in texts():
        path = ROOT / name
        if name in EXCLUDED or not path.is_file():
            continue
        if wrong := from_an_index(path.read_text(encoding="utf-8", errors="replace")):
            found[name] = wrong
    assert not found


def test_no_requirement_names_the_package_itself() -> None:
    """Pip would look for the package in the index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    required = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for group in (project["project"]["optional-dependencies"], project["dependency-groups"]):
        required += [name for names in group.values() for name in names if isinstance(name, str)]
    for file in (ROOT / "requirements").glob("*.txt"):
        required += file.read_text(encoding="utf-8").splitlines()
    names = {name[0].lower() for requirement in required if (name := _REQUIREMENT.match(requirement))}
    assert "numpy" in names
    assert not names & NAMES


def test_the_extra_cluster_includes_the_extra_arena() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(extras["arena"]) < set(extras["cluster"])


def test_extras_in_error_messages_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    matches: set[tuple[str, str]] = set()
    for path in Path(axio.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        matches |= set(re.findall(r'require\("[\w.]+", "(\w+)"|EXTRA = "(\w+)"', text))
    named = {extra for match in matches for extra in match if extra}
    assert {"data", "rl", "cluster", "cuda"} <= named
    assert named <= set(extras["optional-dependencies"])


# ---------------------------------------------------------------- the wheel


def build(kind: str, source: Path, folder: Path) -> Path:
    """Build a wheel or an sdist and return its file."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


def names_in(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_contains_the_package_only(wheel: Path) -> None:
    names = names_in(wheel)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"axiogames"}
    assert "axiogames/__init__.py" in names
    assert not [name for name in names if name.endswith((".c", ".so", ".pyc"))]
    assert not [name for name in names if "benchmarks" in name or "peers" in name or "tests/" in name]


def test_the_sdist_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    sdist = build("sdist", ROOT, tmp_path)
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert names_in(build("wheel", source, tmp_path / "dist")) == names_in(wheel)


def installed_requirements(name: str, extras: set[str]) -> Iterator[metadata.Distribution]:
    """Yield the distributions that a distribution requires in this environment, directly or not."""
    for line in metadata.requires(name) or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            yield metadata.distribution(requirement.name)
            yield from installed_requirements(requirement.name, requirement.extras)


@pytest.fixture(scope="module")
def clean_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program `axio` in an environment with the wheel and the base requirements only."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for distribution in installed_requirements("axiogames", set()):
        for name in {file.parts[0] for file in distribution.files or () if ".." not in file.parts}:
            if name != "__pycache__" and not (packages / name).exists():
                (packages / name).symlink_to(str(distribution.locate_file(name)))
    python = folder / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps"]
    subprocess.run([*command, str(wheel)], check=True, capture_output=True)
    return folder / "bin" / "axio"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--version", f"axio {axio.__version__}"),
        ("rules rota", "rota"),
        # .ci/run does so, too: the rules are compiled from nothing.
        pytest.param(
            "simulate rota --games 1 --bots random,greedy --seed 1", "1 game", marks=pytest.mark.slow
        ),
    ],
)
def test_the_wheel_runs_in_a_clean_environment(
    clean_environment: Path, arguments: str, expected: str, tmp_path: Path
) -> None:
    ran = subprocess.run(
        [str(clean_environment), *arguments.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert expected in ran.stdout + ran.stderr


def test_a_command_of_an_extra_says_how_to_install_it(clean_environment: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [str(clean_environment), "serve"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1
    assert "[server]" in ran.stderr


def test_the_package_imports_nothing_that_the_wheel_does_not_contain() -> None:
    """Also inside functions and under `TYPE_CHECKING`."""
    for path in Path(axio.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported = [node.module or ""]
            else:
                continue
            roots = {name.partition(".")[0] for name in imported}
            assert not roots & {"benchmarks", "tests", "examples"}, f"{path}: line {node.lineno}"


def test_the_bench_command_runs_without_the_source_folder(tmp_path: Path) -> None:
    code = "import sys; from axiogames.cli import main; sys.exit(main(['bench', 'hex', '--seconds', '0.01']))"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "hex greedy" in ran.stdout
