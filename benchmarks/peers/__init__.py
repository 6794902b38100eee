"""Benchmarks beside other engines, on CPUs and GPUs."""
