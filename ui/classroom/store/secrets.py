"""Codes to type, keys in links, and secrets that are kept as digests only."""

import hashlib
import hmac
import secrets

LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # no 0 and O, no 1, I and L, no U: read aloud and from far away
CODE_LENGTH = 8  # 30^8 = 6.6e11 codes, of which at most MOST_SESSIONS are in use
_LONGEST_TYPED = 200


def new_code() -> str:
    """A code for students to type."""
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def new_key() -> str:
    """128 random bits for a link, or to come back as the teacher."""
    return secrets.token_urlsafe(16)


def as_shown(code: str) -> str:
    """A code in two halves, which are easier to read.

    >>> as_shown("ABCD2345")
    'ABCD-2345'
    """
    return f"{code[: CODE_LENGTH // 2]}-{code[CODE_LENGTH // 2 :]}"


def as_typed(text: str) -> str:
    """What somebody typed as a code, without blanks and hyphens; empty where it can't be one.

    >>> as_typed(" abcd-2345 "), as_typed("<script>")
    ('ABCD2345', '')
    """
    plain = "".join(text[:_LONGEST_TYPED].upper().split()).replace("-", "")
    return plain if len(plain) == CODE_LENGTH and set(plain) <= set(LETTERS) else ""


def digest(role: str, secret: str) -> bytes:
    """What is kept of a secret; the same secret in another role has another digest."""
    return hashlib.sha256(f"{role}\0{secret}".encode("utf-8", "surrogatepass")).digest()


def is_same(one: bytes, other: bytes) -> bool:
    """Whether two digests are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(one, other)
