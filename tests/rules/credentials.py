"""Ordinary sentences about credentials, and made-up credentials of every documented shape.

Half of each is for tuning the rule; the other only measures it.
"""

# ruff: noqa: E501 - a line is a sentence.

from __future__ import annotations

import base64
import itertools
import random
import re
import string
from collections.abc import Iterator
from zlib import crc32

ORDINARY = """
{Password|Passcode|API key|Client secret} policy: {at least 12 characters|rotate every 90 days|see the handbook}.
{Encryption|Signing|Private} key: {AES-256 in KMS|RS256, kept in Vault|RSA-4096, made by ops|Ed25519}.
{Refresh|Access|Session|Bot} token: {30-day lifetime|15-minute lifetime|JWT|one per device|opaque, 1 h}.
{Refresh|Access|Session} tokens expire after {15 minutes|30 days|8h}.
The {password|passphrase|API key|client secret} is {in 1Password|kept in Vault|in the safe|on a sticky note|with Maria}.
The {password|access token|api key} is {wrong|expired|missing|too short|not shared by e-mail|case-sensitive}.
The {password|token|secret} was {changed on 2026-03-04|rotated last week|leaked in 2019|reset by IT|revoked at 14:05}.
The {secret|token|passcode} is {patience|a library card|something Maria knows|what opens the gate}.
We use {sk-learn-pipeline-2-feature-union|sk-image-0-25-segmentation-tools|sk-node-12-frontend-blue-3} for it.
Pod sk-{worker-7|frontend-2}-deployment-blue-green was restarted.
{AKIA|sk-|ghp_|xoxb-} is the prefix of {AWS|OpenAI|GitHub|Slack} keys.
Set the {password|token|API key} to {the value from Vault|whatever the vendor sent|a new one each month}.
password: {Optional[str] = None|SecretStr|str|os.getenv("DB_PASSWORD")|${DB_PASSWORD}|<your password>|********}
{api_key|apiKey|secret_key}={settings.api_key|config["key"]|process.env.API_KEY|$API_KEY|<api-key>|...}
def login(user, {password: str|password=None|token=""}): ...
{max_token|token_limit|token}: {4096|8192|128000}
Token budget: {800 per block|128k|4,000}.
Token: GPT-4 counts {1.3|0.75} words each.
Access key: {left drawer|under the mat|ask the porter|second hook on the right}
The secret: {salt the water|butter|a cold oven|slow rises, 18 hours}.
Secret Santa is on {18 December|2026-12-18}, budget 20 euros.
My secret is that I hate coriander.
The access code is printed on the {ticket|invoice|back of the card}.
{Password|Passwort|Contraseña|Mot de passe}: {see the vault|siehe Tresor|ver la caja fuerte|voir le coffre}
Das Passwort ist {abgelaufen|im Tresor|zu kurz}.
La contraseña está {en la caja fuerte|caducada}.
Le mot de passe est {dans le coffre|expiré|trop court}.
I forgot my {password|passcode|PIN}; {the hint is my first pet|support reset it|I will ask Ben}.
Our {API key|bot token|webhook secret} has {40|64} hex characters.
Authorization: Bearer <token> goes into the header.
Send "Authorization: Bearer {$TOKEN|<access token>|...}" with each call.
The bearer {of this letter|token is refreshed hourly|must show an ID}.
Connect with postgres://{user:password@host/db|USER:PASS@localhost:5432/app|app:${PW}@db/app}.
The database lives at postgres://db.internal:5432/shop.
Commit {8f3a91c2b6d04e7f9a1b5c3d7e2f4a6b8c9d0e1f|3b18e512dba79e4c8300dd08aeb37f8e728b8dad} fixed the login.
The build's SHA-256 is 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae.
Ticket {8f3a91c2-b6d0-4e7f-9a1b-5c3d7e2f4a6b|1b4e28ba-2fa1-41d2-883f-0016d3cca427} is about the {password|token} page.
The {password|token} page is tracked as {OPS-1042|AUTH-77|JIRA-20817}.
{Password|Token} length: {16|32|64}.
{Password|Token} rotation: {quarterly|every 90 days|on 1 March}.
Primary key: {user_id|order_number, line_no|uuid}; foreign key: customer_id2.
Access key: {Alt+Shift+F|Ctrl-K|F10}.
The piano piece's key is {C minor|F sharp}.
Answer key: {1b 2c 3a 4d|page 212}.
House key: {number 14|with the neighbour in flat 3B}.
Passport number and password are different things.
The pass is valid until {12:30|2027-01-31}.
The {passphrase|password} must have {four words|a digit and a symbol|12+ characters}.
Two-factor: password plus {TOTP|a YubiKey 5C|an SMS}.
pwd: {/srv/www/projects|~/sites/app2}
The token ring network ran at 16 Mbit/s.
She has a {secret|private} key to the {garden|attic}.
The client's secret weapon is {B2B pricing|their Q3 launch}.
Account key: {accounts are keyed by e-mail|A-to-Z by surname}.
Session token: {expired at 14:05|invalid since v2.3|none}.
API secret: {rotated on 2026-04-01|not used since v3|same as last year?}
The {db password|api token} comes from {/run/secrets/db|secrets.TOKEN_V2|vault://team/db1|env var DB_PW2}.
Password reset: {link valid 24h|goes by e-mail|ticket 4411}.
The password is {the same as before|longer than 12 characters|known to Anna and Ben only}.
""".strip().splitlines()

