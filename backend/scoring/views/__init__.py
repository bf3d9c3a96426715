"""Build the tables that show scores. The terminal, exported files, the report and the web page only display them."""
