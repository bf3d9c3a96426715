"""The project's videos as they lie there now: looked at anew, found again, and what is wrong with them."""
