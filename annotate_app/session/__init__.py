"""Sign-in, accounts, single sign-on, and the check that lets only signed-in users into the app."""
