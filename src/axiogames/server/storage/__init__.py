"""Database: schema, migrations, journal and queries."""
