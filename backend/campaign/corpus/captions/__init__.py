"""Replace names in published captions, let leads accept or reject the rewrites, and correct caption texts."""
