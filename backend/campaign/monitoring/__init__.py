"""Show leads how the campaign goes: progress, agreement, hours, activity and the state of the videos."""
