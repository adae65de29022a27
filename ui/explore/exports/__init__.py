"""Files a person can take away: pure functions from an analysis to text or bytes."""
