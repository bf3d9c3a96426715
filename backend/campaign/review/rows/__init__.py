"""SQL statements of the pages on which leads review queries and pairs."""