_HEX, _UPPER, _ALNUM = (
    "0123456789abcdef",
    string.ascii_uppercase,
    string.ascii_letters + string.digits,
)
_URL = _ALNUM + "-_"


def ordinary() -> list[str]:
    """Return sentences that a memory may hold."""
    return [sentence for line in ORDINARY for sentence in spelled(line)]


def spelled(line: str) -> Iterator[str]:
    """Return each choice of a line's `{one|other}`; a brace after `$` stands for itself."""
    parts = re.split(r"(?<!\$)\{([^{}]*(?:\$\{[^{}]*\}[^{}]*)*)\}", line)
    choices = [part.split("|") if odd % 2 else [part] for odd, part in enumerate(parts)]
    return ("".join(words) for words in itertools.product(*choices))


def credentials(seed: int = 1) -> dict[str, str]:
    """Return a made-up credential of each shape, by a name for it."""
    chance = random.Random(seed)

    def run(characters: str, length: int, start: str = "") -> str:
        """Return a random run with a digit in it, whatever the characters are."""
        rest = [chance.choice(characters) for _ in range(length - len(start))]
        if any(one.isdigit() for one in characters) and not any(one.isdigit() for one in rest[1:]):
            rest[-2] = chance.choice(string.digits)
        return start + "".join(rest)

    def base(length: int) -> str:
        return base64.b64encode(chance.randbytes(length)).decode()

    shapes = {
        "aws access key": "AKIA" + run(_UPPER + "234567", 16),
        "aws session key": "ASIA" + run(_UPPER + "234567", 16),
        "github": "ghp_" + run(_ALNUM, 36),
        "github app": "ghs_" + run(_ALNUM, 36),
        "github fine-grained": f"github_pat_{run(_ALNUM, 22)}_{run(_ALNUM, 59)}",
        "gitlab": "glpat-" + run(_URL, 20),
        "gitlab deploy": "gldt-" + run(_URL, 20),
        "gitlab runner": "glrt-" + run(_URL, 20),
        "slack bot": f"xoxb-{run(string.digits, 12)}-{run(string.digits, 12)}-{run(_ALNUM, 24)}",
        "slack user": f"xoxp-{run(string.digits, 12)}-{run(string.digits, 12)}-{run(_HEX, 32)}",
        "slack app": f"xapp-1-A{run(_UPPER, 10)}-{run(string.digits, 13)}-{run(_HEX, 64)}",
        "slack hook": f"https://hooks.slack.com/services/T{run(_UPPER, 8)}/B{run(_UPPER, 8)}/"
        + run(_ALNUM, 24),
        "stripe": "sk_live_" + run(_ALNUM, 24),
        "stripe restricted": "rk_live_" + run(_ALNUM, 24),
        "stripe webhook": "whsec_" + run(_ALNUM, 32),
        "google": "AIza" + run(_URL, 35),
        "google oauth": "ya29." + run(_URL, 60),
        "google client": "GOCSPX-" + run(_URL, 28),
        "hugging face": "hf_" + run(string.ascii_letters, 34),
        "npm": "npm_" + run(_ALNUM, 36),
        "pypi": "pypi-AgEIcHlwaS5vcmc" + run(_URL, 70),
        "sendgrid": f"SG.{run(_URL, 22)}.{run(_URL, 43)}",
        "openai": "sk-" + run(_ALNUM, 48),
        "openai project": f"sk-proj-{run(_URL, 74)}T3BlbkFJ{run(_URL, 74)}",
        "anthropic": "sk-ant-api03-" + run(_URL, 93) + "AA",
        "openrouter": "sk-or-v1-" + run(_HEX, 64),
        "groq": "gsk_" + run(_ALNUM, 52),
        "xai": "xai-" + run(_ALNUM, 80),
        "perplexity": "pplx-" + run(_ALNUM, 48),
        "replicate": "r8_" + run(_ALNUM, 37),
        "nvidia": "nvapi-" + run(_URL, 64),
        "langsmith": f"lsv2_pt_{run(_HEX, 32)}_{run(_HEX, 10)}",
        "tavily": "tvly-" + run(_ALNUM, 32),
        "digitalocean": "dop_v1_" + run(_HEX, 64),
        "digitalocean oauth": "doo_v1_" + run(_HEX, 64),
        "vault": "hvs." + run(_URL, 90),
        "doppler": "dp.pt." + run(_ALNUM, 43),
        "databricks": "dapi" + run(_HEX, 32),
        "linear": "lin_api_" + run(_ALNUM, 40),
        "notion": "ntn_" + run(_ALNUM, 46),
        "notion before": "secret_" + run(_ALNUM, 43),
        "airtable": f"pat{run(_ALNUM, 14)}.{run(_HEX, 64)}",
        "atlassian": "ATATT3xFfGF0" + run(_URL, 180),
        "shopify": "shpat_" + run(_HEX, 32),
        "square": "EAAA" + run(_URL, 60),
        "twilio": "SK" + run(_HEX, 32),
        "mailgun": "key-" + run(_HEX, 32),
        "mailchimp": run(_HEX, 32) + "-us12",
        "telegram": f"{run('123456789', 10)}:AA{run(_URL, 33)}",
        "discord": f"M{run(_ALNUM, 23)}.{run(_URL, 6)}.{run(_URL, 38)}",
        "new relic": "NRAK-" + run(_UPPER + string.digits, 27),
        "grafana": "glsa_" + run(_ALNUM, 32) + "_" + run(_HEX, 8),
        "grafana cloud": "glc_" + base(60),
        "sentry": "sntrys_" + base(90),
        "fly": "fo1_" + run(_URL, 43),
        "planetscale": "pscale_tkn_" + run(_URL, 43),
        "supabase": "sbp_" + run(_HEX, 40),
        "figma": "figd_" + run(_URL, 40),
        "docker hub": "dckr_pat_" + run(_URL, 27),
        "terraform": f"{run(_ALNUM, 14)}.atlasv1.{run(_URL, 67)}",
        "age": "AGE-SECRET-KEY-1" + run("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
        "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + run(_URL, 43),
        "private key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{base(60)}",
        "bearer": "Authorization: Bearer " + run(_ALNUM, 40),
        "basic": "Authorization: Basic " + base(24),
        "cookie": "Cookie: sessionid=" + run(_ALNUM, 32),
        "url": f"postgres://app:{run(_ALNUM, 14)}@db.internal/shop",
        "azure storage": f"AccountKey={base(64)};EndpointSuffix=core.windows.net",
        "azure signature": f"https://a.blob.core.windows.net/b?sv=2024-11-04&sig={run(_ALNUM, 43)}%3D",
        "aws secret": "aws_secret_access_key = " + base(30),
    }
    names = (
        *("password", "passphrase", "api key", "API_KEY", "apiKey", "client_secret", "reset_token"),
        *("auth token", "secret", "signing-key", "DB_PASSWORD", "access_token", "webhook secret"),
        *("Passwort", "contraseña", "mot de passe", "senha", "wachtwoord", "пароль", "mdp"),
    )
    values = {
        "hex that begins with a digit": run(_HEX, 32, "8"),
        "hex that begins with a letter": run(_HEX, 40, "f"),
        "letters and digits": run(_ALNUM, 20),
        "base64": base(24),
        "symbols": "Tr0ub4dor&3",
        "word and year": "Schmetterling2024!",
    }
    for name, (kind, value) in itertools.product(names, values.items()):
        shapes[f"{name} : {kind}"] = f"{name}: {value}"
        shapes[f"{name} = {kind}"] = f"{name}={value}"
    for kind, value in values.items():
        shapes[f"said: {kind}"] = f"the password is {value}"
        shapes[f"changed: {kind}"] = f"My new passcode is now {value}, please keep it."
        shapes[f"quoted: {kind}"] = f'{{"token": "{value}"}}'
    return shapes


def half(text: str) -> str:
    """Return "tuning" or "kept": samples that are never looked at while the rule is tuned."""
    return "kept" if crc32(text.encode()) % 2 else "tuning"
