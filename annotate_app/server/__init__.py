"""HTTP and nothing else: routes, workers, the socket."""
