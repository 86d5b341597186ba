"""The use cases, free of any front end: what a command, an agent or a server asks of helm."""
