"""How well people judge: agreement, pace, what annotators may know of their own work."""
