"""What the front ends of one project share, so that none of them has to know of another."""
