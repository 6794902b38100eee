"""The games as environments of other frameworks, a module for each: import the one that is wanted.

`axiogames.envs.pettingzoo`, `axiogames.envs.gymnasium`, `axiogames.envs.momaland` and `axiogames.envs.openspiel` need the libraries of
the extra `rl`; docs/environments.md says how they are used.
"""
