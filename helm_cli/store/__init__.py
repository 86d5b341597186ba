"""What helm remembers between two commands; each module knows one kind of it and how it survives a kill."""
