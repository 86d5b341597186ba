"""How a person who sits at no terminal of helm learns that something waits for them."""

from helm_cli.broker.stores import Stores
from helm_cli.drivers import desktop


def call(stores: Stores, id_: str, what: str) -> None:
    """Tell the desktop of the question with this id: `what` is as "app close of tickets". Never fails.

    Silent where config.toml says `notify = false` under `[confirm]`.
    """
    if stores.config.notify:
        text = "".join(letter if letter.isprintable() else "?" for letter in f"{what} waits: helm confirm {id_}")
        desktop.notify("helm", text)
