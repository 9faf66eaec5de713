"""What every room stands on: checks of arguments, ask and tell, and how programs are compiled."""
