"""`python -m tools.wasm`: build all layouts, or report which are out of date."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import click

from .build import OUTPUT, build_layout, is_current, layouts, write_files


@click.command()
@click.argument(
    "names", nargs=-1, metavar="[LAYOUT]...", type=click.Choice([layout.name for layout in layouts()])
)
@click.option("--all", "everything", is_flag=True, help="Build layouts that are up to date, too.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1, help="Number of processes.")
@click.option("--out", type=click.Path(path_type=Path), default=OUTPUT, help="Output directory.")
def command(names: tuple[str, ...], everything: bool, jobs: int, out: Path) -> None:
    """Build the rules for the browser: a WebAssembly file for each LAYOUT, and the data of all variants.

    By default all layouts are built whose sources have changed.
    """
    chosen = [layout for layout in layouts() if not names or layout.name in names]
    stale = [layout for layout in chosen if everything or not is_current(layout, out)]
    built = {}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["AXIO_CACHE_DIR"] = cache  # code compiled for the build must not reach the user's cache
        # A process for each layout: each numbers its symbols from 0, so the bytes are the same every time.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
            for layout, content in zip(stale, pool.map(build_layout, stale), strict=True):
                built[layout] = content
                click.echo(f"{layout.name}: {len(content):,} bytes", err=True)
    write_files(built, out)
    click.echo(f"built {len(stale)} of {len(chosen)} layouts in {out}")


if __name__ == "__main__":
    sys.exit(command())
