"""Sign-in, accounts, single sign-on, and the guard that lets only signed-in people into the app."""
