"""Measuring the speed of the rules on this machine, relative to a reference game."""
