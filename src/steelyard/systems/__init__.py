"""What a trial prepares: the platform a system lives on, and the service that runs there."""
