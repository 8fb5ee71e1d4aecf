"""Small programs that pretend to be hypervisors: they keep a state and refuse what those refuse."""
