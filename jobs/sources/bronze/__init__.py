"""Bronze as a source of silver: what silver lacks is made of it without asking the sources once more."""
