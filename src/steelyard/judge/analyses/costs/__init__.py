"""What instances cost the machine that carries them, and where they ran."""
