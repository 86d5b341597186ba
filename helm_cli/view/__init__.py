"""What people see: text, tables and questions on a terminal, and what goes into a pipe instead."""
