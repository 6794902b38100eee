"""What commands share: options, text, progress, interrupts, and the game in the terminal."""
