"""`python -m benchmarks.peers.page`: measure, and generate docs/explanation/benchmarks.md.

With `--page`, nothing is measured. The measurements are in docs/_data/benchmarks: cpu.json, the output of
`python -m benchmarks.peers --json`; cuda.json, with `--device cuda`; and many_cores.json, like cpu.json but
from a machine with many cores. These files determine the page and its plots.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from benchmarks.peers import gpu, gpu_page, plots, research
from benchmarks.peers.gpu import GpuReport
from benchmarks.peers.peer_program import BATCH_SIZE
from benchmarks.peers.peers import FLAGS, MOMALAND, MOMALAND_STEPS, SOURCE
from benchmarks.peers.plots import number
from benchmarks.peers.research import TIME_BASES, Ratio, ResearchReport

PAGE = Path("docs/explanation/benchmarks.md")
FOLDER = Path("docs/_data/benchmarks")
CPU_FILE, GPU_FILE = FOLDER / "cpu.json", FOLDER / "cuda.json"
MANY_CORES_FILE = FOLDER / "many_cores.json"
GPU_PLOT = FOLDER / "gpu.svg"
PLOTS = {FOLDER / "speeds.svg": plots.speeds, FOLDER / "ratios.svg": plots.ratios}

HEAD = """# Speed compared with other engines

`python -m benchmarks.peers.page --seconds {seconds:g}` measured these figures in one run of `python -m
benchmarks.peers`, stored them in [cpu.json](../_data/benchmarks/cpu.json), and generated this page and its
plots. The last sections were measured on other machines. {gpu}

- **Machine:** {machine}. The load average was {before:.1f} before the run and {after:.1f} at its end. Other
  load slows Python, which needs more cache, more than small compiled loops. On a busy machine, ratios to
  Python programs are therefore too high, and speed-ups by threads too low.
- **Versions:** {versions}.
- **Method:** {rounds} rounds. Each round measures all workloads for 0.1 s, one after the other, so other
  load affects all of them. Ratios are computed round by round. The figures are medians over the rounds,
  with quartiles in parentheses (lines in the plots). Workloads with one thread are measured in CPU time.
