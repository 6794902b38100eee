"""Peak memory of a process that plays one game of `sim` against itself.

`python -m benchmarks.search.memory GAME PLAYERS LIMIT` plays a game and prints the peak in bytes.
"""

from __future__ import annotations

import subprocess
import sys

from axiogames.players import player
from axiogames.players.match import play_match

MAX_MEGABYTES = 300
LIMIT = "200r"  # rollouts per move; more rollouts take time, not memory


def peak_of_a_game(game: str, players: int, limit: str = LIMIT) -> float:
    """Return the peak resident memory, in megabytes, of a fresh process in which `sim` plays a whole game.

    If the process had to compile the rules, which takes memory, another one is measured.
    """
    command = [sys.executable, "-m", __name__, game, str(players), limit]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    if "compiling" in done.stderr:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1e6


def peak() -> int:
    """Return the peak resident memory of this process in bytes."""
    try:
        # On Linux, `getrusage` includes the memory of the parent process before `exec`.
        with open("/proc/self/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
    except OSError:
        import resource

        maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return maximum if sys.platform == "darwin" else maximum * 1024


def main(game: str, players: str, limit: str) -> None:
    """Play a game and print the peak memory."""
    play_match(game, [player(f"sim@{limit}") for _ in range(int(players))], seed=1)
    print(peak())


if __name__ == "__main__":
    main(*sys.argv[1:])
