"""The help of a program of as many commands as helm has, of which no other is loaded: `python typed.py --help`."""

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
for number in range(20):
    app.command(f"command-{number}", help=f"What command {number} is for.")(lambda: None)

if __name__ == "__main__":
    app()
