"""Who did what and when, and how the campaign is set up, in words."""
