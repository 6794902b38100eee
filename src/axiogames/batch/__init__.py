"""Batches: many games of one variant, stepped together as one array of states.

>>> from axiogames.batch import Batch
>>> batch = Batch("axio", players=2, games=1000, seed=1)
>>> step = batch.step(batch.sample())
>>> step.rewards.shape, int(step.ended.sum())
((1000, 2), 0)
>>> batch.masks().shape == (1000, batch.num_actions)
True
"""

from __future__ import annotations

from .batch import REWARDS, Batch, BatchObservation, BatchStep, StepObservation

__all__ = ["REWARDS", "Batch", "BatchObservation", "BatchStep", "StepObservation"]
