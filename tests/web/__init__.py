"""The page: its files, and how it behaves in a real browser."""
