"""Configuration of the documentation site: `make docs` builds it, with warnings as errors."""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from axiogames import __version__

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))
logging.getLogger("alembic").setLevel(logging.WARNING)  # it logs each plugin at import

project = "axio"
author = "the axio contributors"
copyright = "the axio contributors"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click", "http_api"]
exclude_patterns = ["_data"]
source_suffix = {".md": "markdown"}
root_doc = "index"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

default_role = "code"  # docstrings write `name`, as Markdown does
smartquotes = False  # keep the dashes of options such as --seed in help texts
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
napoleon_numpy_docstring = False

toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"axio {__version__}"
html_favicon = "../src/axiogames/web/icons/icon.svg"


ROOT_PAGES = {
    "changelog": "CHANGELOG.md",
    "explanation/architecture": "ARCHITECTURE.md",
    "explanation/contributing": "CONTRIBUTING.md",
    "guides/security": "SECURITY.md",
}
"""Pages whose text is a file in the root folder."""


def read_root_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Read a page of `ROOT_PAGES` from its file, with links relative to the page."""
    if name not in ROOT_PAGES:
        return
    moved = {root: f"docs/{page}.md" for page, root in ROOT_PAGES.items()}

    def from_page(match: re.Match[str]) -> str:
        target = DOCS.parent / moved.get(match[1], match[1])
        return f"]({os.path.relpath(target, (DOCS / name).parent)}{match[2] or ''})"

    file = DOCS.parent / ROOT_PAGES[name]
    app.env.note_dependency(str(file))
    source[0] = re.sub(r"\]\(([^)\s#:]+)(#[^)\s]*)?\)", from_page, file.read_text(encoding="utf-8"))


def keep_colons(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Prevent napoleon from parsing the text before a colon in a property's docstring as its type.

    Napoleon parses the first line that is not empty, so an empty comment of reStructuredText goes first.
    """
    if what in ("attribute", "data", "property"):
        lines[:0] = ["..", ""]


def setup(app: Sphinx) -> None:
    """Connect the functions above, and register a plain-text lexer for engine sessions."""
    app.add_lexer("engine", TextLexer)
    app.connect("source-read", read_root_page)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)  # before napoleon, which has 500
