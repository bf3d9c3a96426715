"""Let leads follow the campaign: progress, agreement, working hours, the activity log, and the state of the videos."""
