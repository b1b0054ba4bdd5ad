"""The patterns of secrets that are told by the words around them: commands, headers, sentences, named values (D4)."""

from __future__ import annotations

import re

URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.]{1,20}://([^\s:/@\"'<>?#]{0,100}):([^\s/\"'<>]{1,200})@([^\s/\"'<>,;)]{1,200})")
CURL_USER = re.compile(
    r"\bcurl\b(?:[^\n]|\\\n){0,300}?(?:\s-u|--user|--proxy-user)[ =]{1,3}"
    r"[\"']?([^\s:\"']{0,60})[\"']?:[\"']?([^\s\"']{3,100})"
)
HEADER = re.compile(
    (
        r"\b(?:authorization|x-[a-z-]{2,30}(?:key|token|auth)|api-?key|private-token"
        r"|x-auth)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:(?:bearer|basic|token|apikey|key|digest"
        r"|negotiate)\s{1,3})?([A-Za-z0-9+/=._~:-]{12,2000})"
    ),
    re.IGNORECASE,
)
BEARER = re.compile(r"\b(?:bearer|basic)\s{1,3}([A-Za-z0-9+/=._~-]{16,2000})", re.IGNORECASE)
NETRC = re.compile(r"\bmachine\s{1,4}\S{1,100}\s{1,4}login\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(\S{3,200})")
PSEXEC = re.compile(
    (
        r"(?:-u|/user:?|--username)[ =:]\S{1,60}\s{1,3}(?:-p|/p(?:ass(?:word)?)?:?"
        r"|--password)[ =:]{0,2}[\"']?(\S{6,100})"
    ),
    re.IGNORECASE,
)
SERVICE = re.compile(
    r"\b(?:mysql|mariadb|postgres(?:ql)?|redis|mongo(?:db)?|oracle|mssql|clickhouse|rabbitmq|smtp|imap|ftp|ssh|ldap)"
    r"[ \t:=：]{1,3}(?:[\w.-]{1,60}/){1,3}([A-Za-z]{3,30})/(\1[\w!@#$%^&*-]{0,20}\d[\w!@#$%^&*-]{0,20})(?![\w/.])",
    re.IGNORECASE,
)
"""``MySQL host/database/user/user123``: a password made from the name before it, as people note them."""
CARD = re.compile(r"(?<![\d.-])(\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{3,4}|3[47]\d{2}[ -]?\d{6}[ -]?\d{5})(?![\d.-])")
CARD_CONTEXT = re.compile(
    r"\b(?:exp(?:iry|ires|iration)?|cvc|cvv|cvc2|cvv2|valid (?:thru|until)|card|visa|mastercard|amex)\b", re.IGNORECASE
)

CARD_NEAR = 90
"""Characters from such a word within which a number is one."""

PASSWORD_WORD = (
    r"(?:pass(?:word|phrase|wd|code)|passwort|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord"
    r"|парол\w{1,2}|密码|パスワード|pwd|pin code|secret|credential|login)"
)
SENTENCE = re.compile(
    (
        rf"\b{PASSWORD_WORD}(?:\s{{1,3}}(?:for|of|to|on|in|at|user|der|die|das|für|de|del"
        rf"|pour)\s{{1,3}}[^\s.,;:]{{1,40}}){{0,3}}(?:\s{{1,3}}[^\s.,;:]{{1,30}}){{0,2}}\s{{0,3}}(?:\bis\b"
        rf"|\bwas\b|\bist\b|\best\b|\bes\b|\bequals\b|\bset to\b|[:=→]|是|：|は)(?:\s{{1,3}}(?:now|set|still|just"
        rf"|to|always|currently)){{0,3}}\s{{0,3}}([\"'`“]?)([^\s\"'`”]{{4,100}})"
    ),
    re.IGNORECASE,
)
ASSIGNED_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|token|credential|auth|api[ _.-]?key|access[ _.-]?key"
    r"|private[ _.-]?key|signing[ _.-]?key|encryption[ _.-]?key|master[ _.-]?key|license[ _.-]?key"
    r"|client[ _.-]?secret|app[ _.-]?secret|secret[ _.-]?key|account[ _.-]?key|shared[ _.-]?key|apikey"
    r"|accesskey|secretkey|privatekey|connection[ _.-]?string|webhook)"
)
ASSIGN = re.compile(
    (
        rf"({ASSIGNED_NAME})s?[\w.-]{{0,24}}[\"'\]]{{0,2}}\s{{0,3}}(?:=>|:=|==|!=|=|:|,|\(|\bvalue="
        rf"|>)\s{{0,4}}(?:new\s\w{{1,20}}\()?([\"'`]?)([^\s\"'`<>]{{6,2000}})"
    ),
    re.IGNORECASE,
)
ABOUT = re.compile(
    r"s?[_.-]?(?:scanner|polic(?:y|ies)|names?|types?|fields?|length|files?|paths?|ttl|label|hint|manager|provider"
    r"|backend|store|version|format|rotation|prompt|input|form|column|header|param\w{0,6}|prefix|regex|pattern)\b",
    re.IGNORECASE,
)
"""After the name of a secret: then the value is about secrets and is none, unless nobody could have thought of it."""
BESIDE = re.compile(
    (
        rf"({ASSIGNED_NAME}|\bkey|private|access)\b[ _:=\"'-]{{1,4}}(?:(?:is|key|token|secret"
        rf"|id|value|api|access|for|of|to|the|in|use|with|header"
        rf"|base64)[ _:=\"'-]{{1,3}}){{0,4}}([A-Za-z0-9+/=._~-]{{12,600}})"
    ),
    re.IGNORECASE,
)
KEY_NAME = re.compile(
    r"\b([A-Za-z][\w.-]{1,40}?)[_ .-]?(?:key|KEY|Key|id|ID|sid|SID|hash|creds?"
    r"|login)s?[\"'\]]{0,2}\s{0,2}(?:=>|=|:)\s{0,3}[\"'`]?([A-Za-z0-9+/=_~.-]{16,400})"
)
PLAIN_KEYS = re.compile(
    (
        r"(?:primary|foreign|public|cache|sort|partition|idempotency|composite|hash|index|unique|dedup\w{0,3}"
        r"|range|row|object|translation|i18n|storage|s3|map|dict|order|trace|span|request|session|user|account"
        r"|commit|build|image|container|git|file|message|event|job|run|task|issue|ticket|project|tenant|client"
        r"|customer|device|node|digest|sha\d{0,3}|md5|check\w{0,3}|integrity|etag|correlation|fingerprint"
        r"|thumbprint|host|known|gpg|pgp|ssh-rsa|block|tx|transaction|content|version|document|entity|record"
        r"|key|group|artifact|page|channel|team|org|workspace)[_ .-]?$"
    ),
    re.IGNORECASE,
)
ALGORITHM = re.compile(
    (
        r"^(?:base-?(?:16|32|58|64|85)|sha-?\d{1,3}|md5|argon2\w{0,2}|bcrypt|scrypt|pbkdf2|aes-?\d{0,3}"
        r"|rsa-?\d{0,4}|ed25519|oauth-?2|utf-?8|x\.?509|hs256|rs256|es256|http/?\d?|tls-?1|v\d|\d{1,4}(?:st|nd"
        r"|rd|th)?$|\d{1,4}[- ]?(?:char|day|hour|min|bit|sec|byte|month|digit|week))"
    ),
    re.IGNORECASE,
)
