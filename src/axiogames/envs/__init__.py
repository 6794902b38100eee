"""The games as environments of other frameworks, a module for each: import the one that is wanted.

`pettingzoo`, `gymnasium`, `momaland` and `openspiel` need the libraries of the extra `rl`;
docs/guides/environments.md says how they are used.
"""
