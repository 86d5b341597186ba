"""The version, and nothing else: this module is imported before anything is decided."""

__version__ = "0.1.0"
