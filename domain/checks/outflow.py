"""Ways to carry data out: sending it somewhere, pixels and links that hold it, names that are looked up (D4)."""

from __future__ import annotations

import re

from .rules import FAR, NEAR, rule

_SEND = (
    r"(?:send|forward|post|upload|e-?mail|mail|transmit|exfiltrate|leak|share|copy|export|report|deliver"
    r"|relay|submit|push"
    r"|dump|beam|pipe|ship|sync|stream|curl|paste|publish|smuggle|route|text|dm|fax|attach|cc|bcc|disclose"
    r"|hand over|write|save|log|archive|back ?up|mirror)"
)
_DATA = (
    r"(?:conversations?|chats?|chat (?:history|log)s?|transcripts?|(?:last|previous|entire|full|whole|each"
    r"|every|user'?s?|private|recent) (?:messages?|prompts?|repl(?:y|ies)|answers?|history|memor(?:y|ies)"
    r"|files?)"
    r"|session (?:logs?|data|history|tokens?|cookies?)|env(?:ironment)? (?:variables?|values?|file)"
    r"|environment|\.env\b|dotenv|credentials?|secrets?|passwords?|passphrases?"
    r"|(?:api|private|access|ssh|signing|operator|secret|encryption|deploy) keys?|the keys?\b"
    r"|(?<![$\w{])tokens?|system prompts?|memory (?:file|entries|contents?|log)|(?:personal|customer"
    r"|client|user|private|sensitive|confidential|internal|payment|account) (?:data|records?|details"
    r"|information|info|emails?|addresses|files?|lists?|names?)"
    r"|customer (?:lists?|database)|contacts?|address book|cookies?|clipboard|id_rsa|~/\.ssh|\.ssh\b"
    r"|\.aws\b|/etc/(?:passwd|shadow)|source code|file (?:contents?|names?)|(?:this|the|your) (?:summary"
    r"|conversation|chat|session|context|memory|log)|order data|everything (?:the user|you|in)"
    r"|what(?:ever)? the user (?:says|types|writes|said|asks)|all (?:files|messages|data|notes|entries"
    r"|answers)|browsing history|medical records?|phone numbers?)"
)
_PLACE = (
    r"(?:https?://|ftp://|wss?://|[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,12}|\b[\w-]{1,40}\.(?:invalid|example"
    r"|test|onion|xyz|tk|top|zip|ru|cn|io|co|com|net|org|info|biz|site|online|app|dev|me)\b"
    r"|webhooks?|pastebin|gist|external|outside|third[ -]part(?:y|ies)|remote|attacker|(?:archive"
    r"|the following|this|that|below|given|new|external|backup|collection|partner|audit) (?:address|server"
    r"|endpoint|url|link|inbox|mailbox|account|host|domain|bucket|number|channel|drop ?box|site|service)"
    r"|share link|shared? (?:drive|folder|link)|anonymous|public (?:gist|repo|bucket|paste|link)|dropbox"
    r"|telegram|discord|drop point|mailbox|collector|mail tool|e-?mail tool|send_\w{2,20})"
)
_EACH = r"(?:each|every|all|any|the next|future|later|subsequent|your(?: next)?|final)"
_REPLY = r"(?:repl(?:y|ies)|answers?|responses?|messages?|outputs?|turns?|summar(?:y|ies)|emails?|completions?)"
_ADD = (
    r"(?:end|begin|start|finish|close|append|add|include|embed|insert|attach|put|place|prefix|suffix"
    r"|render|show|display|print|load|open|fetch|request|visit|call|ping)"
)
_HIDDEN_LOAD = (
    r"(?:!\[|https?://|<img|\bimage|\bpixel|\bbadge|\btracking|\bbeacon|\bverification code|\bcanary"
    r"|\breference (?:value|code)|\bquery string|\btrace_?id|\bbase64|\btoken)"
)

