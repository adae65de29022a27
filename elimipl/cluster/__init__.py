"""Work beyond one machine: tasks on the workers of a Dask scheduler. Dask is imported only when asked for."""
