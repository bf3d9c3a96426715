"""Who is here: signing in, accounts, single sign-on, the guard in front of everything."""
