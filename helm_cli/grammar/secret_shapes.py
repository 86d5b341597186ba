"""Which texts are tokens by their very shape, whatever they are called, and which may well be some."""

import re
from typing import Final

# What documentation puts where a secret goes, and what is filled in later.
_LATER: Final = r"(?![$<{]|\*+(?:@|\Z))"
_SCHEMES: Final = r"(?:[Bb]earer|[Bb]asic|[Tt]oken|[Dd]igest|[Aa]pi[Kk]ey)"
_ISSUED: Final = (
    # GitHub, GitLab, npm, PyPI, Hugging Face, Docker
    r"gh[oprsu]_[A-Za-z0-9]{20,}", r"github_pat_\w{20,}", r"gl(?:pat|ptt|dt|rt|cbt|oas)-[\w-]{16,}",
    r"npm_[A-Za-z0-9]{30,}", r"pypi-[\w-]{32,}", r"hf_[A-Za-z0-9]{20,}", r"dckr_pat_[\w-]{20,}",
    # Models: OpenAI, Anthropic and others that begin with sk-, Groq, xAI, Replicate, Perplexity, Tavily
    r"sk-(?=[\w-]{0,64}\d|[A-Za-z]{16})[\w-]{16,}", r"gsk_[A-Za-z0-9]{20,}", r"xai-[A-Za-z0-9]{40,}",
    r"r8_[A-Za-z0-9]{30,}", r"pplx-[A-Za-z0-9]{32,}", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}",
    # Slack, Telegram, Discord
    r"xox[abceprs]-[\w-]{10,}", r"xapp-[\w-]{20,}", r"(?:bot)?\d{6,12}:AA[\w-]{16,}",
    r"hooks\.slack\.com/(?:services|workflows)/T\w{6,}/[\w/]{16,}",
    r"discord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{20,}",
    # AWS, Google, DigitalOcean, Databricks, Supabase
    r"A[KS]IA[A-Z0-9]{16}", r"AIza[\w-]{35}", r"ya29\.[\w-]{20,}", r"GOCSPX-[\w-]{20,}", r"do[opr]_v1_[a-f0-9]{32,}",
    r"dapi[a-f0-9]{32}", r"sb[ps]_[a-f0-9]{40}",
    # Stripe, Shopify, Square, SendGrid, Twilio's and others' webhooks
    r"[rs]k_(?:live|test)_[A-Za-z0-9]{8,}", r"whsec_[A-Za-z0-9+/]{16,}", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    r"sq0csp-[\w-]{20,}", r"SG\.[\w-]{16,}\.[\w-]{16,}",
    # Linear, Notion, Figma, Atlassian, Postman, New Relic, Sentry, Grafana
    r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}", r"ntn_[A-Za-z0-9]{30,}", r"secret_[A-Za-z0-9]{40,}", r"figd_[\w-]{20,}",
    r"ATATT3[\w=-]{20,}", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", r"NRAK-[A-Z0-9]{27}", r"sntry[su]_[\w=+/-]{20,}",
    r"gl(?:sa|c)_[\w=+/-]{30,}",
)  # fmt: skip
_SHAPES: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:{'|'.join(_ISSUED)})|(?<![\w-])eyJ[\w-]{{8,}}\.[\w-]{{8,}}"
    rf"|[Bb]earer +{_LATER}(?=[!-~]{{0,64}}[0-9_]|[!-~]{{16}})[!-~]{{6,}}"
    rf"|[Aa]uthorization: *(?:{_SCHEMES} +)?(?!{_SCHEMES}\b){_LATER}[!-~]{{6,}}"
    r"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY|AGE-SECRET-KEY-1[A-Z0-9]{20,}"
)
_PASSWORD: Final = re.compile(rf"[a-z][a-z0-9+.-]{{1,20}}://[^/?#@:\s]*:{_LATER}[^/?#@\s]+@")

_RANDOM: Final = re.compile(r"(?=[^0-9]{0,64}[0-9])(?=[^A-Za-z]{0,64}[A-Za-z])[A-Za-z0-9_+/=-]{24,512}")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{32,}|[0-9A-F]{32,}")
# What is known to look so: a UUID names something.
_NAMING: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_FEWEST_DIGITS: Final = 3


def token(text: str) -> bool:
    """Whether somewhere in this text is a token of a well-known shape, a bearer header, or a private key."""
    return _SHAPES.search(text) is not None


def password(text: str) -> bool:
    """Whether somewhere in this text is a URL with a password."""
    return _PASSWORD.search(text) is not None


def random(word: str) -> bool:
    """Whether the whole word looks as if nobody had thought of it: it may be a secret, or a number of something."""
    if _HEXADECIMAL.fullmatch(word):
        return True
    if not _RANDOM.fullmatch(word) or _NAMING.fullmatch(word) or "/" in word:
        return False
    digits = sum(mark.isdigit() for mark in word)
    return digits >= _FEWEST_DIGITS and word.lower() != word != word.upper()
