"""Every figure of the papers: a room per paper. Nothing imports them but the command."""
