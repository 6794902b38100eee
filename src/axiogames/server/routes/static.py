"""Routes for the page and its files, with `ETag` revalidation and gzip.

A page is `web/layout.html`, filled with the page's `<main>` from `web/pages/NAME.html` and its head from
`web/pages.json`.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import mimetypes
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Template
from textwrap import indent
from typing import Any

import msgspec
from litestar import MediaType, Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

WEB = Path(__file__).parents[2] / "web"
LAYOUT = WEB / "layout.html"
HEADS = WEB / "pages.json"
INDENT = 4 * " "
COMPRESSED_SUFFIXES = {".html", ".css", ".js", ".json", ".svg", ".webmanifest"}
MIN_COMPRESSED_BYTES = 600

mimetypes.add_type("application/manifest+json", ".webmanifest")
mimetypes.add_type("text/javascript", ".js")


class SkipLink(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The link that skips the header: its target, the key of its text, and the text in English."""

    target: str = "main"
    key: str = "skip"
    text: str = "Skip to content"


class PageHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of a page in the layout. Paths of styles are relative to `css/`, those of scripts to `js/`."""

    description: str
    script: str
    styles: tuple[str, ...] = ()
    preloads: tuple[str, ...] = ()
    viewport: str = ""
    robots: str | None = None
    body_class: str | None = None
    skip: SkipLink = SkipLink()
    footer: bool = True


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A response body in memory, and the modification times of its source files."""

    modified: tuple[int, ...]
    body: bytes
    gzipped: bytes | None
    etag: str
    media_type: str


_CACHE: dict[Path, StaticFile] = {}


def render_page(name: str) -> str:
    """Return the HTML of a page: the layout with the page's head and `<main>`."""
    head = msgspec.json.decode(HEADS.read_bytes(), type=dict[str, PageHead])[name]
    robots = [f'<meta name="robots" content="{head.robots}" />'] if head.robots else []
    main = _page_path(name).read_text(encoding="utf-8")
    return Template(LAYOUT.read_text(encoding="utf-8")).substitute(
        viewport=head.viewport,
        description=html.escape(head.description),
        robots=_lines(robots),
        styles=_lines(f'<link rel="stylesheet" href="/static/css/{path}" />' for path in head.styles),
        preloads=_lines(f'<link rel="modulepreload" href="/static/js/{path}" />' for path in head.preloads),
        script=head.script,
        body=f' class="{head.body_class}"' if head.body_class else "",
        skip_target=head.skip.target,
        skip_key=head.skip.key,
        skip_text=html.escape(head.skip.text),
        main=indent(main, INDENT),
        footer=_lines(['<footer id="bottom"></footer>'] if head.footer else []),
    )


def _lines(elements: Iterable[str]) -> str:
    return "".join(f"{INDENT}{element}\n" for element in elements)


def _page_path(name: str) -> Path:
    return WEB / "pages" / f"{name}.html"


def _load_file(path: Path) -> StaticFile:
    """Return a file from the cache, or read it if it has changed."""
    modified = (path.stat().st_mtime_ns,)
    cached = _CACHE.get(path)
    if cached is None or cached.modified != modified:
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        cached = _CACHE[path] = _static_file(modified, path.read_bytes(), path.suffix, media_type)
    return cached


def _load_page(name: str) -> StaticFile:
    """Return a page from the cache, or render it if one of its files has changed."""
    path = _page_path(name)
    modified = tuple(file.stat().st_mtime_ns for file in (LAYOUT, HEADS, path))
    # The path is the key of the raw file, which is served as well.
    key = Path(name)
    cached = _CACHE.get(key)
    if cached is None or cached.modified != modified:
        cached = _CACHE[key] = _static_file(modified, render_page(name).encode(), path.suffix, "text/html")
    return cached


def _static_file(modified: tuple[int, ...], body: bytes, suffix: str, media_type: str) -> StaticFile:
    compressed = suffix in COMPRESSED_SUFFIXES and len(body) >= MIN_COMPRESSED_BYTES
    return StaticFile(
        modified,
        body,
        gzip.compress(body, 9, mtime=0) if compressed else None,
        f'"{hashlib.sha256(body).hexdigest()[:20]}"',
        media_type,
    )


def _respond(request: Request[Any, Any, Any], file: StaticFile, status: int = 200) -> Response[bytes]:
    # The browser keeps the file but revalidates it before each use.
    headers = {"etag": file.etag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if status == 200 and request.headers.get("if-none-match") == file.etag:
        return Response(b"", status_code=304, headers=headers)
    body = file.body
    if file.gzipped is not None and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        body = file.gzipped
    return Response(body, media_type=file.media_type, headers=headers, status_code=status)


def page(request: Request[Any, Any, Any], name: str, status: int = 200) -> Response[bytes]:
    """Return the page called `name`."""
    return _respond(request, _load_page(name), status)


@get("/static/{path:path}", include_in_schema=False)
async def show_file(request: Request[Any, Any, Any], path: FromPath[str]) -> Response[bytes]:
    """Return a file of the page."""
    try:
        file = (WEB / path.lstrip("/")).resolve()
        exists = file.is_relative_to(WEB.resolve()) and file.is_file()
    except (OSError, ValueError):  # an invalid file name
        exists = False
    if not exists:
        raise NotFoundException("file not found")
    return _respond(request, _load_file(file))


@get("/", media_type=MediaType.HTML, include_in_schema=False)
async def show_home(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the home page."""
    return page(request, "home")


@get(["/daily", "/me", "/offline", "/privacy"], media_type=MediaType.HTML, include_in_schema=False)
async def show_page(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the page named by the path."""
    return page(request, request.url.path.strip("/"))


@get(["/rules", "/rules/{name:str}"], media_type=MediaType.HTML, include_in_schema=False)
async def show_rules_page(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the rules page, which loads the list or the text by its URL."""
    return page(request, "rules")


@get("/t/{table_id:str}", media_type=MediaType.HTML, include_in_schema=False)
async def show_table_page(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the table page, which loads its table by the URL."""
    return page(request, "table")


@get("/sw.js", include_in_schema=False)
async def show_worker(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the service worker. Its scope is its own folder, so it is served at the root."""
    return _respond(request, _load_file(WEB / "sw.js"))


@get("/manifest.webmanifest", include_in_schema=False)
async def show_manifest(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the web app manifest."""
    return _respond(request, _load_file(WEB / "manifest.webmanifest"))


@get("/favicon.ico", include_in_schema=False)
async def show_icon(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the icon under the path that browsers request by default."""
    return _respond(request, _load_file(WEB / "icons" / "icon-192.png"))


@get("/robots.txt", media_type=MediaType.TEXT, include_in_schema=False)
async def show_robots() -> str:
    """Return rules for crawlers: tables are not indexed."""
    return "User-agent: *\nDisallow: /api/\nDisallow: /t/\n"


SITE = [
    show_file,
    show_home,
    show_page,
    show_rules_page,
    show_table_page,
    show_worker,
    show_manifest,
    show_icon,
    show_robots,
]
