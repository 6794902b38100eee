"""Programs play each other on shared deals, and figures say who is stronger and how sure that is."""
