"""Pictures of positions, rendered by a separate process."""
