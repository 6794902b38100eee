"""The games as environments of other frameworks, a module for each: import the one that is wanted.

`axio.rl.pettingzoo`, `axio.rl.gymnasium`, `axio.rl.momaland` and `axio.rl.openspiel` need the libraries of
the extra `rl`; docs/environments.md says how they are used.
"""
