"""The Streamlit front end: sign-in, the annotators' pages such as the grading page, and the pages of leads."""
