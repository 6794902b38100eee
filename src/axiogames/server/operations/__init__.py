"""What a host does: tables, people, retention, audit log, backup."""
