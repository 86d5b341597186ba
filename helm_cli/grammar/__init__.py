"""The rules of written forms: URLs, globs, placeholders and SQL, without input, output or state."""
