"""Tables of published numbers, each with the script that made it (``make_*.py``, not needed at run time)."""
