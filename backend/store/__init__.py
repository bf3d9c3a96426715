"""Access to a project's database: typed reads and writes with SQL, in SQLite or PostgreSQL."""
