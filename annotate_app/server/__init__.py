"""Serve the app over HTTP: routes, background workers, server process, logs and health checks."""
