"""Routes for the page and its files.

Bundles have a hash in their name, so browsers keep them forever. Everything else is revalidated by `ETag`.
Bodies are compressed once: with brotli when the bundles are built, with gzip on first use.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litestar import MediaType, Request, Response, get
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ...web.pages import (
    BUNDLES,
    RULES,
    RULES_INDEX,
    WEB,
    manifest,
    page_sources,
    render_page,
    rules_files,
    uses_sources,
)
from ..lifespan import Server

IMMUTABLE = "public, max-age=31536000, immutable"
REVALIDATED = "no-cache"
ICONS = "icons"
SOURCES = ("css", "generated", "js", "lang")
COMPRESSED_SUFFIXES = {".html", ".css", ".js", ".json", ".svg", ".webmanifest", ".wasm"}
MIN_COMPRESSED_BYTES = 600

mimetypes.add_type("application/manifest+json", ".webmanifest")
mimetypes.add_type("application/wasm", ".wasm")
mimetypes.add_type("text/javascript", ".js")


@dataclass(frozen=True, slots=True)
class StaticFile:
    """Bodies of a response by content coding, in memory, and the modification times of their source files."""

    modified: tuple[int, ...]
    bodies: Mapping[str, bytes]
    etag: str
    media_type: str


_CACHE: dict[Path, StaticFile] = {}


def _load_file(path: Path) -> StaticFile:
    """Return a file from the cache, or read it if it has changed."""
    modified = (path.stat().st_mtime_ns,)
    cached = _CACHE.get(path)
    if cached is None or cached.modified != modified:
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        brotli = path.with_name(f"{path.name}.br") if path.parent in (BUNDLES, RULES) else None
        compressed = {"br": brotli.read_bytes()} if brotli is not None and brotli.exists() else {}
        cached = _CACHE[path] = _static_file(modified, path.read_bytes(), compressed, path.suffix, media_type)
    return cached


def _load_page(name: str) -> StaticFile:
    """Return a page from the cache, or render it if one of its files has changed."""
    modified = tuple(file.stat().st_mtime_ns for file in page_sources(name))
    key = Path(name)
    cached = _CACHE.get(key)
    if cached is None or cached.modified != modified:
        cached = _CACHE[key] = _static_file(modified, render_page(name).encode(), {}, ".html", "text/html")
    return cached


def _static_file(
    modified: tuple[int, ...], body: bytes, compressed: Mapping[str, bytes], suffix: str, media_type: str
) -> StaticFile:
    bodies = {**compressed}
    if suffix in COMPRESSED_SUFFIXES and len(body) >= MIN_COMPRESSED_BYTES:
        bodies["gzip"] = gzip.compress(body, 9, mtime=0)
    return StaticFile(
        modified, {**bodies, "identity": body}, hashlib.sha256(body).hexdigest()[:20], media_type
    )


def choose_coding(accepted: str, available: Mapping[str, bytes]) -> str:
    """Return the content coding that an `Accept-Encoding` header prefers, or the first of several.

    A client that refuses all available codings, `identity` included, gets `identity`.
    """
    weights: dict[str, float] = {}
    for part in accepted.split(","):
        coding, *parameters = (text.strip().lower() for text in part.split(";"))
        weights[coding] = _quality(parameters)
    others = weights.get("*", 0.0)
    # Without a weight of its own, identity is acceptable, but any other acceptable coding is smaller.
    weighed = [(weights.get(coding, others), coding) for coding in available if coding != "identity"]
    best, coding = max(weighed, key=lambda pair: pair[0], default=(0.0, "identity"))
    return coding if best > 0 and best >= weights.get("identity", 0.0) else "identity"


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def _respond(
    request: Request[Any, Any, Any], file: StaticFile, status: int = 200, caching: str = REVALIDATED
) -> Response[bytes]:
    coding = choose_coding(request.headers.get("accept-encoding", ""), file.bodies)
    etag = f'"{file.etag}"' if coding == "identity" else f'"{file.etag}-{coding}"'
    headers = {"etag": etag, "cache-control": caching, "vary": "accept-encoding"}
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if status == 200 and known & {etag, "*"}:
        return Response(b"", status_code=304, headers=headers)
    if coding != "identity":
        headers["content-encoding"] = coding
    return Response(file.bodies[coding], media_type=file.media_type, headers=headers, status_code=status)


def page(request: Request[Any, Any, Any], name: str, status: int = 200) -> Response[bytes]:
    """Return the page called `name`."""
    return _respond(request, _load_page(name), status)


@get("/static/bundles/{name:str}", include_in_schema=False)
async def show_bundle(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
    """Return a built file, whose name has a hash of its content."""
    if name not in manifest().files.values():
        raise NotFoundException("file not found")
    return _respond(request, _load_file(BUNDLES / name), caching=IMMUTABLE)


@get("/static/wasm/{name:str}", include_in_schema=False)
async def show_rules_file(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
    """Return a file of the rules: a module or the data of a variant."""
    if name in rules_files():
        return _respond(request, _load_file(RULES / name), caching=IMMUTABLE)
    if name == RULES_INDEX.name and uses_sources():  # otherwise the bundles contain it
        return _respond(request, _load_file(RULES_INDEX))
    raise NotFoundException("file not found")


@get("/static/{path:path}", include_in_schema=False)
async def show_file(request: Request[Any, Any, Any], path: FromPath[str]) -> Response[bytes]:
    """Return an icon, or a source of the page while it is being developed."""
    folders = (ICONS, *SOURCES) if uses_sources() else (ICONS,)
    try:
        file = (WEB / path.lstrip("/")).resolve()
        exists = any(file.is_relative_to((WEB / folder).resolve()) for folder in folders) and file.is_file()
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
async def show_worker(server: NamedDependency[Server], request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the service worker, or one that removes it. Its scope is its folder, so it is at the root.

    While the page is being developed, nothing is cached.
    """
    wanted = server.settings.service_worker and not uses_sources()
    return _respond(request, _load_file(BUNDLES / "sw.js" if wanted else WEB / "retire-worker.js"))


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
    show_bundle,
    show_rules_file,
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
