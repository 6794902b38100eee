"""Comparison with other engines, on CPUs and GPUs."""
