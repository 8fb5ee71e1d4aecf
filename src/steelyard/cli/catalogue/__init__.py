"""Commands that list, show, check and build what studies use."""
