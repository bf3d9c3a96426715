"""Let annotators mark moments in videos and write a sentence for each; leads accept these descriptions as captions."""
