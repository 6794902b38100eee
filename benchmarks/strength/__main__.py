"""`python -m benchmarks.strength`."""

from benchmarks.strength.run import main

main()
