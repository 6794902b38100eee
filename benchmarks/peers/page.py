"""docs/explanation/benchmarks.md: `python -m benchmarks.peers.page` measures and writes it.

`--page` only writes it anew. The measurements are in docs/_data/benchmarks: cpu.json as printed by
`python -m benchmarks.peers --json`, cuda.json with `--device cuda`, and many_cores.json, the former of
another machine. The page and its plots are made from these files alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from benchmarks.peers import gpu, gpu_page, plots, research
from benchmarks.peers.gpu import GpuReport
from benchmarks.peers.peer_program import AT_ONCE
from benchmarks.peers.peers import FLAGS, MOMALAND, MOMALAND_STEPS, SOURCE
from benchmarks.peers.plots import number
from benchmarks.peers.research import Ratio, ResearchReport

PAGE = Path("docs/explanation/benchmarks.md")
FOLDER = Path("docs/_data/benchmarks")
KEPT, KEPT_OF_GPU = FOLDER / "cpu.json", FOLDER / "cuda.json"
MANY_CORES = FOLDER / "many_cores.json"
PLOT_OF_GPU = FOLDER / "gpu.svg"
PLOTS = {FOLDER / "speeds.svg": plots.speeds, FOLDER / "ratios.svg": plots.ratios}

HEAD = """# How fast the engine is, beside others

`python -m benchmarks.peers.page --seconds {seconds:g}` measured all this in one run: what
`python -m benchmarks.peers` does. It kept all of it in [cpu.json](../_data/benchmarks/cpu.json), and
made the page and its plots of that. The last parts are of other machines. {gpu}

- **Machine:** {machine}. {before:.1f} processes wanted a core in the minute before the run, {after:.1f}
  in its last minute. Other work slows Python, which needs more of the caches, more than small compiled
  loops: on a busy machine ratios to programs in Python come out too high, and what two threads gain too
  low.
- **Versions:** {versions}.
- **How:** {rounds} rounds. In each, everything is measured for a tenth of a second, one after the
  other, so that what else the machine does falls on all alike. A ratio is taken in each round. Told are
  medians and, in brackets and as lines in the plots, quartiles. Work of one thread is measured by the
  time it had the processor.
"""

BUSY = """**The machine was busy with other work during this run.** What is said of MOMAland below is
therefore too good for us, and what is said of two threads means nothing.
"""

LACKED_A_CORE = """**There was not as much as two free cores during this run:** even random games in two
threads that share nothing were not near twice as fast. What is said of two threads here means little; see
[below](#two-threads-on-a-machine-with-many-cores).
"""

C_PROGRAM = """## The C program

[{source}](../../benchmarks/peers/{source}) plays `axio` for two by the complete rules: first tiles, pyramids
and the moving of the oldest, caps, extra placements, the exchange, refills. The benchmark compiles it
(`{flags}`) and lets it play {games} games before it is measured: their moves, points and boards must be
those of our rules for the same random numbers, or it is left out. Tests compare games with a lower cap
and fewer pyramids as well, because random games seldom come so far. A random move means the same in
both: any free place, then any way to lay a tile of the hand.

It is meant as the limit, so it does what is fastest rather than what we do. The 128 places for a tile
are bits of two words: a tile clears its places by two `and`s, and the n-th free one is found by
counting bits. A half scores by two look-ups in a table of rows of nine bits. Cells that were shut in
come out of a few shifts of four rows at once. Points are bytes of a word, capped all at once; hands are
bytes of a word, too, which stay sorted. The bag is kept as running totals, so that a draw takes no
search.

Tried: GCC's `-O2` (slower) and `-fprofile-use` (hardly faster), leaving out AVX-512 (faster, so it is
built that way on x86). Not tried: other compilers, several games at once in one thread, vectors written
by hand.
"""

OTHERS = """## What the others do

- **MOMAland's Ingenious** is a game like `hex`: two players on the same board with the same tiles.
  After a bonus it refills at once, and it exchanges by itself. It runs in a process of its own,
  `raw_env` through PettingZoo's interface: `reset`, `last`, `step`. *Random games* take any action of
  the mask. *Steps* are games whose actions were chosen before and are played again from the same seed,
  so that choosing is not counted; our environment is measured by the same code. *Rules only* is its
  class of rules without observations.
- **OpenSpiel's hex and havannah are other games**, told for orientation: whole random games in C++, the
  rollouts of its `RandomRolloutEvaluator` for an `MCTSBot`. Rollouts do not tell how long they were;
  the mean of 500 games between its random bots, whose moves are counted, stands for that.
- **pgx's hex and go are other games**, too: {at_once} games side by side, compiled by JAX for the
  processor, by the time of all its threads.

Our own random games in compiled code are played with lean states (`Batch(…, lean=True)`), which are the
fastest for them. In a batch, moves are sampled in the same pass as observations and masks and then made
unchecked, since they are legal.

"At least 1.8" is our reading of "near-linear on two threads". The line below it in the table says what a
second of the processor is still worth when two threads share the work: twice that is what they would gain
on free cores, if neither ever waited for the other. The last line says what two threads gain on this machine
where they have nothing to share, not even the array that they write to.
"""

ELSEWHERE = """## Two threads on a machine with many cores

