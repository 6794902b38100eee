"""`python -m tools.wasm`: build all layouts, or report which are out of date."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import click

from .build import MANIFEST, OUTPUT, Layout, build_layout, layouts, write_files


@click.command()
@click.option("--all", "everything", is_flag=True, help="Build layouts that are up to date, too.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, help="Number of processes.")
@click.option("--out", type=click.Path(path_type=Path), default=OUTPUT, help="Output directory.")
def command(everything: bool, jobs: int, out: Path) -> None:
    """Build the rules for the browser: a WebAssembly file for each layout, the data of all variants."""
    found = layouts()
    stale = [layout for layout in found if everything or not is_current(layout, out)]
    built = {
        layout.name: (out / f"{layout.name}.wasm").read_bytes() for layout in found if layout not in stale
    }
    with tempfile.TemporaryDirectory() as cache:
        os.environ["AXIO_CACHE_DIR"] = cache  # code compiled for the build must not reach the user's cache
        # A process for each layout: each numbers its symbols from 0, so the bytes are the same every time.
        context = multiprocessing.get_context("spawn")
        with context.Pool(min(jobs, max(len(stale), 1)), maxtasksperchild=1) as pool:
            for layout, content in zip(stale, pool.imap(build_layout, stale, chunksize=1), strict=True):
                built[layout.name] = content
                click.echo(f"{layout.name}: {len(content):,} bytes", err=True)
    write_files(built, found, out)
    click.echo(f"built {len(stale)} of {len(found)} layouts in {out}")


def is_current(layout: Layout, out: Path) -> bool:
    """Return whether the file of a layout was built from the current sources."""
    try:
        entry = json.loads((out / MANIFEST).read_bytes())["layouts"][layout.name]
        return bool(entry["sources"] == layout.digest) and (out / f"{layout.name}.wasm").exists()
    except (OSError, KeyError, ValueError):
        return False


if __name__ == "__main__":
    sys.exit(command())
