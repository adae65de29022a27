"""The one store of the server, and who asks it."""

import ipaddress
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

import streamlit as st

from bag_generators import InputError
from elimipl.classroom.store.classes import ClassStore
from elimipl.classroom.store.database import usual_path

SWEEP_SECONDS = 600.0


def class_store() -> ClassStore:
    """All sessions of this server."""
    return _store(usual_path())


@st.cache_resource(max_entries=4, show_spinner=False)
def _store(path: Path) -> ClassStore:
    store = ClassStore(path)
    threading.Thread(target=_sweep, args=(weakref.ref(store),), name="expired classes", daemon=True).start()
    return store


def _sweep(kept: "weakref.ref[ClassStore]") -> None:
    """Delete what is older than a day, whether anybody comes or not, for as long as the store is in use."""
    while (store := kept()) is not None:
        with suppress(InputError):  # a full disk; the pages say so to people
            store.delete_expired()
        del store
        time.sleep(SWEEP_SECONDS)


def network_address() -> str:
    """Where a visitor comes from, to count wrong codes and opened classes by; one name for all of this machine."""
    return network_of(st.context.ip_address)


def network_of(address: str | None) -> str:
    """What one person has: an IPv4 address, or the 2^64 addresses of an IPv6 network.

    >>> network_of("192.168.1.7"), network_of("2001:db8::1:2:3"), network_of(None)
    ('192.168.1.7', '2001:db8::/64', 'this machine')
    """
    if not address:
        return "this machine"
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((int(known), 64), strict=False)) if known.version == 6 else address
