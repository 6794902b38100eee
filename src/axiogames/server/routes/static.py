"""The page's own files: served from the package, told apart by their content, never stale."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litestar import MediaType, Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

WEB = Path(__file__).parents[2] / "web"
COMPRESSED = {".html", ".css", ".js", ".json", ".svg", ".webmanifest"}
SMALLEST_COMPRESSED = 600

mimetypes.add_type("application/manifest+json", ".webmanifest")
mimetypes.add_type("text/javascript", ".js")


@dataclass(frozen=True, slots=True)
class Served:
    """A file in memory, as it was at a time."""

    changed: int
    body: bytes
    packed: bytes | None
    tag: str
    media_type: str


_FILES: dict[Path, Served] = {}


def _load(path: Path) -> Served:
    """A file, read again only when it has changed."""
    changed = path.stat().st_mtime_ns
    found = _FILES.get(path)
    if found is None or found.changed != changed:
        body = path.read_bytes()
        small = path.suffix not in COMPRESSED or len(body) < SMALLEST_COMPRESSED
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        found = _FILES[path] = Served(
            changed,
            body,
            None if small else gzip.compress(body, 9, mtime=0),
            f'"{hashlib.sha256(body).hexdigest()[:20]}"',
            kind,
        )
    return found


def _respond(request: Request[Any, Any, Any], path: Path, status: int = 200) -> Response[bytes]:
    file = _load(path)
    # The browser keeps the file but asks each time whether it is still the same.
    headers = {"etag": file.tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if status == 200 and request.headers.get("if-none-match") == file.tag:
        return Response(b"", status_code=304, headers=headers)
    body = file.body
    if file.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        body = file.packed
    return Response(body, media_type=file.media_type, headers=headers, status_code=status)


def page(request: Request[Any, Any, Any], name: str, status: int = 200) -> Response[bytes]:
    """A page by its name."""
    return _respond(request, WEB / "pages" / f"{name}.html", status)


@get("/static/{path:path}", include_in_schema=False)
async def show_file(request: Request[Any, Any, Any], path: FromPath[str]) -> Response[bytes]:
    """A file of the page."""
    try:
        wanted = (WEB / path.lstrip("/")).resolve()
        found = wanted.is_relative_to(WEB.resolve()) and wanted.is_file()
    except (OSError, ValueError):  # no file can have such a name
        found = False
    if not found:
        raise NotFoundException("there is no such file")
    return _respond(request, wanted)


@get("/", media_type=MediaType.HTML, include_in_schema=False)
async def show_home(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The first page."""
    return page(request, "home")


@get(["/daily", "/me", "/offline", "/privacy"], media_type=MediaType.HTML, include_in_schema=False)
async def show_page(request: Request[Any, Any, Any]) -> Response[bytes]:
    """A page that goes by its address."""
    return page(request, request.url.path.strip("/"))


@get(["/rules", "/rules/{name:str}"], media_type=MediaType.HTML, include_in_schema=False)
async def show_rules_page(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The page that shows rules."""
    return page(request, "rules")


@get("/t/{table_id:str}", media_type=MediaType.HTML, include_in_schema=False)
async def show_table_page(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The page of a table."""
    return page(request, "table")


@get("/sw.js", include_in_schema=False)
async def show_worker(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The service worker; it has to lie at the top to see every page."""
    return _respond(request, WEB / "sw.js")


@get("/manifest.webmanifest", include_in_schema=False)
async def show_manifest(request: Request[Any, Any, Any]) -> Response[bytes]:
    """What a phone needs to install the page."""
    return _respond(request, WEB / "manifest.webmanifest")


@get("/favicon.ico", include_in_schema=False)
async def show_icon(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The icon, for those who ask for it by its old name."""
    return _respond(request, WEB / "icons" / "icon-192.png")


@get("/robots.txt", media_type=MediaType.TEXT, include_in_schema=False)
async def show_robots() -> str:
    """Tables are nobody's search results."""
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
