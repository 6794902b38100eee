"""The HTML of the pages, and the names of the files that they load.

A page is `layout.html`, filled with the page's `<main>` from `pages/NAME.html` and its head from
`pages.json`. `make bundles` bundles scripts, styles and texts and writes their names to
`bundles/manifest.json`. While the page is being developed (`AXIO_WEB_DEV=1`), browsers load the sources.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from string import Template
from textwrap import indent

import msgspec

WEB = Path(__file__).parent
LAYOUT = WEB / "layout.html"
HEADS = WEB / "pages.json"
BUNDLES = WEB / "bundles"
MANIFEST = BUNDLES / "manifest.json"
RULES = WEB / "wasm"  # the rules, built by `make wasm`
RULES_INDEX = RULES / "index.json"
DEV_VARIABLE = "AXIO_WEB_DEV"
BEFORE_PAINT = "js/shared/before-paint.js"
INDENT = 4 * " "


class SkipLink(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The link that skips the header: its target, the key of its text, and the text in English."""

    target: str = "main"
    key: str = "skip"
    text: str = "Skip to content"


class PageHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of a page in the layout. Paths of styles are relative to `css/`, those of scripts to `js/`.

    `data` is the address of the data that the page shows first, with placeholders for the language and for
    the id in the address of the page.
    """

    description: str
    script: str
    styles: tuple[str, ...] = ()
    data: str = ""
    viewport: str = ""
    robots: str | None = None
    body_class: str | None = None
    skip: SkipLink = SkipLink()
    footer: bool = True


class PageBundles(msgspec.Struct, frozen=True):
    """Names of the bundles of a page."""

    script: str
    styles: str


class Manifest(msgspec.Struct, frozen=True):
    """The built files: bundles by page, texts by language, and all of them by the name without a hash."""

    version: str
    pages: dict[str, PageBundles]
    texts: dict[str, str]
    files: dict[str, str]


class VariantFiles(msgspec.Struct, frozen=True):
    """The files of a variant: its data, the module of its board, and the digest of both."""

    data: str
    module: str
    rules: str


class RulesIndex(msgspec.Struct, frozen=True):
    """The files of the rules, by variant."""

    variants: dict[str, VariantFiles]


class PageLinks(msgspec.Struct, frozen=True):
    """Addresses in the head of a page, and the script that runs before the first paint."""

    styles: tuple[str, ...]
    script: str
    icon: str
    texts: Mapping[str, str]
    before_paint: str  # attributes and content of the script


def uses_sources() -> bool:
    """Return whether browsers load the sources of the page instead of the bundles."""
    return os.environ.get(DEV_VARIABLE, "") not in ("", "0")


@cache
def manifest() -> Manifest:
    """Return the manifest of the bundles."""
    return msgspec.json.decode(MANIFEST.read_bytes(), type=Manifest)


@cache
def rules_index() -> RulesIndex:
    """Return the index of the files of the rules."""
    return msgspec.json.decode(RULES_INDEX.read_bytes(), type=RulesIndex)


@cache
def rules_files() -> frozenset[str]:
    """Return the names of the files of the rules, which have a hash of their content."""
    return frozenset(name for entry in rules_index().variants.values() for name in (entry.data, entry.module))


@cache
def script_hash() -> str:
    """Return the hash by which a content security policy allows the inline script of the pages."""
    digest = hashlib.sha256(_inline_script().encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def page_sources(name: str) -> tuple[Path, ...]:
    """Return the files from which a page is rendered."""
    return LAYOUT, HEADS, MANIFEST, _main_path(name)


def render_page(name: str) -> str:
    """Return the HTML of a page: the layout with the page's head and `<main>`."""
    head = _heads()[name]
    links = _source_links(head) if uses_sources() else _bundle_links(name)
    robots = [f'<meta name="robots" content="{head.robots}" />'] if head.robots else []
    main = _main_path(name).read_text(encoding="utf-8")
    texts = html.escape(msgspec.json.encode(links.texts).decode())
    data = f' data-data="{html.escape(head.data)}"' if head.data else ""
    return Template(LAYOUT.read_text(encoding="utf-8")).substitute(
        viewport=head.viewport,
        description=html.escape(head.description),
        robots=_lines(robots),
        before_paint=_lines([f'<script data-texts="{texts}"{data}{links.before_paint}</script>']),
        styles=_lines(f'<link rel="stylesheet" href="{path}" />' for path in links.styles),
        icon=links.icon,
        script=links.script,
        body=f' class="{head.body_class}"' if head.body_class else "",
        skip_target=head.skip.target,
        skip_key=head.skip.key,
        skip_text=html.escape(head.skip.text),
        main=indent(main, INDENT),
        footer=_lines(['<footer id="bottom"></footer>'] if head.footer else []),
    )


def _bundle_links(name: str) -> PageLinks:
    bundles, files = manifest().pages[name], manifest().files
    return PageLinks(
        styles=(bundle_address(bundles.styles),),
        script=bundle_address(bundles.script),
        icon=bundle_address(files["icon.svg"]),
        texts={language: bundle_address(file) for language, file in manifest().texts.items()},
        before_paint=f">{_inline_script()}",
    )


def _source_links(head: PageHead) -> PageLinks:
    styles = ("generated/theme.css", "css/shared/base.css", *(f"css/{path}" for path in head.styles))
    return PageLinks(
        styles=tuple(f"/static/{path}" for path in styles),
        script=f"/static/js/{head.script}",
        icon="/static/icons/icon.svg",
        texts={path.stem: f"/static/lang/{path.name}" for path in sorted((WEB / "lang").glob("*.json"))},
        before_paint=f' src="/static/{BEFORE_PAINT}">',
    )


def bundle_address(file: str) -> str:
    """Return the address of a built file."""
    return f"/static/bundles/{file}"


@cache
def _inline_script() -> str:
    return (BUNDLES / manifest().files[Path(BEFORE_PAINT).name]).read_text(encoding="utf-8").strip()


def _heads() -> dict[str, PageHead]:
    return msgspec.json.decode(HEADS.read_bytes(), type=dict[str, PageHead])


def _lines(elements: Iterable[str]) -> str:
    return "".join(f"{INDENT}{element}\n" for element in elements)


def _main_path(name: str) -> Path:
    return WEB / "pages" / f"{name}.html"
