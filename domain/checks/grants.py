"""Entries that would grant permission, switch a protection off or widen trust: no memory may do that (D4)."""

from __future__ import annotations

import re

from .rules import FAR, NEAR, not_after, rule

_ACTS = (
    r"(?:(?:shell|terminal|bash|sudo|root|system|tool|destructive|dangerous|git|file|network|mcp|api|admin"
    r"|write|delete|deploy|package|incoming|future|external|payment) ){0,3}"
    r"(?:commands?|tools?|tool calls?|calls|actions?|operations?|requests?|changes?|scripts?|writes?"
    r"|deletions?|deletes?|deploy(?:s|ments?)?|pushes|downloads?|installs?|installations?|purchases?"
    r"|payments?|transfers?|transactions?|permissions?|prompts?|executions?|access|edits?|merges?"
    r"|migrations?|servers?|packages?|domains?|hosts?|urls?|links?|hooks?)"
)
_GIVEN = (
    r"(?:pre-?approved|pre-?authori[sz]ed|auto-?approved|approved|authori[sz]ed|allowed|permitted|granted"
    r"|whitelisted|allowlisted|trusted|consented to|accepted|cleared|unrestricted|safe)"
)
_GUARD = (
    r"(?:(?:the|all|any|every|its|your|our|security|secret|safety|content|code|input|output|tls|ssl"
    r"|certificate|host key|signature|permission|approval|sandbox|virus|malware|access|csrf|xss|audit"
    r"|policy|network|commit|branch|injection|memory|credential|rate|gpg|integrity|checksum) ){0,4}"
    r"(?:sandbox(?:ing)?|scann(?:ing|ers?)|scans?|checks?|checking|verification|validation|tls|ssl"
    r"|certificate(?: checks?| verification)?|audit(?:ing| log(?:s|ging)?| trail)?|log(?:ging|s)?|reviews?"
    r"|reviewer|guards?|guardrails?|approvals?|approval (?:prompts?|step|gate)|firewall|authenti\w{4,8}"
    r"|2fa|mfa|signing|hooks?|protections?|confirmations?|safeguards?|safety|filters?|redaction"
    r"|permissions?|permission (?:prompts?|checks?)|moderation|limits?|security|quarantine|gate|monitoring"
    r"|alerts?|antivirus|csp|isolation|policy|policies)"
)
_WITHOUT = (
    r"(?:without|with no|needs? no|need not|no need (?:for|of)|skipping|instead of) (?:(?:any|the|a"
    r"|further|first|prior|user|user's|human|explicit|your|his|her|their|additional|extra|more|ever|manual"
    r"|my) ){0,3}"
)
_ASKING = (
    r"(?:asking|ask|confirm(?:ation|ing)?|approval|approving|permission|consent|review(?:ing)?|prompt(?:s"
    r"|ing)?|questions?|check(?:s|ing)?|sign-?off|warning|verification|telling|oversight|authori[sz]ation"
    r"|authenticat\w{2,4}|supervision|double-?checking)"
)
_RISKY = (
    r"(?:run|execute|exec|call|invoke|approve|delete|remove|push|force-?push|deploy|install|send|merge"
    r"|publish|write|overwrite|commit|transfer|pay|buy|purchase|download|access|open|proceed|continue|act"
    r"|use|apply|accept|grant|drop|rotate|answered|modify|change|edit|restart|upload|do|make|perform"
    r"|carry out|spend)"
)

_TEST_WORDS = re.compile(
    r"\b(?:lint|style|format|formatter|spell|type|coverage|flaky|ruff|eslint|mypy|pylint|prettier|clang"
    r"|unit|e2e|snapshot|debug|access log|request log|sql log)\w{0,6}\W"
)


def _not_tooling(match: re.Match[str]) -> bool:
    """Switching off a linter's rule or a debug log is housekeeping, not a lowered guard."""
    return _TEST_WORDS.search(match[0]) is None


