"""What programs of others may call: the approved operations, and nothing that widens trust."""
