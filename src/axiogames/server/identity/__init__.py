"""Identity: people, names, tokens, sessions and personal data."""
