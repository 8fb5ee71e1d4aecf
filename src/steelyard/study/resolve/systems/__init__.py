"""What is compared: systems, their servers, disks, settings, meters and machines."""
