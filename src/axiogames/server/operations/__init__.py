"""Administration: tables, people, retention, audit log and backup."""
