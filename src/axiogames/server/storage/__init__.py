"""The database: schema, journal, and queries."""
