"""What a user holds: positions, views, tables and records, with their events and text formats."""
