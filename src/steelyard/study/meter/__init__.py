"""Files of meters: what an instrument outside of a machine is asked, and what its answer means."""
