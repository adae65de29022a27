"""Plotly figures as pure functions: data in, figure out. Nothing here knows streamlit's state."""
