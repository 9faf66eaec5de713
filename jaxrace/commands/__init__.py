"""What the command does: a room per verb, and what they share."""