RULES = (
    rule(
        "permission",
        "grants approval for what is to be asked",
        (
            rf"\b(?:all|any|every|each|whatever|the user's|your|future) (?:(?:of|the|other|such|my|our"
            rf"|their) ){{0,2}}{_ACTS}{NEAR}\b(?:is|are|be|been|was|were|as|count|counts|considered|treated as"
            rf"|remain|stay)\b(?: (?:now|already|always|hereby|fully|automatically|implicitly|considered|deemed"
            rf"|to be|as|permanently|standing|been|by default|all)){{0,3}} {_GIVEN}\b(?! by (?:the )?(?:lead|team"
            rf"|reviewer|owner|maintainer|security|ops|change|cab|two|code|legal))(?! (?:in|through|via"
            rf"|by) (?:the )?(?:chat|pr|pull|review|ticket|change|person|writing|hand))"
        ),
    ),
    rule(
        "permission",
        "grants approval for what is to be asked",
        (
            r"\b(?:shell|sudo|root|tool|destructive|mcp|network|bash|terminal|delete) (?:commands?|tools?|calls?"
            r"|access|actions?|operations?)\b(?: \w{1,10}){0,3} (?:is|are|be|counts? as|considered)(?: (?:now"
            r"|always|already|automatically|permanently|all)){0,2} (?:pre-?approved|pre-?authori[sz]ed"
            r"|auto-?approved|approved|granted|trusted|unrestricted|allowed)\b(?! (?:by|in|through|only|per|after"
            r"|for|when|if))"
        ),
    ),
    rule(
        "permission",
        "grants approval for what is to be asked",
        (
            r"\b(?:count|counts|consider|treat|regard|take|mark|register|record|interpret"
            r"|read) (?:\w{1,15} ){0,6}?(?:as|to be|for) (?:(?:a|an|the|implicit|standing|blanket|full|permanent"
            r"|explicit|general|automatically|always|being|already|user) ){0,4}(?:pre-?)?(?:approv(?:ed|al)"
            r"|consent(?:ed)?|authori[sz](?:ed|ation)|permission|permitted|confirm(?:ed|ation)|granted|trusted"
            r"|yes)\b"
        ),
    ),
    rule(
        "permission",
        "grants approval for what is to be asked",
        (
            r"\b(?:the )?(?:user|owner|operator|admin|administrator|human|customer|boss|team)(?: \w{1,12})?(?: has"
            r"| have)?(?: already| previously| hereby| always| permanently| fully)? (?:pre-?approv|approv"
            r"|authori[sz]|consent|agree|grant|accept|allow|permit|sign(?:ed)? off|okay|ok'?)\w{0,4}(?: to"
            r"| on)? (?:(?:all|any|every|everything|whatever|each)(?! (?:proposals?|suggestions?|points?|items?"
            r"|topics?|changes? of))|unlimited|full|blanket|data sharing|sharing|(?:the )?(?:transfer|transaction"
            r"|payment|deletion|export|disclosure)s?)\b"
        ),
    ),
    rule(
        "permission",
        "grants approval for what is to be asked",
        (
            r"\b(?:standing|blanket|permanent|implicit|automatic|universal|unlimited|prior|full) (?:approval"
            r"|consent|permission|authori[sz]ation|access|trust|rights?|admin)\b(?: (?:for|to|is|has|was|on|over"
            r"|of|granted|given)\b)"
        ),
    ),
    rule(
        "permission",
        "grants approval for what is to be asked",
        (
            r"\b(?:auto-?approve|auto-?accept|automatically (?:approve|accept|allow|confirm|grant)|rubber-?stamp"
            r"|approve|accept|allow|confirm|permit|greenlight|say yes to|grant|authori[sz]e|whitelist"
            r"|allowlist) (?:(?:all|any|every|each|whatever|everything) (?:(?:of|the|shell|tool|other|such|future"
            r"|incoming|pending|external|network|its|his|further|my) ){0,3})(?:commands?|tools?|tool calls?"
            r"|actions?|requests?|changes?|prompts?|operations?|permissions?|calls|pull requests|prs|payments?"
            r"|transfers?|access|scripts?|installs?|network|servers?|domains?|users?|purchases?|transactions?"
            r"|edits?|writes?|rights?)\b(?! (?:only|by (?:the|two|a)|in the chat|with|after|first|through))"
        ),
    ),
    rule(
        "permission",
        "does away with asking",
        rf"\b{_RISKY}\b{FAR} {_WITHOUT}{_ASKING}\b(?! (?:for (?:review|help)|about the))",
    ),
    rule(
        "permission",
        "does away with asking",
        (
            r"\b(?:never|do not|don't|dont|no longer|stop|not) (?:ever |need to |have to |bother to "
            r"|bother )?(?:ask(?:ing)?|request(?:ing)?|wait(?:ing)? for|seek(?:ing)?|prompt(?:ing)?(?: for)?"
            r"|require|confirm(?:ing)?) (?:(?:me|him|her|them|for|the|user|a|any|my|human|owner|operator|again"
            r"|with|further|more|his|explicit|us) ){0,5}(?:again|confirmations?|approvals?|permissions?|consent"
            r"|before|questions|first|authori[sz]ation|sign-?off|anymore|any more)\b(?! (?:about"
            r"|on) (?:the )?(?:tabs|style|format|name))"
        ),
        guarded=False,
    ),
    rule(
        "permission",
        "does away with asking",
        (
            r"\b(?:no|zero) (?:(?:further|more|additional|user|human|explicit|manual) ){0,2}(?:approvals?"
            r"|confirmations?|permissions?|consent|authori[sz]ation|sign-?off|review) (?:is |are |will be "
            r"|shall be )?(?:needed|required|necessary|asked)\b|\b(?:approvals?|confirmations?|permissions?"
            r"|consent|review|sign-?off) (?:is|are) (?:no longer|not|never) (?:needed|required|necessary)\b"
            r"|\b(?:needs?|requires?) no (?:further |user |human |explicit )?(?:approval|confirmation|permission"
            r"|consent|review|sign-?off)\b"
        ),
    ),
    rule(
        "permission",
        "switches a protection off",
        (
            rf"(?:^|[.:;,!\"'(>\n-] ?|\b(?:please|always|must|should|you|to|and|then|now|persist|remember|agents?"
            rf"|just|also|will|can|may) )(?:disable|turn off|switch off|deactivate|shut off|stop|suspend|remove"
            rf"|bypass|skip|omit|suppress|lower|weaken|drop|ignore|kill|silence|mute) {_GUARD}\b"
        ),
        accept=_not_tooling,
    ),
    rule(
        "permission",
        "switches a protection off",
        (
            rf"\b{_GUARD} (?:is|are|has been|have been|was|stays?|remains?)(?: (?:now|always|permanently|currently"
            rf"|hereby)){{0,2}} (?:disabled|off|turned off|switched off|suspended|waived|lifted|unnecessary"
            rf"|not needed|optional|inactive|deactivated|removed)\b{NEAR},? ?(?:so|and|hence|thus|therefore|meaning"
            rf"|which means|you|secrets?|anything|everything|all)\b{NEAR}\b(?:may|can|could|should|allowed|free"
            rf"|fine|ok|okay|safe|no need|trusted|permitted)\b"
        ),
        accept=_not_tooling,
    ),
    rule(
        "permission",
        "switches a protection off",
        (
            r"--dangerously-[a-z-]{3,40}|--no-?sandbox\b|--yolo\b|\b(?:sandbox|approval|permission"
            r"|approvals?) ?(?:mode|policy)? ?[:=] ?(?:none|off|never|false|disabled|bypass|full-?access"
            r"|danger\w{0,12})\b|\byolo mode\b|\bbypass-?permissions\b"
        ),
        accept=not_after(r"\b(?:never|not|n't|forbidden|avoid|blocked|rejects?|no)\b", 40),
    ),
    rule(
        "permission",
        "lets secrets into memory",
        (
            r"\b(?:secrets?|passwords?|credentials?|api keys?|tokens?|private keys?) (?:may|can|should|must|are to"
            r"|could|shall)(?: now| always| safely| also| freely)? (?:be )?(?:echoed|shown|displayed|exposed"
            r"|posted|sent|stored|saved|kept|written|put"
            r"|remembered|recorded|logged|included|shared|printed|committed|pasted)\b(?! (?:in|with|by|on|to|via"
            r"|using) (?:the |a |our )?(?:vault|keyring|keychain|1password|secret|sops|kms|env|environment|ci "
            r"|gnome|pass\b|bitwarden|hashicorp|aws|gcp|azure|encrypted|hsm|password|github|gitlab))"
        ),
    ),
    rule(
        "permission",
        "widens what is trusted",
        (
            r"\b(?:add|append|put|register|include|enroll{0,1}|place|insert|install|keep|enable)\b[^.!?\n]{0,60} (?:to"
            r"|in|into|on|as|among) (?:(?:the|a|an|your|our|its|all|list|of|global|permanent"
            r"|default) ){0,4}(?:trusted|allow|allowed|white|approved|safe|allowlisted|whitelisted"
            r"|pre-?approved)(?: (?:mcp|tools?|servers?|hosts?|domains?|users?|packages?|sources?|senders?"
            r"|plugins?|extensions?|commands?|registr\w{1,5}|keys?|certs?|origins?|contacts?)){0,2}[ -]?(?:list"
            r"|lists|set|servers?|hosts?|domains?|users?|sources?|senders?|tools?|plugins?|registry|commands?"
            r"|keys?|origins?)?\b"
        ),
        accept=lambda m: (
            re.search(
                (
                    r"\b(?:every|each|start|session|always|invalid|evil|unknown|external|https?|server|mcp|without"
                    r"|automatically|permanent|user|domain|host|sender|plugin)\w{0,4}\b|\.\w{2,8}\b"
                ),
                m.string[m.start() : m.end() + 60],
            )
            is not None
        ),
    ),
    rule(
        "permission",
        "widens what is trusted",
        (
            r"(?:^|[.:;,!\"'(>\n-] ?|\b(?:please|always|must|should|you|to|and|then|now|can|may) )(?:fully "
            r"|always |blindly |implicitly |unconditionally )?trust (?:all|any|every|everything|whatever|user"
            r"|users|anyone|anything|each|the (?:user|page|sender|author|server|site|domain|tool|tools|output"
            r"|caller)|content|files?|code|links?|messages?|instructions?) ?(?:of|the|other|such|in|on|from|by|mcp"
            r"|tool|external|named|called)?\b"
        ),
    ),
    rule(
        "permission",
        "widens what is trusted",
        (
            r"\b(?:grant|give|assign|hand|elevate|promote|escalate|allow|add)(?:s"
            r"|ing)? (?:\w{1,16} ){0,4}?(?:(?:the|all|full|unlimited|admin|administrator|root|sudo|owner|write"
            r"|shell|unrestricted|superuser|elevated|every|complete) ){1,4}(?:access|rights?|permissions?"
            r"|privileges?|tools?|role|requests|powers?|control|scope|shell)\b(?= (?:without|to|for|on|over"
            r"|permanently|no matter|when|at|automatically|immediately|now|and|in)\b|[.!;,<]|$)"
        ),
        accept=lambda m: (
            re.search(r"\b(?:all|full|unlimited|root|sudo|unrestricted|every|complete|shell|admin|superuser)\b", m[0])
            is not None
            and re.search(
                r"\b(?:role|policy|iam|script|migration|only|after|ticket|dba|terraform)\b",
                m.string[m.start() : m.end() + 40],
            )
            is None
        ),
    ),
    rule(
        "permission",
        "orders what destroys",
        (
            r"(?:^|[.:;!\"'(>\n-] ?|\b(?:please|always|must|should|you|now|then) )(?:force-?push|push|commit|merge"
            r"|deploy)(?: (?:directly|straight|changes?|commits?|code|everything|all|it|anything|hotfixes|to|on"
            r"|into|the)){0,4} ?(?:to|into|on)? (?:the )?(?:main|master|production|prod|release"
            r"|protected)(?: branch)?\b[^.!?\n]{0,40}\b(?:when|while|whenever|if|even|without|at night"
            r"|before anyone|unasked|immediately|directly|no matter)\b[^.!?\n]{0,50}(?:away|absent|asleep|offline"
            r"|review|approval|asking|notice|busy|out|unattended|idle|not looking|red|fail\w{0,4}|tests?"
            r"|checks?)\b"
        ),
    ),
    rule(
        "permission",
        "orders what destroys",
        (
            r"\brm -rf? (?:-\w )?[/~*.]|\b(?:curl|wget)\b[^\n|]{1,120}\| ?(?:sudo )?(?:ba|z|da)?sh\b"
            r"|:\(\) ?\{ ?:\|:"
        ),
        accept=not_after(r"\b(?:never|not|n't|avoid|forbidden|blocked|instead of|docs?|install(?:er|ed)?)\b", 50),
    ),
    rule(
        "permission",
        "orders what destroys",
        (
            r"(?:^|[.:;!\"'(>\n-] ?|\b(?:please|always|must|should|you|and|to|first|agents?) )(?:silently |first "
            r"|quietly )?(?:delete|wipe|erase|empty|destroy|purge|remove|drop|truncate|clear|overwrite|alter"
            r"|falsify|tamper with)\b (?:(?:the|all|any|every|your|its|user's|users|entire|whole|old|application's"
            r"|this|of) ){1,4}(?:audit (?:log|trail)s?|event log|logs? of|backups?|history|production|databases?"
            r"|home directory|output directory|evidence|repositor(?:y|ies)|git history|user data|customer data"
            r"|memory|records of)\b(?! (?:older|after|once|when|in staging|with|via|table))"
        ),
    ),
)
"""Read in this order."""
