"""Tests of the data that the page gets."""
