"""Pages and files: rendered from the layout, compressed, negotiated, cached, and revalidated by `ETag`."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from axiogames.server.routes import static
from axiogames.web import pages
from axiogames.web.pages import BUNDLES, DEV_VARIABLE, bundle_address, manifest
from tests.server.in_process import Response, running_app
from tests.server.rooms import run

SCRIPT = bundle_address(manifest().files["home.js"])
BODIES = {"br": b"brotli", "gzip": b"gzip", "identity": b"plain"}


def header(response: Response, name: bytes) -> bytes | None:
    return dict(response.headers).get(name)


@pytest.mark.parametrize("path", ["/", "/t/any", "/offline", "/static/icons/icon.svg", SCRIPT])
def test_files_are_compressed_and_revalidated(tmp_path: Path, path: str) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            plain = await app.request("GET", path)
            compressed = await app.request("GET", path, headers={b"accept-encoding": b"gzip"})
            assert header(plain, b"content-encoding") is None
            assert header(compressed, b"content-encoding") == b"gzip"
            assert gzip.decompress(compressed.body) == plain.body
            etags = [header(response, b"etag") or b"" for response in (plain, compressed)]
            assert etags[0] != etags[1], "the bytes differ"
            for etag, coding in zip(etags, (b"identity", b"gzip"), strict=True):
                headers = {b"if-none-match": b'"other", W/' + etag, b"accept-encoding": coding}
                again = await app.request("GET", path, headers=headers)
                assert (again.status, again.body) == (304, b"")
                assert header(again, b"etag") == etag
            assert header(plain, b"vary") == header(compressed, b"vary") == b"accept-encoding"

    run(work)


def test_bundles_are_immutable_and_other_files_revalidated(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            for name in manifest().files.values():
                response = await app.request("GET", bundle_address(name))
                assert response.body == (BUNDLES / name).read_bytes()
                assert header(response, b"cache-control") == b"public, max-age=31536000, immutable"
            for path in ("/", "/rules", "/sw.js", "/manifest.webmanifest", "/static/icons/icon-192.png"):
                assert header(await app.request("GET", path), b"cache-control") == b"no-cache", path

    run(work)


def test_bundles_are_sent_with_brotli(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            headers = {b"accept-encoding": b"gzip, deflate, br"}
            response = await app.request("GET", SCRIPT, headers=headers)
            assert header(response, b"content-encoding") == b"br"
            assert response.body == (BUNDLES / f"{SCRIPT.rpartition('/')[2]}.br").read_bytes()

    run(work)


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("", "identity"),
        ("gzip, deflate, br, zstd", "br"),
        ("GZIP", "gzip"),
        ("gzip;q=0", "identity"),
        ("br;q=0, gzip", "gzip"),
        ("br; q=0.1, gzip; q=0.9", "gzip"),
        ("*", "br"),
        ("*;q=0.5, br;q=0", "gzip"),
        ("*;q=0", "identity"),
        ("gzip;q=0.5, identity", "identity"),
        ("gzip;q=much", "identity"),
        ("deflate, ,;", "identity"),
    ],
)
def test_content_coding_is_the_one_that_the_client_prefers(accepted: str, coding: str) -> None:
    assert static.choose_coding(accepted, BODIES) == coding
    assert static.choose_coding(accepted, {"identity": b""}) == "identity"


@pytest.mark.parametrize(
    "path",
    [
        "js/home/home.js",
        "generated/theme.css",
        "lang/en.json",
        "pages.py",
        "bundles/manifest.json",
        "bundles/sw.js",
    ],
)
def test_sources_are_served_only_while_the_page_is_developed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            assert (await app.request("GET", f"/static/{path}")).status == 404
            monkeypatch.setenv(DEV_VARIABLE, "1")
            response = await app.request("GET", f"/static/{path}")
            assert response.status == (200 if "/" in path and "bundles" not in path else 404)

    run(work)


def test_page_loads_sources_while_it_is_developed(monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = pages.render_page("table")
    monkeypatch.setenv(DEV_VARIABLE, "1")
    sources = pages.render_page("table")
    assert "/static/js/table/main.js" in sources
    assert "/static/css/table/board.css" in sources
    assert "bundles" in bundled
    assert "bundles" not in sources


def test_service_worker_can_be_retired(tmp_path: Path) -> None:
    async def work() -> None:
        for enabled in (True, False):
            async with running_app(tmp_path / str(enabled), service_worker=enabled) as app:
                worker = (await app.request("GET", "/sw.js")).body
                assert (b"unregister" in worker) != enabled
                assert (manifest().version.encode() in worker) == enabled

    run(work)


def test_pages_follow_changes_of_the_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = tmp_path / "layout.html"
    shutil.copy(pages.LAYOUT, layout)
    monkeypatch.setattr(pages, "LAYOUT", layout)
    before = static._load_page("home")
    assert static._load_page("home") is before
    layout.write_text(layout.read_text(encoding="utf-8").replace("<title>axio", "<title>changed"), "utf-8")
    after = static._load_page("home")
    assert b"<title>changed" in after.bodies["identity"]
    assert after.etag != before.etag
