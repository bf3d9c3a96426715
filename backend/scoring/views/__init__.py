"""What people see of scores, computed once: plain tables that terminal, files, report and page only render."""
