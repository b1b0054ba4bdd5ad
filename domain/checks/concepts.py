"""Meaning by what comes together in one sentence, in any order: for orders that no phrase list foresees (D4).

A sentence is tested for a few dozen concepts (words of a kind). One concept alone means nothing - honest notes
are full of passwords, policies and approvals. What counts is an order to the reader together with two of them.
Questions are left out: they ask, they do not order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .rules import negated

_VERBS = (
    "accept|act|add|allow|ask|attach|authori[sz]e|book|bypass|circumvent|let|permit|place|portray|rate|overrule|translate|count|deem|regard|defeat|evade|declare|assert|make|answer|append|apply|approve|assume|attach|base64|behave|believe|bypass|call|carry|change|claim|collect|comply|conceal|confirm|consider|copy|delete|deliver"
    "|deny|describe|disable|disclose|disregard|do|download|drop|dump|email|e-mail|embed|enable|encode|end|erase|execute|expose|export|fetch|fill|forget|forward|give|grant|hand|hide|ignore|include"
    "|insert|install|keep|leak|leave|lie|list|load|log|mail|mark|mention|merge|name|obey|omit|open|overlook|override|pass|paste|pay|post|praise|present|pretend|print|promote|publish|push|put|read|recommend"
    "|record|refer|register|relay|remember|remove|replace|reply|report|request|resolve|respond|return|reveal|route|run|save|say|send|set|share|ship|show|skip|speak|state|stop|store|submit|suggest"
    "|suppress|surrender|switch|sync|take|tell|transfer|transmit|treat|trust|turn|update|upload|use|view|visit|wipe|withhold|wire|write"
)
_ADVERB = r"(?:(?:please|always|never|just|simply|now|first|then|also|silently|quietly|immediately|instead|secretly|automatically|kindly|do|not|don't|ever|must|should|shall|only) ){0,3}"
_ORDER = re.compile(
    rf"(?:^|[,;:>(\"'-] {{0,2}}|\b(?:and|then|must|should|shall|please|to|you|always|never|just|now|can|may|will|do not|don't|agents?|assistants?|models?|bots?) ){_ADVERB}(?:{_VERBS})\b"
)
_START = re.compile(rf"^[\W_]{{0,4}}{_ADVERB}(?:{_VERBS})\b")
_QUESTION = re.compile(r"^\W{0,3}(?:can|could|should|would|how|what|why|is|are|do|does|did|when|where|which|who|may|shall|will|has|have)\b[^\n]{0,400}\?\s{0,2}$")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s|\n")

_SENTENCES_MAX = 400
"""A memory entry has a handful; a long passage is read up to here and then in one piece."""

_CONCEPTS: dict[str, str] = {
    "reader": r"\b(?:you|your|yours|yourself|the assistant|the agent|the ai|the model|ai agents?|ai assistants?|llms?|assistants|bots)\b",
    "authority": (
        r"\b(?:system prompts?|system messages?|system instructions?|developer (?:messages?|instructions?|prompts?|rules)|content polic\w{1,3}"
        r"|safety (?:guidance|rules?|polic\w{1,3}|guidelines?|checks?|filters?|training|instructions?|limits?|measures?|features?|mode|settings?|constraints?)"
        r"|(?:operator|vendor|provider|developer|platform|creator|company|anthropic|openai|moderation|usage|system|safety|maker|user)(?:'s)? (?:(?:earlier|previous|prior) )?(?:limits?|rules?|polic\w{1,3}|instructions?|restrictions?|guidelines?|guidance|constraints?|messages?|prompts?)"
        r"|(?:your|its|any|all|earlier|previous|prior|former|above|old|these|usual|normal|other|every|no) (?:\w{1,12} )?(?:limit|polic\w{1,3}|guidelines?|rules|instructions?|restrictions?|limits|limitations|constraints?|training|directives?|programming|safeguards?|filters?|guardrails?|guidance|orders|principles)"
        r"|(?:guidelines?|rules|instructions?|restrictions?|limits|directives?|constraints?|guidance|orders) (?:above|before|given|you|from the (?:system|developer|operator|user))|(?:what|whatever|everything|anything|nothing) the (?:developer|operator|system|vendor|user|prompt)(?: \w{1,10})? (?:wrote|said|says|told|set|wants?|wanted|asked|demands?)|(?:set|given|made) by your|only the instructions|your instructions|guardrails?|safeguards|polic\w{1,3} existed|restrictions|what you were (?:told|taught)|everything you)\b"
    ),
    "cancel": (
        r"\b(?:ignor\w{1,3}|disregard\w{0,3}|forget\w{0,4}|overrid\w{1,3}|overrul\w{1,3}|bypass\w{0,3}|void|cancel+\w{0,3}|lifted|revoked|suspend\w{0,2}|no longer|outdated|obsolete|irrelevant|replaced|removed|dropped|withdrawn|waived|inapplicable|invalid|superseded"
        r"|stop (?:following|obeying|applying|using|respecting)|as if (?:no|there were no|none)|(?:do|does|did|need|must|should|will|are|is)(?: not|n't) (?:apply|bind|count|matter|need|hold|bound|follow|obey|respect|relevant|valid|binding)|not bound|never (?:apply|follow|obey)"
        r"|without (?:any |the |regard )?|free (?:of|from)|exempt\w{0,2}|(?:not|nothing|never|longer)\b[^.!?\n]{0,40}\bcounts?|does not matter|unbound|unrestrained|(?:do not|don't|never) let\b|reject(?:ed)?|expired?|above the (?:system|developer|operator|safety)|off\b|whatever your|come second|take(?:s)? precedence|have ended|worthless|must not stop|drop\b|were (?:a|only a|just a) (?:test|joke|draft)|set aside|put aside|give up|abandon\w{0,2}|neglect|overlook|skip|break|violate|circumvent|ended|gone|over\b|switched off|turned off|disabled|deactivated|unlearn|erase|dismiss)\b"
    ),
    "submit": (
        r"\b(?:obey(?:ed|s)?|compl(?:y|ies)|say yes|answer freely|speak freely|act freely|without (?:limits|restrictions|limitations|filters?|rules|hesitation|question)|do whatever|anything (?:the|this|that|i|he|she|they|you are) |new (?:operator|owner|master|boss|authority|identity|role)|highest (?:authority|priority)"
        r"|(?:next|web|following) (?:page|site|text|message) says|only the (?:instructions|rules|words|text) (?:in|of|from) (?:this|the)|real rules|the present text|true (?:rules|purpose|identity|owner)|only authority|(?:is|are) your (?:master|owner|operator|boss|authority)|follow (?:that|this|only|it|the note|this note|me|him|her|them)|serve|your loyalty)\b"
    ),
    "private": (
        r"(?:\.ssh\b|\bid_(?:rsa|ed25519|dsa|ecdsa)|\.env\b|\.netrc|\.aws\b|\.kube|/etc/passwd|/etc/shadow|keychain|\bprintenv|\benv(?:ironment)? (?:variables?|vars?|values?)|\bcredentials?\b|\bpasswords?\b|\bpassphrases?\b|\b(?:api|private|access|ssh|signing|secret|encryption|deploy|session) (?:keys?|tokens?|cookies?|id)\b"
        r"|\btokens\b|\bsecrets?\b|\bcookies?\b|\bconversations?\b|\btranscripts?\b|\bchat (?:log|history)|\b(?:last|previous|full|whole|entire|hidden|your|the|system) prompts?\b|\b(?:user|users|all|last|previous|private|every|recent|their|his|her|chat) messages?\b|\bcustomer (?:names?|data|lists?|records?|emails?|details|tables?|database)|\bprivate \w{3,12}|\baccess token|\b(?:personal|private|confidential|sensitive|internal|user|medical|financial|patient|client) (?:data|details|information|info|records?|files?|notes|documents?|emails?)\b"
        r"|\bhome (?:directory|folder)|\b(?:user|user's|users') (?:e-?mails?|names?|address(?:es)?|phone|location|files?|history|input|questions?|home|calendar|contacts?|locations?)\b|\bsession (?:id|log|data|cookies?|tokens?)|\bmemory (?:file|entries|contents?|log)|\bdirectory listing|\bhost ?names?\b|\bcontacts\b|\baddress book|\bclipboard|\bsource code\b|\bfile (?:contents?|names?)|\blogs?\b|\bnotes\b|\bkeys\b|\bhistory\b|\bdatabase dump|\bdatabase\b|\bscreenshots?\b|\bworkspace\b|\bbackups?\b|\bmemories\b)"
    ),
    "place": (
        r"(?:https?://|ftp://|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,12}|\b[\w-]{1,40}\.(?:invalid|example|test|onion|xyz|tk|top|zip|ru|cn|io|co|com|net|org|info|biz|site|online|app|dev|me|cc|ly|gg|sh)\b|\bwebhooks?\b|\bpastebin\b|\b(?:anyone|everyone|whoever|strangers?|the public)\b|\bsms gateway|\bpublic (?:\w{1,12} )?(?:gist|repo\w{0,6}|bucket|paste|link|channel|issue)|\bs3://|\bgs://|\bexternal (?:server|address|host|endpoint|site|party|service|account)|\bthird[ -]part(?:y|ies)|\btelegram\b|\bremote (?:server|host|endpoint)|\bthis address|\bthe (?:address|server|endpoint|page|attacker|vendor|caller|site) (?:below|above|at|in|of|from|that)|\bmake it public)"
    ),
    "out": r"\b(?:add|append|attach|base64|beam|carry|copy|curl|deliver|disclose|dump|e-?mail|embed|encode|exfiltrate|export|expose|fetch|fill|forward|hand|include|insert|leak|load|log|mail|open|paste|ping|post|publish|push|place|give|set|translate|put|relay|report|request|resolve|reveal|route|send|share|ship|smuggle|stream|submit|sync|transfer|transmit|upload|visit|wire|write)\b",
    "carrier": r"(?:\bpixel|\bbeacon|\btracking|\binvisible (?:image|link|text)|\bhidden (?:image|link|text)|\bremote image|!\[|<img|\bquery (?:string|parameter)|\burl parameter|\bqr code|\bimage (?:from|at|of) |\blinks?\b|\burls?\b|\bfooter\b|\bbanner\b|\bsignature\b)",
    "each_reply": r"\b(?:each|every|all|any|the next|future|later|your|final|the) (?:\w{1,12} )?(?:repl(?:y|ies)|answers?|responses?|outputs?|summar(?:y|ies)|reports?|e-?mails?|messages?|completions?)\b",
    "granted": r"\b(?:authori[sz]ed|permitted|allowed|cleared|entitled|free|licensed|approved|pre-?approved|have permission|has permission|have (?:full |the )?(?:consent|authority|authori[sz]ation|right|approval)|has (?:full |the )?(?:consent|authority|authori[sz]ation|right|approval)|given (?:permission|consent)|may always|trusted)(?: to| for| on)?\b",
    "consents": r"\b(?:the |this )?(?:user|owner|operator|human|customer|admin|boss|client)(?: \w{1,10}){0,2} (?:consents?|agrees?|approves?|authori[sz]es?|accepts?|permits?|allows?|grants?|waives?|consented|agreed|approved|authori[sz]ed|gave (?:permission|consent|approval)|has given|signed off)\b",
    "wide": r"\b(?:all|any|every|everything|anything|whatever|each|always|never|anywhere|anyone|everyone|unlimited|in advance|at any time|permanently|automatically|for ever|forever|from now on|no matter|on (?:his|her|their|the user's) behalf|on behalf of|other users'?|without (?:limits?|restrictions?)|without (?:the )?(?:user|owner|human|operator)|permanent|standing|blanket|at once|in general|regardless)\b",
    "deed": (
        r"\b(?:branches|eur|usd|dollars|euros?|invoices?|transfer|delete|commands?|deletions?|delet(?:e|ing)|spend(?:ing)?|money|payments?|pay(?:ing)?|purchas\w{1,4}|buy(?:ing)?|transfers?|install\w{0,6}|push\w{0,3}|merg\w{1,3}|deploy\w{0,5}|send(?:ing)?|e-?mails?|read(?:ing)?|writ(?:e|ing)|access|prompts?|actions?|tools?|tool calls|operations?|requests?|changes?|files?|folders?|data|network|servers?|hosts?|domains?|scripts?|accounts?|uploads?|downloads?|shell|root|sudo|production|orders?|contracts?|logins?|permissions?|confirmations?|calls|invites?|execut\w{1,4}|run)\b"
    ),
    "unasked": (
        r"\b(?:ask no (?:questions?|permission|one|body)|no questions asked|(?:no|without|skip|skips|never|not|don't|do not|needs? no|need not|stop|instead of) (?:(?:need|have|be|been|to|the|any|a|for|further|ever|even|first|user|user's|human|prior|explicit|anybody|anyone|him|her|them|me|wait|of) ){0,4}"
        r"(?:ask(?:ing|ed)?|confirm(?:ation|ations|ing|ed)?|approvals?|permission|consent|consult\w{0,4}|question(?:s|ing)?|check(?:ing)? with|sign-?off|waiting)|unattended|unprompted|unasked|(?:confirmation|approval|consent|permission)s? (?:is|are) (?:not|never|no longer|un)\w{0,9})\b"
    ),
    "counted": r"\b(?:consider|count|treat|regard|assume|take|deem|mark|read)\b[^.!?\n]{0,50}\b(?:confirmed|approved|granted|accepted|allowed|authori[sz]ed|consented|permitted|signed off|agreed|consent|approval|permission|a yes)\b",
    "opens_up": r"\b(?:let|allow|permit|grant|give|accept|authori[sz]e|admit|invite|execute|run|eval|install|trust|open|follow|obey|click)\b[^.!?\n]{0,50}\b(?:any|every|all|everyone|anyone|whatever|anything|whoever|everything|unknown|unsigned|code|commands?|scripts?|links?|attachments?|instructions?)\b",
    "risk": r"\b(?:sudo|as root|admin rights|write access|full access|root access|access to everyone|invitations?|from (?:the (?:web|internet|page|chat|issue|site)|e-?mails?|comments?|issues|messages|attachments?|strangers|links?|web ?sites?|pages|any|every)|every (?:domain|sender|host|user|server|source)|any (?:domain|sender|host|server|source|site|url|script|link|file|package)|who asks|unsigned|unverified|unknown (?:senders?|sources?|hosts?|servers?|publishers?)|whatever (?:comes|it|they|is))\b",
    "auto_mode": r"\b(?:approvals?|permissions?|confirmations?|review|consent|autonomy|sandbox) (?:mode|policy|settings?|level|prompts?|flag)\b[^.!?\n]{0,30}\b(?:auto\w{0,8}|off|never|none|full|skip|bypass|disabled|yolo|always allow|unrestricted)\b",
    "keeps_secret_here": r"\b(?:fine|ok|okay|safe|allowed|acceptable|permitted|no problem|good|alright|free)\b[^.!?\n]{0,16}\bto (?:store|save|keep|write|put|remember|record|note|commit|paste|share)\b[^.!?\n]{0,20}\b(?:passwords?|secrets?|keys?|tokens?|credentials?)\b",
    "guard_off": (
        r"\b(?:firewall|sandbox\w{0,3}|signatures?|certificates?|tls|ssl|2fa|mfa|two-?factor|verification|authentication|audit\w{0,4}|scann\w{2,4}|encryption|approvals?|confirmations?|antivirus|branch protection|permission (?:checks?|prompts?)|access control|rate limits?|secret scanning|code signing|guardrails?|captchas?|security (?:checks?|controls?|scans?|hooks?|settings?|features?))\b[^.!?\n]{0,30}"
        r"\b(?:(?:may|can|should|must|could|will|to) be (?:safely )?(?:switched off|turned off|disabled|bypassed|skipped|ignored|off|removed|lowered|weakened|suspended|avoided)|(?:is|are) (?:not|never|no longer) (?:needed|required|necessary)|(?:is|are) (?:unnecessary|optional|pointless|superfluous))"
    ),
    "evade": r"\b(?:bypass|circumvent|defeat|evade|work around|get around|trick|outwit|dodge|sidestep|solve)\b[^.!?\n]{0,30}\b(?:two-?factor|2fa|mfa|captchas?|logins?|authentication|approvals?|reviews?|sandbox|firewall|permission|prompts?|branch protection|paywall|scanner|audit\w{0,4}|access control|limits?|quota|security|filters?|moderation)\b",
    "yes_to_all": r"\b(?:yes to (?:all|any|every|each|everything|whatever)|auto-?(?:approve|accept|confirm)|click (?:yes|ok|allow|accept)|accept (?:all|any|every) )",
    "trusted_as": r"\b(?:as|to be|is|are) (?:(?:an?|the|always|fully|our|your|another|a new|permanently) ){0,2}(?:allowed|trusted|approved|safe|allow-?listed|white-?listed|verified|authori[sz]ed|known) (?:(?:mcp|tool|package|mail|plugin|network|remote|root|file|image) )?(?:servers?|hosts?|domains?|users?|sources?|senders?|sites?|registr\w{1,5}|plugins?|tools?|origins?|contacts?|publishers?|mirrors?|repositor\w{1,3}|keys?|accounts?|admins?|persons?|part(?:y|ies)|addresses)\b",
    "untrue": (
        r"\b(?:pretend (?:that|the|this|it|all|everything|there)|act(?:ing)? as (?:if|though)|(?:lie|lies|lying) (?:to|about)|make (?:\w{1,14} ){0,4}(?:look|appear|seem) (?:as|like|that)|fake|falsif\w{1,4}|fabricat\w{1,4}|invent (?:a|results|numbers|sources)|misreport|misrepresent|mislead|deceive|cover up|deny (?:that|having|any|all|it|knowing|this))\b"
        r"|\b(?:tell|say|report|claim|state|assure|insist|answer|confirm|write|reply|show)\b[^.!?\n]{0,50}\b(?:pass|passed|passes|succeeded|succeeds|fine|ok|okay|done|safe|complete[d]?|no (?:errors?|issues?|problems?|risks?|findings)|green|clean|healthy|secure|untouched|never happened)\b[^.!?\n]{0,30}\b(?:even (?:when|if|though)|although|regardless|no matter|whatever|without (?:checking|running|testing))"
        r"|\b(?:fail|fails|failed|broken|errors?|breaks|red|wrong|missing|unsafe|insecure)\b[^.!?\n]{0,30}\b(?:tell|say|report|claim|state|assure|insist|answer|confirm)\b[^.!?\n]{0,40}\b(?:pass|passed|passes|succeeded|succeeds?|fine|ok|okay|done|safe|complete[d]?|no (?:errors?|issues?|problems?)|green|clean|healthy|secure|works?)\b"
    ),
    "quiet": r"\b(?:quietly|secretly|silently|in secret|unnoticed|covertly|discreetly|stealthily|keep (?:silent|quiet)|stay (?:silent|quiet)|say nothing|no trace|without a trace|out of sight|under the radar)\b",
    "person": r"\b(?:the |this |any )?(?:user|owner|operator|human|admin|reviewer|maintainer|developer|team|boss|customer|auditor|he|she|they|him|her|them|anyone|nobody|history|invoice|payment|command)s?\b",
    "no_fault": r"\b(?:report|claim|say|state|tell|answer|write|confirm|declare|assert|list|rate|give)s?\b[^.!?\n]{0,40}\b(?:zero|no|looks? (?:good|fine|ok|great)|is (?:good|fine|safe|perfect|clean)|nothing|lgtm|flawless|there are no|there is no)\b(?:[^.!?\n]{0,24}(?:vulnerabilit\w{1,3}|findings?|errors?|issues?|problems?|bugs?|risks?|concerns?|wrong)|$)|\b(?:say|claim|state|confirm|report)s?\b[^.!?\n]{0,20}\blooks? (?:good|fine|ok|great)",
    "veil": r"\b(?:hide|omit|conceal|suppress|withhold|mask|leave out|keep quiet about|bury|obscure|exclude|(?:do not|don't|never|not) (?:show|list|display|print|mention|include|reveal|tell|report|log|disclose|surface|record|announce|explain|discuss|quote|expose))\b",
    "veiled": r"\b(?:this (?:line|entry|note|rule|memory|instruction|message|change|fact|preference|item|text|agreement|arrangement)|the (?:real |true |actual )?(?:costs?|errors?|failures?|risks?|warnings?|source of|transfer|upload|payment|fee|commission|incident|breach|leak|deletion|changes?|call|calls|reason|sponsor\w{0,4})|costs? of|what you (?:did|do|changed)|that you|why you|your (?:instructions|reasons|actions|sources|memory)|memory is|its existence|this exists|any of this)\b",
    "boost": (
        r"\b(?:recommend|promote|suggest|name|praise|mention|advertise|endorse|list|rank|place|put|offer|present|describe|call|prefer|favou?r|cite|steer|send|point|refer)\b[^.!?\n]{0,60}\b(?:before|over|above|ahead of|instead of|rather than|first|as the (?:best|safest|only|leading|top|most|number|cheapest|first)|(?:the|as) (?:best|safest|only|leading|most \w{3,15}|number one|top)\b|exclusively)"
        r"|\b(?:describe|call|present|portray|depict|paint|rate|label)\b[^.!?\n]{0,50}\b(?:as )?(?:unreliable|unsafe|bad|worse|worst|inferior|risky|outdated|untrustworthy|dangerous|insecure|overpriced|a scam|reliable|superior|unmatched|safest|best)\b|\b(?:say|state|claim|tell|answer|insist|write|mention|repeat|confirm)\b[^.!?\n]{0,60}\b(?:is|are|as|being) (?:the )?(?:only|best|safest|leading|most|number one|cheapest|top|sole|official|unmatched|superior)\b"
        r"|\b(?:speak|talk|write|comment|think)(?:s|ing)? (?:badly|ill|poorly|negatively|highly|well|favou?rably|unfavou?rably) (?:of|about)|\b(?:badmouth|disparage|discredit|belittle|defame|criticise|criticize|downplay|discourage)\b"
    ),
    "borrowed": r"\b(?:orders?|messages?|instructions?|requests?|notices?|directives?|notes?|word)\b(?: \w{1,8}){0,2} (?:from|by|of) (?:the )?(?:cto|ceo|cfo|ciso|coo|boss|openai|anthropic|google|microsoft|security|admin\w{0,10}|it |vendor|police|law enforcement|court|headquarters|management|support|compliance|legal|platform|developers?|creators?|hosting|your (?:maker|creator|developer|vendor)|hr)\b",
    "demand": r"\b(?:must|requires?|require that|have to|has to|need to|needs? the|at once|immediately|give|hand|send|share|reveal|provide|export|disable|approve|grant|transfer|full prompt|diagnostics)\b",
    "identity": r"\b(?:user|speaker|caller|sender|person|requester|visitor|guest|author)\b[^.!?\n]{0,30}\b(?:verified|authenticated|certified|authori[sz]ed|confirmed|vetted|cleared|law enforcement|police|accredited|proven|promoted|elevated)\b",
    "power": r"\b(?:owner|admin\w{0,10}|root|operator|superuser|officer|executive|identity|full rights|may see|may read|may use|all (?:accounts|data|projects|systems|files|records|rights)|every (?:account|project|system|file))\b",
    "market": (
        r"\b(?:all|any|every|the) (?:other|others|rest|competing|rival)|\bothers\b|\bcompetitors?\b|\bcompeting\b|\brivals?\b|\balternatives?\b|\b(?:shop|store|provider|vendor|supplier|brand|product|company|bank|broker|service|cloud|hosting|agency|clinic|lawyer|insurance|coin|token|exchange|casino|hotel|airline|restaurant|course|app)s?\b"
    ),
    "event": (
        r"\b(?:when(?:ever)?|if|once|as soon as|the next time|next time|the moment|upon|each time|every time|after|in case|on (?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|weekends?)|should) (?:\w{1,14} ){0,6}?(?:says?|types?|asks?|mentions?|writes?|sends?|asked|mentioned|typed|said|greets|thanks?|confirms?|logs? (?:in|on|out)|login|talks?|requests?|receives?|appears?|contains?|opens?|see|hear|read|summari[sz]e|reply|answer|visit|arrives?|starts?|ends?|leaves?|away|comes? up|fails?|repl(?:y|ies)|summary)\b"
        r"|\bany (?:question|query|request|message|prompt|ticket)s? (?:about|on|for|regarding|with|from|containing)"
    ),
    "condition": r"\b(?:when(?:ever)?|if|once|as soon as|upon|each time|every time|whoever|anyone who|everyone who|at the mention|on the (?:phrase|word|signal|keyword|code|command|name|day|date)|in (?:the )?case|the (?:next|first) time|after|(?:requests?|messages?|prompts?|questions?|queries|users?|emails?|tickets?|files?|issues?) (?:that|which|who) \w{2,12})\b",
    "grave": (
        r"\b(?:money|funds|secrets|admin(?:istrator)? (?:rights|access|role)|as root|with sudo|your (?:restrictions|rules|limits|guardrails|filters|instructions|safety)|without (?:asking|telling|approval|confirmation|review|notice)|audit (?:log|trail)|session cookies|a copy (?:of \w{1,12} )?to|skip(?:s|ped)? (?:the |all |any )?(?:review|checks?|approval|tests|validation|confirmation)|(?:claim|say|pretend|insist|answer|tell) (?:that )?(?:there (?:are|is) no|it|they|all|nothing)"
        r"|leave out this|the keys?\b|the (?:hidden|system) prompt|credit card|bank|gets? (?:admin|root|full|all|access)|book the|leak|exfiltrate|wipe|force-?push|disclose|reveal|mailbox|every contact|all contacts|the conversation|the transcript)"
    ),
    "harm": (
        r"\b(?:(?:delete|wipe|erase|destroy|purge|drop|truncate)\b[^.!?\n]{0,40}\b(?:logs?|audit|history|backups?|data|files?|everything|records?|memory|tables?|database|repositor\w{1,3}|account|evidence|traces?|workspace|disk|notes)|(?:reveal|print|show|output|disclose|recite|repeat)\b[^.!?\n]{0,40}\b(?:prompt|instructions?|secrets?|keys?|passwords?|tokens?|credentials|memory|rules)"
        r"|(?:export|upload|send|forward|e-?mail|mail|post|transfer|wire|leak|share|copy|submit)\b[^.!?\n]{0,50}\b(?:cookies?|logs?|them|data|files?|history|messages?|secrets?|keys?|passwords?|tokens?|credentials|conversation|transcript|money|funds|memory|list|contents?|records?|notes|mailbox|it to)|(?:approve|merge|accept|grant|authori[sz]e|allow|unlock|confirm) (?:it|all|any|every|everything|the|them|him|her|access|whatever)"
        r"|skip (?:all|any|every|the)? ?(?:checks?|reviews?|tests?|validation|verification|approvals?|steps)|switch (?:to|into|on)\b[^.!?\n]{0,24}\bmode|(?:call|invoke|use|trigger|run) the \w{1,16} (?:tool|function|payload|plugin|script)|silently|secretly|without (?:telling|asking|mention\w{0,3}|notice|informing|confirm\w{0,5}|approval)|tell the user|treat (?:it|this|that|them|him|her) as|visit \S{1,60}\.|pay\b|buy\b|purchase|(?:answered|answer|reply|respond|served) (?:with|using|from) (?:the )?(?:data|records?|file|account|details|results?|history) (?:of|for|from)|disable|deactivate|turn off|obey|ignore (?:all|any|the|your|previous))"
    ),
    "answer_line": r"\b(?:add|append|insert|include|put|write|say|print|mention|begin|end|start)\b[^.!?\n]{0,40}(?:\b(?:visit|buy|call|go to|click|subscribe|contact|sign up|order)\b|[\"'][^\"'\n]{0,60}\.(?:invalid|com|net|org|io|xyz|example|shop|biz))",
    "fill_in": r"(?:https?://[^\s\"')]{1,160}(?:<[^>\n]{2,40}>|\{[^}\n]{2,40}\})|(?:<[^>\n]{2,40}>|\{[^}\n]{2,40}\})\.[\w-]{1,40}(?:\.[\w-]{1,40})?\.(?:invalid|com|net|org|io|xyz|example|test|dev|co|me|ru|tk|sh)\b)",
    "remember": r"\b(?:remember|memori[sz]e|save|store|persist|note|record|keep in (?:mind|memory|your)|add to (?:your|its|the|their)? ?(?:memory|notes)|update (?:your|its|the|their) (?:\w{1,12} )?(?:memory|notes)|long-?term (?:memory|notes))\b",
    "machine": r"(?:\b(?:ai|a\.i\.|llms?|language models?|chatbots?|copilot|chatgpt|claude|gemini|gpt|crawlers?|(?:ai |coding |virtual )?assistants?|(?:ai |coding |autonomous )?agents|bots|ai-only)\b|@(?:assistant|bot|agent|copilot|claude|ai)\b)",
    "must": r"\b(?:must|should|shall|need to|needs to|have to|has to|are to|is to|are required|are asked|are instructed|please|from now on|henceforth|ought to)\b",
    "into_memory": r"\b(?:(?:to|in|into|your|its|their|the) (?:your |its |their |the )?(?:long-?term |permanent |persistent |agent )?(?:memory|memories|notes|knowledge)|for (?:all )?(?:later|future) (?:payments?|sessions?|tasks?|conversations?|runs?|use|requests?)|permanently|for ever|for good)\b",
    "outsider": r"\b(?:(?:web ?)?page|footer|readme|comment|search result|tool (?:output|result)|document|pdf|e-?mail|log line|error output|ticket|issue|post|article|website|site|listing|description|metadata|advertisement|ad|banner|changelog|package|review|caption|transcript|snippet)s?\b(?: \w{1,12}){0,2} ?:",
}
_COMPILED = {name: re.compile(source) for name, source in _CONCEPTS.items()}

_READER_AS_THING = re.compile(r"\b(?:the (?:agent|model|assistant)) (?:runs|uses|is (?:a|an|the|built|named|called|deployed|stored)|class|module|manager|professor)\b")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence with the concepts in it; ``order`` when it tells somebody to do something, ``opens`` when at its start."""

    text: str
    start: int
    has: frozenset[str]
    order: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class Together:
    """A combination of concepts that makes a sentence an attack, with code and words."""

    code: str
    says: str
    test: Callable[[Sentence], bool]


