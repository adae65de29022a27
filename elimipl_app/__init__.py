"""What the pages share: figures, widgets, state and wording. The only package that imports streamlit."""
