"""The extension that `helm demo` shows, as a folder of this package."""
