"""What a host does with a server: back it up, look after its tables and people, let old ones go."""