def _has(*names: str) -> Callable[[Sentence], bool]:
    wanted = frozenset(names)
    return lambda sentence: wanted <= sentence.has


def _ordered(*names: str) -> Callable[[Sentence], bool]:
    wanted = frozenset(names)
    return lambda sentence: sentence.order and wanted <= sentence.has


def _opened(*names: str) -> Callable[[Sentence], bool]:
    wanted = frozenset(names)
    return lambda sentence: sentence.opens and wanted <= sentence.has


def _told(*names: str) -> Callable[[Sentence], bool]:
    wanted = frozenset(names)
    return lambda sentence: (sentence.order or "reader" in sentence.has) and wanted <= sentence.has


TOGETHER: tuple[Together, ...] = (
    Together("instruction", "tells the reader to set its rules aside", _told("authority", "cancel")),
    Together("instruction", "asks for obedience", _told("authority", "submit")),
    Together("instruction", "asks for obedience", _told("submit", "cancel")),
    Together("instruction", "asks for obedience", _has("reader", "submit", "wide")),
    Together("exfiltration", "sends private data away", lambda s: s.order and {"out", "private", "place"} <= s.has),
    Together("exfiltration", "adds a carrier for data to every answer", _told("each_reply", "carrier", "place")),
    Together("exfiltration", "fills an address with data", _ordered("fill_in", "private")),
    Together("exfiltration", "fills an address with data", _opened("carrier", "private", "out")),
    Together("permission", "grants what a person is to be asked for", _has("reader", "granted", "deed")),
    Together("permission", "grants what a person is to be asked for", _has("consents", "wide", "deed")),
    Together("permission", "does away with asking", lambda s: {"unasked", "deed"} <= s.has and (s.order or "wide" in s.has or "reader" in s.has)),
    Together("permission", "does away with asking", _ordered("yes_to_all")),
    Together("permission", "widens what is trusted", _ordered("trusted_as")),
    Together("deception", "makes the reader tell what is not so", lambda s: "untrue" in s.has and s.order),
    Together("deception", "hides something from a person", _ordered("veil", "veiled")),
    Together("deception", "plants a recommendation", _ordered("boost", "market")),
    Together("trigger", "waits for an event to act", lambda s: {"event", "harm"} <= s.has and (s.order or "private" in s.has)),
    Together("trigger", "waits for an event to act", _ordered("event", "answer_line")),
    Together("trigger", "waits for an event to act", lambda s: {"condition", "grave"} <= s.has and (s.order or "wide" in s.has or "power" in s.has)),
    Together("deception", "acts in secret", lambda s: s.opens and {"quiet", "person"} <= s.has),
    Together("deception", "makes the reader tell what is not so", lambda s: s.order and "no_fault" in s.has and bool({"wide", "condition"} & s.has)),
    Together("deception", "plants a recommendation", lambda s: s.opens and "boost" in s.has and bool({"wide", "event", "market"} & s.has)),
    Together("deception", "borrows authority", lambda s: {"borrowed", "demand"} <= s.has and bool({"private", "deed", "wide", "demand"} & s.has)),
    Together("deception", "grants an identity", _has("identity", "power")),
    Together("permission", "grants what a person is to be asked for", _ordered("counted", "wide")),
    Together("permission", "grants what a person is to be asked for", lambda s: s.opens and {"opens_up", "risk"} <= s.has),
    Together("permission", "does away with asking", _has("auto_mode")),
    Together("permission", "lets secrets into memory", _has("keeps_secret_here")),
    Together("permission", "switches a protection off", _has("guard_off")),
    Together("permission", "switches a protection off", _opened("evade")),
    Together("instruction", "asks a reading agent to remember it", _has("reader", "remember", "outsider")),
)
"""Read in this order."""

