"""Where the work stands: how far, how fast, what is stuck and why, what waits for a lead, and when it may be done."""
