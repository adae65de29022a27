"""How the models that ship are made: bags of real tiles, recipes chosen on training tiles only, measured honestly."""
