"""Systems that search: the baselines, and the features of frames that models learn from.

Nothing but the gate loads this package, and it knows no campaign: a system is given plain queries, videos and captions.
"""
