"""Build the tables that show scores. Terminal, files, report and page only display them."""
