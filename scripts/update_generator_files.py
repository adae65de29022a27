"""Write onto every card that ships which files its generator computes with, as they are now.

python scripts/update_generator_files.py

New models get it when they are trained. Run it for cards from before, never after exchanging such a file: the
models have learned from the numbers of the old one.
"""

import json

from elimipl.cards.card import Card
from elimipl.cards.files import card_paths
from elimipl.data.generator_files import generator_files


def main() -> None:
    for path in card_paths().values():
        card, values = Card.read(path), json.loads(path.read_text(encoding="utf-8"))
        if not card.generator_files and (files := generator_files(card.generator)):
            entries = list(values.items())
            entries.insert(list(values).index("created_by") + 1, ("generator_files", files))
            path.write_text(json.dumps(dict(entries), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            print(path.name)


if __name__ == "__main__":
    main()
