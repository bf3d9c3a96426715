"""Show the activity log, and list every setting of the campaign."""
