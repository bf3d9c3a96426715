"""The Streamlit front end: sign-in, the annotator's desk, and the lead's pages."""