"""

BUSY = """**The machine was busy during this run.** The ratios to MOMAland below are therefore too high, and
those of two threads mean nothing.
"""

LACKED_SECOND_CORE = """**Two cores were not fully available during this run:** even random games in two
threads that share nothing were far from twice as fast. The figures of two threads mean little; see the
section on [a machine with many cores](#two-threads-on-a-machine-with-many-cores).
"""

C_PROGRAM = """## The C program

[{source}](../../benchmarks/peers/{source}) plays `axio` for two players by the complete rules: first tiles,
pyramids (the oldest one moves), caps, extra placements, exchanges and refills. The benchmark compiles it
(`{flags}`) and compares {games} games with our rules, move by move, before measuring it. For the same
random numbers, the moves, points and boards must be equal; otherwise the program is skipped. Tests also
compare games with a lower cap and fewer pyramids, which random games otherwise seldom reach. Both choose
random moves in the same way: a random free slot, then a random tile of the hand in a random orientation.

The program estimates the upper limit of the speed, so it uses the fastest data structures rather than ours.
The 128 slots for a tile are bits of two words: a tile clears its slots with two `and` instructions, and the
n-th free slot is found by counting bits. Scoring a half takes two look-ups in an array indexed by nine-bit
rows. Isolated cells follow from a few shifts of four rows at once. Points are bytes of a word, capped all at
once. Hands are bytes of a word, kept sorted. The bag stores cumulative counts, so a draw needs no search.

GCC's `-O2` is slower, `-fprofile-use` is hardly faster, and disabling AVX-512 is faster, so the flags
disable it on x86. Other compilers, several interleaved games per thread, and hand-written vector code have
not been tried.
"""

PEERS = """## The peers

- **MOMAland's Ingenious** is similar to `hex`: two players on the same board with the same tiles. It
  refills immediately after a bonus, and it exchanges automatically. It runs in a separate process, as
  `raw_env` through PettingZoo's interface (`reset`, `last`, `step`). *Random games* choose random actions
  from the mask. *Steps* replay recorded games from the same seed, so choosing actions takes no time; our
  environment is measured by the same code. *Rules only* is its rules class, without observations.
- **OpenSpiel's hex and havannah** are different games, included for orientation: whole random games in C++,
  as rollouts of its `RandomRolloutEvaluator` for an `MCTSBot`. Rollouts do not report their length, which
  is estimated by the mean of 500 games between its random bots.
- **pgx's hex and go** are different games too: batches of {batch_size} games, compiled by JAX for the CPU,
  in CPU time of all threads.

Our random games in compiled code use compact states (`Batch(…, compact=True)`), which are the fastest for
whole games. In a batch, moves are sampled in the same pass as observations and masks. They are legal, so
they are played without a check.

The target of 1.8 is our definition of "near-linear on two threads". The row after it is the efficiency of a
CPU second when two threads share the work; twice that value is the speed-up on free cores if neither thread
waits for the other. The last row is the speed-up by two threads on this machine if they share nothing, not
even the array that they write to.
"""

MANY_CORES = """## Two threads on a machine with many cores

A speed-up by two threads needs two free cores. `python -m benchmarks.peers --seconds {seconds:g} --json`
measured these figures on another machine ({machine}; Python {python}, NumPy {numpy}, Numba {numba}),
without the peers except for the C program. They are medians of {rounds} rounds, stored in
[many_cores.json](../_data/benchmarks/many_cores.json):
"""


def read() -> ResearchReport:
    """Return the stored report of the CPU."""
    return msgspec.json.decode(CPU_FILE.read_bytes(), type=ResearchReport)


def read_gpu() -> GpuReport | None:
    """Return the stored report of the GPU, or `None` if there is none."""
    if not GPU_FILE.exists():
        return None
    return msgspec.json.decode(GPU_FILE.read_bytes(), type=GpuReport)


def read_many_cores() -> ResearchReport:
    """Return the stored report of the machine with many cores."""
    return msgspec.json.decode(MANY_CORES_FILE.read_bytes(), type=ResearchReport)


def page(
    report: ResearchReport, gpu_report: GpuReport | None, many_cores: ResearchReport | None = None
) -> str:
    """Return the page as Markdown."""
    packages = {
        "Python": report.python,
        "NumPy": report.numpy,
        "Numba": report.numba,
        "PettingZoo": report.pettingzoo,
    }
    versions = [f"{name} {version}" for name, version in packages.items() if version]
    versions += dict.fromkeys(figure.software for figure in report.figures)
    head = HEAD.format(
        seconds=report.seconds,
        machine=report.machine,
        before=report.load_average[0],
        after=report.load_average[1],
        versions=", ".join(versions),
        rounds=report.rounds,
        gpu="The last one is about a GPU." if gpu_report else "No GPU has been measured yet.",
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
            *([LACKED_SECOND_CORE] if report.lacked_second_core else []),
            "## Targets\n",
            *_ratios(report),
            "",
            *_missed(report),
            "![Ratios relative to their targets](../_data/benchmarks/ratios.svg)\n",
            "## Speeds\n",
            *_speeds(report),
            "",
            "![Moves per second](../_data/benchmarks/speeds.svg)\n",
            *([program] if report.games_compared else []),
            PEERS.format(batch_size=BATCH_SIZE),
            *_skipped(report),
            *(_many_cores(many_cores) if many_cores else []),
            *([gpu_page.section(gpu_report)] if gpu_report else []),
        ]
    )


def _ratios(report: ResearchReport) -> Iterator[str]:
    yield "| work | speed of | relative to | ratio | target |"
    yield "|---|---|---|---|---|"
    for ratio in report.ratios:
        target = _target(ratio, report.was_busy)
        yield f"| {ratio.name} | {ratio.numerator} | {ratio.denominator} | {_value(ratio)} | {target} |"


def _value(ratio: Ratio) -> str:
    if ratio.value is None or ratio.low is None or ratio.high is None:
        return "not measured"
    return f"{number(ratio.value)} ({number(ratio.low)} to {number(ratio.high)})"


def _target(ratio: Ratio, was_busy: bool) -> str:
    if ratio.target is None:
        return ""
    doubtful = ratio.met and was_busy and ratio.denominator in (MOMALAND, MOMALAND_STEPS)
    if ratio.met is False:
        result = ": **missed**"
    elif doubtful:
        result = ", met on a busy machine"
    elif ratio.low is not None and ratio.low < ratio.target:
        result = ": **not clearly met**, more than a quarter of the rounds are below"
    else:
        result = ""
    return f"{ratio.target:,g}{result}"


def _missed(report: ResearchReport) -> Iterator[str]:
    missed = [ratio for ratio in report.ratios if ratio.met is False]
    if missed:
        names = "; ".join(f"{ratio.numerator} relative to {ratio.denominator}" for ratio in missed)
        targets = sum(ratio.target is not None for ratio in report.ratios)
        yield f"This run **missed** {len(missed)} of {targets} targets: {names}.\n"


def _speeds(report: ResearchReport) -> Iterator[str]:
    yield "| workload | moves/s | quartiles | time | work |"
    yield "|---|---|---|---|---|"
    for figure in report.figures:
        spread = f"{figure.low:,.0f} to {figure.high:,.0f}"
        speed = f"{figure.moves_per_second:,.0f}"
        time_base = TIME_BASES[figure.time_base]
        yield f"| {figure.name} | {speed} | {spread} | {time_base} | {figure.work} |"


def _skipped(report: ResearchReport) -> Iterator[str]:
    if report.skipped:
        yield "## Skipped peers\n"
        for peer in report.skipped:
            yield f"- {peer.name}: {peer.reason}. To install it: `{peer.install}`"
        yield ""


def _many_cores(report: ResearchReport) -> Iterator[str]:
    yield MANY_CORES.format(**msgspec.structs.asdict(report))
    measured = tuple(ratio for ratio in report.ratios if ratio.value is not None)
    yield from _ratios(msgspec.structs.replace(report, ratios=measured))
    yield ""


def write(report: ResearchReport, gpu_report: GpuReport | None) -> None:
    """Write the page and its plots."""
    PAGE.write_text(page(report, gpu_report, read_many_cores()), encoding="utf-8")
    if gpu_report:
        GPU_PLOT.write_text(plots.launches(gpu_report), encoding="utf-8")
    for path, plot in PLOTS.items():
        path.write_text(plot(report), encoding="utf-8")


@click.command()
@click.option("--seconds", default=10.0, help="Approximate duration of each measurement.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--page", "only_page", is_flag=True, help="Write the page without measuring.")
def main(*, seconds: float, device: str, only_page: bool) -> None:
    """Measure, store the report, and write the page."""
    if not only_page:
        FOLDER.mkdir(parents=True, exist_ok=True)
        with click.progressbar(length=1000, label="measuring") as bar:
            run = research.run if device == "cpu" else gpu.run
            report = run(seconds, lambda completed: bar.update(round(1000 * completed) - bar.pos))
        file = CPU_FILE if device == "cpu" else GPU_FILE
        file.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
    write(read(), read_gpu())


if __name__ == "__main__":
    main()
