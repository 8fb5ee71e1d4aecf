"""Operations that failed and attempts that failed, as responses of their own."""
