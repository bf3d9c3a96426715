"""Product one: runs against graded truth. Knows no campaign, no database, no video."""
