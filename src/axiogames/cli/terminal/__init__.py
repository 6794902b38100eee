"""Code shared by commands: options, text, progress, interrupts and the game in the terminal."""
