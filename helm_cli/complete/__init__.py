"""What may stand at the cursor of a command line, of all that only this machine knows: profiles, extensions, calls."""
