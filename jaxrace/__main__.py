"""``python -m jaxrace``: the command."""

from jaxrace.cli import command

if __name__ == "__main__":
    command()
