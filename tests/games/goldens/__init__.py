"""Golden files of every game. A difference means that the rules or the deal have changed.

`python -m tests.games.goldens.make` writes the files; review the difference before you commit it.
"""
