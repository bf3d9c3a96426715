"""The only code that knows SQL: typed reads and writes over one SQLite file."""
