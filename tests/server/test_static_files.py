"""Pages and files: rendered from the layout, compressed, and revalidated by `ETag`."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from axiogames.server.routes import static
from tests.server.in_process import Response, running_app
from tests.server.rooms import run


def header(response: Response, name: bytes) -> bytes | None:
    return dict(response.headers).get(name)


@pytest.mark.parametrize("path", ["/", "/t/any", "/offline", "/static/js/shared/dom.js"])
def test_files_are_compressed_and_revalidated(tmp_path: Path, path: str) -> None:
    async def work() -> None:
        async with running_app(tmp_path) as app:
            plain = await app.request("GET", path)
            compressed = await app.request("GET", path, headers={b"accept-encoding": b"gzip"})
            etag = header(plain, b"etag")
            assert etag is not None
            assert header(plain, b"content-encoding") is None
            assert header(compressed, b"content-encoding") == b"gzip"
            assert gzip.decompress(compressed.body) == plain.body
            again = await app.request("GET", path, headers={b"if-none-match": etag})
            assert (again.status, again.body) == (304, b"")
            assert header(again, b"etag") == etag

    run(work)


def test_pages_follow_changes_of_the_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = tmp_path / "layout.html"
    shutil.copy(static.LAYOUT, layout)
    monkeypatch.setattr(static, "LAYOUT", layout)
    before = static._load_page("home")
    assert static._load_page("home") is before
    layout.write_text(layout.read_text(encoding="utf-8").replace("<title>axio", "<title>changed"), "utf-8")
    after = static._load_page("home")
    assert b"<title>changed" in after.body
    assert after.etag != before.etag
