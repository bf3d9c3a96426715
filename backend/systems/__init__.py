"""Systems that search: the baselines, and the features of frames that models learn from.

Only releases and commands load this package, and it knows no campaign: a system is given plain queries, videos and
captions.
"""
