"""Version of this package."""

__version__ = "0.1.0"
SOFTWARE = f"Lycosa/{__version__}"
