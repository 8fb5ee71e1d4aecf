"""What the guarantee rests on and the data can contradict."""
