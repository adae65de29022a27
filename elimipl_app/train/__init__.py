"""The parts of the Train page: data, settings, the worker that trains, what it shows, what one can take along."""
