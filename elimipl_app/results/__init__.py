"""The parts of the Results page: what to look at, figures, table, tested claims."""
