"""What happens at a table: its log, the people and bots at it, and what each of them is told."""
