"""Evaluation of positions: utility, features, value network and rollouts."""
