"""``python -m jaxrace``: the command."""

from jaxrace.commands.cli import command

if __name__ == "__main__":
    command()
