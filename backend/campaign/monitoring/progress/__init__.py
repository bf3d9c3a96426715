"""Report pace, what is left to do and when it may be done, pairs that the team cannot finish, and tasks for leads."""
