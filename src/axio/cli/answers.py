"""Answers to what a person asks during a game, from nothing but the view of the seat to move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..chance import Generator
from ..moves import Move
from ..players import Budget
from ..position import Preview
from ..review.hints import hint as best_moves
from ..review.wording import Wording
from ..view import View
from .lines import in_columns, points
from .telling import set_on

SHOWN = 12  # moves that are listed at once
THOUGHT, PATIENCE = 1000, 1.0  # rollouts for a hint, as long as they take no longer than so many seconds


def numbered(moves: Sequence[tuple[Move, str]]) -> list[str]:
    """Moves and what is to be said of them, with numbers to choose by."""
    rows = [(str(number), str(move), text) for number, (move, text) in enumerate(moves, 1)]
    return in_columns(rows, right=(0,), indent=2)


def best_placements(view: View, wanted: Sequence[str]) -> tuple[list[tuple[Move, str]], int]:
    """The placements with most points (of equal ones, those that lift the lowest), and how many there are.

    `wanted` are names of cells and letters of tiles; only placements with all of them count.
    """
    moves = view.legal_moves()
    gains = view.gains(moves)
    own = np.array(list(view.scores[view.turn or 0].values()))
    fitting = [
        n
        for n, move in enumerate(moves)
        if move.kind == "place" and all(_has(view, move, word) for word in wanted)
    ]
    fitting.sort(key=lambda n: (int(gains[n].sum()), sorted(own + gains[n])), reverse=True)
    # A colour named for nothing is no choice of its own.
    fitting = list({(moves[n].tile, moves[n].at, *gains[n].tolist()): n for n in reversed(fitting)}.values())[
        ::-1
    ]
    tracks = view.variant.tracks
    best = [(moves[n], points(dict(zip(tracks, gains[n].tolist(), strict=True)))) for n in fitting[:SHOWN]]
    return best, len(fitting)


def _has(view: View, move: Move, word: str) -> bool:
    if word.lower() in move.at:
        return True
    kind = view.variant.kind_of(word.upper())
    return kind is not None and kind == view.variant.kind_of(move.tile)


def list_moves(view: View, wanted: Sequence[str]) -> tuple[list[Move], list[str]]:
    """The moves to choose from, and the lines that list them."""
    best, total = best_placements(view, wanted)
    lines = numbered(best)
    if not best:
        lines = [f"  There is no placement{' with ' + ' '.join(wanted) if wanted else ''}."]
    elif total > len(best):
        lines.append(f"  ... the best {len(best)} of {total}: moves CELL or moves TILE tells more.")
    if others := sorted({move.kind for move in view.legal_moves() if move.kind != "place"}):
        lines.append(f"  You may also: {', '.join(others)}.")
    return [move for move, _ in best], lines


def hint(view: View, names: Sequence[str], lots: Generator) -> tuple[list[Move], list[str]]:
    """The best moves after some thought, with what they are worth and what speaks for them."""
    found = best_moves(view, Budget(PATIENCE, THOUGHT), lots.bits() >> 1)
    wording = Wording("en", found.terms, tuple(names))
    if not found.suggestions:
        only = view.legal_moves()[0]
        return [only], [f"  {wording.say('hint_only')}", *numbered([(only, "")])]
    listed = [
        (
            Move.parse(one.candidate.move),
            f"{wording.value(one.candidate.value)} ± {wording.change(one.candidate.error)}",
        )
        for one in found.suggestions
    ]
    reasons = [f"  {wording.remark(remark)}" for remark in found.suggestions[0].remarks]
    return [move for move, _ in listed], [*numbered(listed), *reasons]


def scored(move: Move, preview: Preview) -> str:
    """What a move would do."""
    if move.kind != "place":
        return f"{move} scores nothing."
    end = "; the game would be over" if preview.ends_game else ""
    return f"{move} would score {points(preview.gain)}{set_on(preview.pyramids)}{end}."


def help_lines(view: View) -> list[str]:
    """What can be typed now."""
    moves = view.legal_moves()
    placement = next((move for move in moves if move.kind == "place"), None)
    naming = next((move for move in moves if move.named), None)
    kinds = {move.kind for move in moves}
    rows: list[tuple[str, str]] = []
    if placement is not None:
        rows.append((str(placement), _placing(placement)))
    if naming is not None:
        rows.append((str(naming), "the same, naming a colour for the empty corner, which then scores"))
    if "exchange" in kinds:
        some = next(move for move in moves if move.kind == "exchange")
        text = "draw new tiles for those named" if some.tiles else "show your whole hand and draw a new one"
        rows.append((str(some), text))
    if "keep" in kinds:
        rows.append(("keep", "keep your hand and refill it"))
    if "pass" in kinds:
        rows.append(("pass", "nothing can be placed"))
    rows += [
        ("moves", "the placements with most points"),
        *_narrowed(placement),
        ("3", "play number 3 of the moves listed last"),
        ("hint", "the best moves after some thought"),
        ("score MOVE", "what a move would score, without playing it"),
        ("board", "draw the board again"),
        ("undo", "take a placement back, until tiles are drawn or others move"),
        ("position", "the position in one line, for other programs"),
        ("quit", "stop; the game is saved after every move"),
    ]
    return in_columns(rows, indent=2)


def _placing(move: Move) -> str:
    if "," in move.at[0]:
        return "letters clockwise from the top left; steps right,up of the start"
    return f"letters in the order of the cells; {move.tile.lower()} {' '.join(move.at)} will do, too"


def _narrowed(placement: Move | None) -> list[tuple[str, str]]:
    if placement is None:
        return []
    return [(f"moves {placement.at[0]}", f"those on one cell; moves {placement.tile}: those of one tile")]
