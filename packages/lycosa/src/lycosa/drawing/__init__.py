"""Charts, HTML templates and text formatting."""
