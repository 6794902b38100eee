"""Kills the server at any instant, again and again, and compares its log with what clients were told.

`python -m tests.server.crash --kills 3000` is the long run, tests/server/test_crash.py the short one.

    nursery.py   a process that has imported everything and forks servers, which are then killed
    clients.py   people at tables, who play over WebSockets and HTTP as fast as they can
    ledger.py    what they sent and what they were told
    kept.py      what the database has
    audit.py     the log, read from the database and replayed by the engine; raises `Lost`
    arena.py     all of it together: start, play, kill, compare
"""
