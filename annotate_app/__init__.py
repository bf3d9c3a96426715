"""The Streamlit front end: sign-in, the pages of annotators, who grade, and of leads, who run the campaign."""
