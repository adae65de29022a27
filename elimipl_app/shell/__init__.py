"""What surrounds every page: title, navigation, log, caches, colours, charts, and the server's set-up."""
