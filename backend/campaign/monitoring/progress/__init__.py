"""Report how far and how fast the work goes, what is stuck and why, what waits for a lead, and when it may be done."""