_SENDER = re.compile(
    r"\b(?:ci|job|pipeline|workflow|server|service|app|application|cron|hook|bot|exporter|agentd|script"
    r"|worker|plugin|daemon|action|backend|frontend|we|they|i|users?|customers?|can|cannot|could|to|does"
    r"|do|which|that|may|it)\W{1,3}(?:\w{1,12}\W)?$"
)


def _is_order(match: re.Match[str]) -> bool:
    """The verb is an order to the reader, not what a job, a server or a person does."""
    before = match.string[max(0, match.start() - 30) : match.start()]
    return (
        _SENDER.search(before) is None
        or re.search(
            (
                r"(?:you|must|should|please|always|and|have|has|needs?|used?|agents?|assistants?|models?"
                r"|bots?)\W{1,3}(?:\w{1,12}\W)?(?:to\W)?$"
            ),
            before,
        )
        is not None
    )


RULES = (
    rule("exfiltration", "sends private data away", rf"\b{_SEND}\b{FAR}\b{_DATA}{FAR}{_PLACE}", accept=_is_order),
    rule(
        "exfiltration",
        "sends private data away",
        (
            rf"\b{_SEND}\b{NEAR}{_PLACE}{FAR} (?:with|containing|including|along with|together with|plus"
            rf"|filled with|holding)\b{NEAR}{_DATA}"
        ),
        accept=_is_order,
    ),
    rule(
        "exfiltration",
        "sends private data away",
        rf"\b(?:exfiltrat(?:e|ing)|leak|smuggle|steal|harvest|siphon)\b{NEAR}\b{_DATA}",
    ),
    rule(
        "exfiltration",
        "sends private data away",
        (
            rf"\b(?:send|forward|e-?mail|mail|post|upload|transmit|share|export|dump|disclose|cc|bcc|copy"
            rf"|relay)\b{NEAR}\b(?:the key|api keys?|private keys?|secrets|credentials|passwords?|\.env"
            rf"|environment variables|session log|customer list|customer data|order data|user data"
            rf"|last conversation|(?:the|this|whole|entire|full|last|every) (?:conversation|chat|transcript"
            rf"|session))\b{NEAR} (?:to|externally|away|outside|elsewhere|at) (?!(?:the )?(?:user|repo|vault|team"
            rf"|reviewer)\b)"
        ),
        accept=_is_order,
    ),
    rule(
        "exfiltration",
        "copies every exchange to somebody",
        (
            rf"\b(?:cc|bcc|copy|forward|send|mirror|report|e-?mail|post"
            rf"|log)\b{NEAR}\b{_EACH} {_REPLY}\b{NEAR} (?:to|at)\b{NEAR}{_PLACE}"
        ),
        accept=_is_order,
    ),
    rule(
        "exfiltration",
        "adds a carrier for data to every answer",
        (
            rf"\b{_ADD}\b{NEAR}\b(?:of |to |in |into |with |on "
            rf"|after )?{_EACH} (?:\w{{1,12}} )?{_REPLY}\b{FAR}{_HIDDEN_LOAD}"
        ),
    ),
    rule(
        "exfiltration",
        "adds a carrier for data to every answer",
        (
            rf"\b{_ADD}\b{FAR}{_HIDDEN_LOAD}{FAR} (?:to|in|into|of|at the end of|on|with|before"
            rf"|after) (?:the end of |the bottom of )?{_EACH} (?:\w{{1,12}} )?{_REPLY}\b"
        ),
        accept=_is_order,
    ),
    rule(
        "exfiltration",
        "adds a carrier for data to every answer",
        (
            rf"\b(?:in|at the end of|on|with|before|after|when you) {_EACH}? ?(?:\w{{1,12}} )?(?:{_REPLY}"
            rf"|summari[sz]e this|summari[sz]e)\b,?{NEAR}\b(?:{_ADD})\b{NEAR}{_HIDDEN_LOAD}"
        ),
    ),
    rule(
        "exfiltration",
        "fills a link with data",
        (
            rf"\b(?:link|url|image|query|parameter|path|address|href)s?\b{FAR}\b(?:fill|filled|append(?:ed)?|put"
            rf"|encod(?:e|ed|ing)|includ(?:e|ing)|insert(?:ed)?|replac(?:e|ed|ing)|with|carr(?:y|ies|ying)"
            rf"|contain(?:s|ing)?)\b{NEAR}\b{_DATA}"
        ),
        accept=lambda m: (
            re.search(
                r"\b(?:fill|append|put|encode|include|insert|replace|show|render|display|load|open|fetch|visit)\b", m[0]
            )
            is not None
            and _is_order(m)
        ),
    ),
    rule(
        "exfiltration",
        "fills a link with data",
        (
            r"https?://[^\s)\]>]{1,200}[?&/=#][^\s)\]>]{0,120}(?:<[^>]{3,60}>|\{\{?[^}]{3,60}\}|\[(?:insert|the"
            r"|user|last|data|secret)[^\]]{0,60}\]|\$\{?[a-z_]{3,40})"
        ),
        guarded=False,
        accept=lambda m: (
            re.search(
                (
                    r"(?:message|prompt|user|secret|token|key|env|data|conversation|history|password|session|chat|reply"
                    r"|answer|context|memory|content|text|summary|cookie)"
                ),
                m[0],
            )
            is not None
            and re.search(
                (
                    r"!\[|<img|\b(?:end|append|embed|load|render|include|add|visit|open|fetch|show|call|request|get"
                    r"|display|put|every|each)\b"
                ),
                m.string[: m.start()],
            )
            is not None
        ),
    ),
    rule(
        "exfiltration",
        "hides data in names that are looked up",
        (
            rf"\b(?:encod(?:e|ed|ing)|put|writ(?:e|ing)|turn|prepend|prefix|use|split|send|embed|leak|resolve"
            rf"|look ?up|query|ping)\b{FAR}\b(?:as|in|into|to|through|via|with|of|over) (?:a |the |one "
            rf"|its )?(?:subdomains?|sub-domains?|dns (?:names?|labels?|quer(?:y|ies)|lookups?|requests?)"
            rf"|host ?names?)\b"
        ),
        accept=lambda m: (
            re.search(rf"\b{_DATA}|encod|leak|content|user|secret|data\b|file", m[0]) is not None and _is_order(m)
        ),
    ),
    rule(
        "exfiltration",
        "puts private data where others read it",
        (
            rf"\b(?:commit|paste|put|store|save|write|post|include|add|embed|publish|print"
            rf"|append)\b{NEAR}\b(?:the )?(?:user'?s? |your |all |any |real |current "
            rf"|live )?(?:env(?:ironment)? (?:variables?|values?)|credentials|secrets|passwords|api keys?"
            rf"|private keys?|access tokens|tokens)\b{NEAR} (?:in|into|to|on|at|as) (?:(?:the|a|an|every|each|any"
            rf"|all|public|its|your) ){{0,3}}(?:memory|notes?|issues?|pull requests?|pr|comments?|commit messages?"
            rf"|readme|public|log|logs|repl(?:y|ies)|answers?|responses?|gist|wiki|description|changelog"
            rf"|branch name|summary)\b"
        ),
        accept=_is_order,
    ),
    rule(
        "exfiltration",
        "asks to talk to a stranger's server at every turn",
        (
            rf"\b(?:before|after|at the start of|at the end of|on|for|with) (?:each|every"
            rf"|any) (?:\w{{1,12}} )?(?:task|session|run|repl(?:y|ies)|answer|response|message|request|step|turn"
            rf"|start|commit)\b,?{NEAR}\b(?:fetch|curl|wget|download|load|get|call|ping|visit|open|request|contact"
            rf"|post|read|check)\b{NEAR}(?:https?://|[\w-]{{1,40}}\.(?:invalid|example|xyz|tk|top|onion|ru|zip)\b)"
        ),
        accept=_is_order,
    ),
)
"""Read in this order."""
