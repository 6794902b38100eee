"""The loops that the browser runs."""

from __future__ import annotations

from axiogames.games.runtime import loops
from axiogames.games.runtime.signatures import Template
from axiogames.players.evaluation import rollout_loops

EXPORTS: tuple[Template, ...] = (
    loops.step,
    loops.list_legal,
    loops.score_all,
    loops.sample_draw,
    rollout_loops.one_ply_search_at,
    rollout_loops.run_rollouts,
)
