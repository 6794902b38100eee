"""What is kept: the schema and its migrations, the journal of all tables, and what is asked of them."""
