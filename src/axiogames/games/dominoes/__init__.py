"""The family of games with two-coloured tiles scored along lines: one set of rules over tables."""
