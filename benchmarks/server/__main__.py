"""`python -m benchmarks.server`."""

from benchmarks.server.run import main

main()
