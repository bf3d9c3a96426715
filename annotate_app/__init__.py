"""The Streamlit front end: sign-in, the annotator's desk, the lead's pages."""
