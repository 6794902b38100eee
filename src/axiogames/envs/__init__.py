"""Environments of other frameworks, a module for each: PettingZoo, Gymnasium, MOMAland and OpenSpiel.

Import the module of a framework: `pettingzoo`, `gymnasium`, `momaland` or `openspiel`. Their libraries are
installed by the extra `rl`.
"""