Two threads need two cores to themselves. `python -m benchmarks.peers --seconds {seconds:g} --json` on
another machine ({machine}; Python {python}, NumPy {numpy}, Numba {numba}), where
the programs of others are not installed; {rounds} rounds, kept in
[many_cores.json](../_data/benchmarks/many_cores.json):
"""


def read() -> ResearchReport:
    """Return the stored report of the CPU."""
    return msgspec.json.decode(KEPT.read_bytes(), type=ResearchReport)


def read_gpu() -> GpuReport | None:
    """Return the stored report of the GPU, if there is one."""
    if not KEPT_OF_GPU.exists():
        return None
    return msgspec.json.decode(KEPT_OF_GPU.read_bytes(), type=GpuReport)


def read_elsewhere() -> ResearchReport:
    """Return the stored report of a machine with many cores."""
    return msgspec.json.decode(MANY_CORES.read_bytes(), type=ResearchReport)


def page(report: ResearchReport, on_gpu: GpuReport | None, elsewhere: ResearchReport | None = None) -> str:
    """Return the page as Markdown."""
    own = {
        "Python": report.python,
        "NumPy": report.numpy,
        "Numba": report.numba,
        "PettingZoo": report.pettingzoo,
    }
    versions = [f"{name} {version}" for name, version in own.items() if version]
    versions += dict.fromkeys(figure.of for figure in report.figures)
    head = HEAD.format(
        seconds=report.seconds,
        machine=report.machine,
        before=report.busy[0],
        after=report.busy[1],
        versions=", ".join(versions),
        rounds=report.rounds,
        gpu="What a GPU does is at the end." if on_gpu else "No GPU has been measured yet.",
    )
    program = C_PROGRAM.format(
        source=SOURCE.name,
        flags=" ".join(FLAGS),
        games=report.games_compared,
    )
    return "\n".join(
        [
            head,
            *([BUSY] if report.was_busy else []),
            *([LACKED_A_CORE] if report.lacked_a_core else []),
            "## What was asked for\n",
            *_ratios(report),
            "",
            *_missed(report),
            "![Ratios as a share of what was asked for](../_data/benchmarks/ratios.svg)\n",
            "## Speeds\n",
            *_speeds(report),
            "",
            "![Moves in a second](../_data/benchmarks/speeds.svg)\n",
            *([program] if report.games_compared else []),
            OTHERS.format(at_once=AT_ONCE),
            *_left_out(report),
            *(_elsewhere(elsewhere) if elsewhere else []),
            *([gpu_page.section(on_gpu)] if on_gpu else []),
        ]
    )


def _ratios(report: ResearchReport) -> Iterator[str]:
    yield "| | of | to | times | asked: at least |"
    yield "|---|---|---|---|---|"
    for ratio in report.ratios:
        asked = _asked(ratio, report.was_busy)
        yield f"| {ratio.name} | {ratio.of} | {ratio.to} | {_times(ratio)} | {asked} |"


def _times(ratio: Ratio) -> str:
    if ratio.times is None or ratio.low is None or ratio.high is None:
        return "not measured"
    return f"{number(ratio.times)} ({number(ratio.low)} to {number(ratio.high)})"


def _asked(ratio: Ratio, was_busy: bool) -> str:
    if ratio.target is None:
        return ""
    doubtful = ratio.met and was_busy and ratio.to in (MOMALAND, MOMALAND_STEPS)
    if ratio.met is False:
        said = ": **missed**"
    elif doubtful:
        said = ", reached on a busy machine"
    elif ratio.low is not None and ratio.low < ratio.target:
        said = ": **not clearly**, a quarter of the rounds and more say less"
    else:
        said = ""
    return f"{ratio.target:,g}{said}"


def _missed(report: ResearchReport) -> Iterator[str]:
    missed = [ratio for ratio in report.ratios if ratio.met is False]
    if missed:
        some = "; ".join(f"{ratio.of} to {ratio.to}" for ratio in missed)
        asked = sum(ratio.target is not None for ratio in report.ratios)
        yield f"In this run {len(missed)} of {asked} are **missed**: {some}.\n"


def _speeds(report: ResearchReport) -> Iterator[str]:
    yield "| | moves/s | quartiles | by time of | what |"
    yield "|---|---|---|---|---|"
    for figure in report.figures:
        spread = f"{figure.low:,.0f} to {figure.high:,.0f}"
        speed = f"{figure.moves_per_second:,.0f}"
        yield f"| {figure.name} | {speed} | {spread} | the {figure.by} | {figure.what} |"


def _left_out(report: ResearchReport) -> Iterator[str]:
    if report.left_out:
        yield "## Left out\n"
        yield from (f"- {left.name}: {left.why}. To get it: `{left.get}`" for left in report.left_out)
        yield ""


def _elsewhere(report: ResearchReport) -> Iterator[str]:
    yield ELSEWHERE.format(**msgspec.structs.asdict(report))
    measured = tuple(ratio for ratio in report.ratios if ratio.times is not None)
    yield from _ratios(msgspec.structs.replace(report, ratios=measured))
    yield ""


def write(report: ResearchReport, on_gpu: GpuReport | None) -> None:
    """Write the page and its plots."""
    PAGE.write_text(page(report, on_gpu, read_elsewhere()), encoding="utf-8")
    if on_gpu:
        PLOT_OF_GPU.write_text(plots.tries(on_gpu), encoding="utf-8")
    for path, plot in PLOTS.items():
        path.write_text(plot(report), encoding="utf-8")


@click.command()
@click.option("--seconds", default=10.0, help="How long each thing is measured, about.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--page", "only_page", is_flag=True, help="Do not measure: make the page of what is kept.")
def main(seconds: float, device: str, only_page: bool) -> None:
    """Measure, store the report, and write the page."""
    if not only_page:
        FOLDER.mkdir(parents=True, exist_ok=True)
        with click.progressbar(length=1000, label="measuring") as bar:
            run = research.run if device == "cpu" else gpu.run
            report = run(seconds, lambda done: bar.update(round(1000 * done) - bar.pos))
        kept = KEPT if device == "cpu" else KEPT_OF_GPU
        kept.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    write(read(), read_gpu())


if __name__ == "__main__":
    main()
