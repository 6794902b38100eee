"""Crash tests: kill the server at random instants and compare its log with the messages clients received.

`python -m tests.server.crash --kills 3000` is the long run, tests/server/test_crash.py the short one.
Both need compiled rules (`python -m tests.compiled`): a killed server would never finish compiling them.

    processes.py  a process with all imports done that forks servers, which are then killed
    clients.py    clients that play over WebSockets and HTTP and reconnect after every crash
    ledger.py     the messages they sent and received
    stored.py     direct reads of tables from the database
    checker.py    replay of the stored log, and comparison with the ledger; raises `Inconsistency`
    crash_loop.py start, play, kill, compare
"""
