"""Tournaments of bots on shared deals, with ratings, confidence intervals and reports."""
