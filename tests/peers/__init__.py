"""Scenes that another renderer draws too, and what it made of them."""
