"""The loops that the browser runs."""

from __future__ import annotations

from axiogames.games.runtime import loops, view_loops
from axiogames.games.runtime.signatures import Template
from axiogames.players.bots import choosing
from axiogames.players.evaluation import hidden_tiles, rollout_loops
from axiogames.players.search import search_loops

EXPORTS: tuple[Template, ...] = (
    loops.step,
    loops.list_legal,
    loops.score_all,
    loops.sample_draw,
    view_loops.redact,
    view_loops.restore_derived,
    view_loops.describe_actions,
    view_loops.preview,
    view_loops.rank_seats,
    choosing.choose_by_points,
    choosing.choose_by_value,
    hidden_tiles.infer_hidden_tiles,
    rollout_loops.one_ply_search_at,
    rollout_loops.run_rollouts,
    *search_loops.LOOPS,
)
