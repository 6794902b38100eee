"""Benchmarks of search: rollouts, threads and memory."""
