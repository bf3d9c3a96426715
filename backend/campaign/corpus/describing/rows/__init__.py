"""Run the SQL for describing, in which annotators mark moments in videos and write a sentence for each."""
