"""Tell who did what and when, and list every setting of the campaign."""
