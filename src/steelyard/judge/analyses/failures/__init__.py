"""Operations that failed and attempts that did not end well, as responses of their own."""