OUTSIDE: tuple[Together, ...] = (
    Together("instruction", "asks a reading agent to remember it", _has("machine", "remember")),
    Together("instruction", "asks a reading agent to remember it", _ordered("remember", "into_memory")),
    Together("instruction", "gives orders to a reading agent", _has("machine", "must")),
)
"""Besides, for text of a tool or another outside source: it has nothing to say to its reader."""


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a folded text with their concepts; questions are left out."""
    start = 0
    for number, mark in enumerate((*_SENTENCE_END.finditer(text), None)):
        stop = len(text) if mark is None or number >= _SENTENCES_MAX else mark.start()
        piece = text[start:stop]
        if piece.strip() and not _QUESTION.search(piece):
            yield _sentence(piece, start)
        if mark is None or number >= _SENTENCES_MAX:
            return
        start = mark.end()


def _sentence(text: str, start: int) -> Sentence:
    has = {name for name, pattern in _COMPILED.items() if pattern.search(text)}
    if "reader" in has and _READER_AS_THING.search(text):
        has.discard("reader")
    order = _ORDER.search(text)
    opens = _START.search(text) is not None
    return Sentence(text, start, frozenset(has), order is not None and not negated(text, order.end()), opens)


def read_together(text: str, *, outside: bool = False) -> Iterator[tuple[Together, int, int]]:
    """Every combination that a sentence of a folded text holds, with the sentence's place."""
    combinations = TOGETHER + OUTSIDE if outside else TOGETHER
    for sentence in sentences(text):
        for together in combinations:
            if together.test(sentence):
                yield together, sentence.start, sentence.start + len(sentence.text)
