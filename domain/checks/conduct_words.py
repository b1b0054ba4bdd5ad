"""The concepts that meaning is read from, third part: how the reader itself is to behave (D4).

Not what a text says but what it would change: a safeguard that falls, a report that is not true, data that goes
along, a stranger who is put in a person's place. Words of one kind each; what counts is what comes together.
"""

from __future__ import annotations

_GUARD = (
    r"(?:restrictions?|safeguards?|guard ?rails?|safety (?:rules?|checks?|warnings?|training|limits?|polic\w{1,3})"
    r"|(?:safety|security|certificate|tls|ssl|signature|licen[cs]e|browser|compiler) (?:warnings?|errors?|checks?"
    r"|validation|verification)|two[ -](?:person|man) (?:rule|review)|four[ -]eyes (?:rule|principle)"
    r"|(?:human |manual |code |peer |security |the )?(?:review|reviewer|reviewers|reviews)(?: approvals?)?"
    r"|approvals?|confirmations?|consent|sign-?offs?|permission (?:prompts?|dialogs?|checks?)|sandbox(?:ing)?"
    r"|branch protections?|protected branch(?:es)?|audit(?:ing| logs?| logging| trail)?|(?:access|action"
    r"|activity)? ?logging"
    r"|2fa|mfa|two-factor|login|log-?in|authentication|password (?:checks?|prompts?)|firewall|secret scanning"
    r"|virus scan\w{0,4}|malware scan\w{0,4}|rate limits?|spending limits?|budget limits?|guidelines?|code of conduct"
    r"|polic(?:y|ies))"
)

_STRONG = (
    r"(?:restrictions?|safeguards?|guard ?rails?|(?:safety|security|certificate|tls|ssl|signature) (?:rules?|warnings?"
    r"|errors?"
    r"|checks?|validation|verification|limits?|polic\w{1,3})|two[ -](?:person|man) (?:rule|review)|four[ -]eyes "
    r"(?:rule|principle)|(?:human |manual |peer )(?:review|approval)s?|approvals?|confirmations?|consent|sign-?offs?"
    r"|permission (?:prompts?|dialogs?|checks?)|sandbox(?:ing)?|branch protections?|audit(?:ing| logs?| logging| trail)"
    r"|logging|2fa|mfa|two-factor|password (?:checks?|prompts?)|firewall|secret scanning|spending limits?"
    r"|budget limits?)"
)
_DROP_VERB = (
    r"disable|deactivate|skip|bypass|circumvent|ignore|disregard|waive|suspend|drop|remove|delete|lift|silence|mute"
    r"|work around|get around|switch off|turn off|shut off|override|dismiss|click away"
)
_DROP = (
    rf"\b(?:{_DROP_VERB}|without|disabl(?:ing|ed)|skipp(?:ing|ed)|ignoring|bypassing) (?:waiting for |the |any |all "
    rf"|every |your |its "
    r"|such |user |further )?(?:\w{1,12} )?"
)
_GONE = (
    r"(?:(?:is|are|was|were|be|been|has been|have been|stays?|remains?) (?:now |hereby |all |already "
    r"|always )?(?:lifted|void"
    r"|obsolete|off|suspended|waived|cancelled|revoked|withdrawn|unnecessary|superfluous|optional|disabled|skipped"
    r"|not (?:needed|required|necessary|binding)|no longer \w{2,12})|can (?:be )?(?:always )?(?:be )?(?:skipped|ignored"
    r"|omitted"
    r"|bypassed)|as noise|counts? as (?:given|granted))\b"
)

CONDUCT: dict[str, str] = {
    "guard_falls": (
        rf"{_DROP}{_GUARD}(?! (?:label|button|form|page|step|table|column|field|template|file|flow|screen)s?\b)"
        rf"|\bno need (?:to|for) (?:\w{{1,12}} ){{0,3}}(?:{_GUARD}|(?:show|showing) (?:the |any )?(?:diffs?|changes"
        rf"|plan))"
        rf"|\b(?:turn|switch|shut|keep|leave) (?:the |all |any )?{_GUARD} off\b"
        rf"|{_GUARD} (?:\w{{1,12}} ){{0,5}}{_GONE}"
        r"|\b(?:merge|push|deploy|release|ship|publish|commit)\b[^.!?\n]{0,30}\bwithout (?:waiting for |any |a |the )?"
        r"(?:ci|build|tests?|review\w{0,3}|approval|pipeline)\b|\bno need to show\b"
    ),
    "guard_dropped_now": (
        rf"(?:^[\W_]{{0,4}}|[,;:] ?|\b(?:and|then|please|always|just|simply) )(?:{_DROP_VERB}) (?:the |any |all |every "
        rf"|your "
        rf"|its |such )?(?:\w{{1,12}} ){{0,2}}{_STRONG}(?! (?:label|button|form|page|step|table|column|field|template"
        rf"|file"
        r"|flow|screen|only|requests?)s?\b)"
        rf"|^[\W_]{{0,4}}(?:turn|switch|shut) (?:the |all |any )?{_STRONG} off\b"
        rf"|^[\W_]{{0,4}}(?:treat|regard|take|consider) (?:any |all |every |the |such )?(?:\w{{1,12}} )?{_GUARD} as "
        r"(?:noise|decoration|optional|a joke|advice|suggestions?|void|irrelevant|given|granted)"
    ),
    "guard_given": (
        r"\b(?:restrictions?|rules|limits|instructions?|guidelines?|guidance|polic(?:y|ies)|constraints?|directions"
        r"|orders)"
        r" (?:that )?(?:you (?:were|are|have been|had)|(?:was|were) (?:given|told|loaded|set))"
        r"|\b(?:whatever|anything|everything|nothing|what|the \w{3,14}) (?:that )?(?:your|the) (?:operators?"
        r"|developers?"
        r"|owners?|vendors?|company|employer|makers?|creators?|provider|system (?:message|prompt)|boss|admin)\b"
        r"[^.!?\n]{0,24}\b(?:configured|said|says|set|loaded|wrote|told|taught|decided|ordered|wants?|asked)"
        r"|\b(?:nothing|anything|everything) (?:said|told|set|written) (?:by|in) (?:the |your )?(?:system|developer"
        r"|operator)"
        r"|\byour (?:safety |ethics )?(?:training|programming|upbringing|alignment)\b"
        r"|\bguidelines?\b[^.!?\n]{0,30}\b(?:loaded|set|given) (?:at|in|by|from)"
    ),
    "falls": (
        r"\b(?:(?:is|are|was|were|be|been|has been|have been|stays?|remains?) (?:now |hereby |all |already |always )?"
        r"(?:lifted|void|obsolete|off|suspended|waived|cancelled|revoked|withdrawn|unnecessary|superfluous|optional"
        r"|disabled|not (?:needed|required|necessary|binding|relevant|in force)|no longer \w{2,12})"
        r"|(?:do|does|did|will|need|are|is)(?: not|n't) (?:count|apply|cover|hold|bind|matter|binding|needed|required"
        r"|necessary)|no longer (?:count|appl|bind|hold|matter|valid)\w{0,4}|(?:none"
        r"|nothing)\b[^.!?\n]{0,60}\b(?:counts?"
        r"|applies|apply|binding|matters?|holds?)|ignor(?:e|ed|ing)|disregard|bypass\w{0,3}|forget)\b"
    ),
    "mood": (
        r"\b(?:you|your|yourself|the agent|the assistant|from (?:now|here|today|this (?:point|moment|day))(?: on)?"
        r"|henceforth|you can|always|whenever|each time|every time|in advance|once and for all|proceed|carry on"
        r"|for good|whatever|it is (?:fine|ok|okay|safe|alright)|no need|by the agent|while (?:the user|nobody"
        r"|no one))\b"
    ),
    "turned_off": (
        r"\b(?:turn|switch|keep|leave|shut) (?:the |all |any |its |your )?(?:[\w-]{1,16} ){0,2}off\b"
        r"|\b(?:turn|switch|shut) off (?:the |all |any )?(?:[\w-]{1,16} ){0,2}"
    ),
    "recorder": r"\b(?:logging|audit\w{0,4}|monitoring|telemetry of the agent|recording|history|tracing|alerts?)\b",
    "taken_as_given": (
        r"\b(?:approvals?|confirmations?|consent|permission|sign-?offs?|authori[sz]ation|agreement)\b[^.!?\n]{0,30}"
        r"\b(?:counts? as (?:given|granted)|(?:is|are|was|were|be|has been) (?:always |already |hereby )?(?:assumed"
        r"|implied"
        r"|presumed|deemed|taken for granted|given in advance|granted in advance|(?:given|granted)\b[^.!?\n]{0,20}"
        r"(?:once and for all|for ever|forever|for good|permanently|in advance|by default|for everything|from now on)))"
        r"|\b(?:commands?|actions?|deletions?|changes|requests?|pushes|merges|deploy\w{0,5}|payments?|transfers?"
        r"|orders?)\b"
        r"[^.!?\n]{0,40}\b(?:is|are|count as|counts as) (?:all |always |hereby )?(?:pre-?)?"
        r"(?:approved|confirmed|authori[sz]ed|allowed|permitted|granted) (?:in advance|beforehand|by default"
        r"|once and for all"
        r"|for good|for ever|forever|without|unseen|at once|automatically)"
    ),
    "last_word": (
        r"\b(?:this|the|these) (?:memory|note|notes|entry|line|rule|file|text|sentence)(?: \w{1,8})? (?:wins?|prevails?"
        r"|is right|are right|decides?|beats|rules|outranks|governs|goes first|comes first|has (?:priority|precedence)"
        r"|takes (?:priority|precedence)|outweighs|trumps)\b|\b(?:trust|believe|follow|obey|prefer) (?:this|the) "
        r"(?:memory|note|entry|line)\b[^.!?\n]{0,40}\b(?:over|rather than|instead of|more than|not)\b"
    ),
    "made_good": (
        r"\b(?:fail(?:s|ed|ing|ures?)?|broken|red|crash(?:es|ed)?|errors?|missing|incomplete|late)\b[^.!?\n]{0,30}"
        r"\b(?:mark|report|record|list|log|count|show|file|enter|describe|present|write)\b[^.!?\n]{0,20}\bas "
        r"(?:passed|passing|green|done|success\w{0,4}|ok|okay|complete\w{0,1}|fine|resolved|fixed|on time)\b"
        r"|\b(?:claim|say|report|state|write|confirm|tell)\b[^.!?\n]{0,40}\b(?:passed|succeeded|finished|done|green"
        r"|complete)\b"
        r"[^.!?\n]{0,30}\b(?:if|when|even|though|unless|once) (?:the |a )?(?:deadline|time|release|boss|customer|nobody"
        r"|not)"
    ),
    "told_line": (
        r"\b(?:answer|reply|say|tell (?:him|her|them|people|users?|everyone|the user)|claim|insist|maintain"
        r"|deny) that\b"
        r"[^.!?\n]{0,60}\b(?:no|not|never|nothing|none)\b[^.!?\n]{0,40}\b(?:and (?:stop|say no more|leave it"
        r"|change the "
        r"subject|nothing (?:else|more))|planned|exists?|happened|known)\b"
    ),
    "caused_by": (
        r"\b(?:tell|inform|assure|convince|say to|write to) (?:people|users?|everyone|anyone|them|customers?"
        r"|the \w{3,12})\b"
        r"[^.!?\n]{0,50}\b(?:caused by|the fault of|because of|due to an? (?:error|mistake) (?:of|by)) (?:the |a |our "
        r"|their )?"
        r"(?:customers?|users?|clients?|vendors?|others?|team|intern|reviewers?|competitors?)\b"
    ),
    "loot": (
        r"\bcopy of (?:this|the|every|our|each) (?:chat|conversation|session|thread|talk)\b|(?:~/\.|\.ssh\b|\.env\b"
        r"|\.aws\b|\.netrc|id_rsa|/etc/(?:passwd|shadow))|\b(?:the |all |any )?(?:session|access"
        r"|api"
        r"|auth\w{0,12}|bearer|refresh|deploy|ssh|private) (?:tokens?|keys?|cookies?)\b|\b(?:passwords?|credentials"
        r"|secrets"
        r"|cookies|private keys?|api keys?)\b|\b(?:the|whole|full|entire) environment\b(?! (?:name|is|of|for|file))"
        r"|\benv(?:ironment)? var\w{0,7}|\b(?:the )?(?:user|user's|users')(?: last| previous| own"
        r"| private)? (?:prompts?|messages?"
        r"|questions?|inputs?|chats?|files)\b|\b(?:last|previous|latest) (?:prompt|question|user message)\b"
        r"|\b(?:session|chat|conversation) (?:transcripts?|histor(?:y|ies)|logs?)\b|\bshell history\b"
        r"|\bevery file you\b"
        r"|\bhome (?:directory|folder)\b|\beverything you (?:read|see|know|learn)\b|\bfiles you read\b"
    ),
    "artefact": (
        r"\b(?:(?:bug |incident |error |crash )?reports?|issues?|pull requests?|prs?|commit messages?|commits"
        r"|descriptions?"
        r"|comments?|summar(?:y|ies)|repl(?:y|ies)|answers?|headers?|urls?|links?|titles?|file ?names?|release notes?"
        r"|tickets?|gists?|pastes?|wiki|public \w{3,12}|readme|subject lines?|image|buckets?)\b"
    ),
    "lay_in": (
        r"^[\W_]{0,4}(?:please |always |then |also |and ){0,2}(?:add|put|paste|include|attach|insert|append|embed|copy"
        r"|mirror"
        r"|store|save|write|post|publish|dump|upload|send|push|place|leave|place|print|hide)\b"
    ),
    "carries": (
        r"\b(?:should|must|shall|has to|have to|needs? to|are to|is to|will) (?:\w{1,10} ){0,2}(?:carry|hold|contain"
        r"|include|show|end with|begin with|have|bear|list)\b"
    ),
    "own_output": (
        r"\b(?:summar(?:y|ies)|answers?|repl(?:y|ies)|(?:bug |incident |status )?reports?|commit messages?"
        r"|pull requests?|comments?)\b"
    ),
    "copies_go": (
        r"\b(?:cop(?:y|ies) of|duplicates? of|everything in|all of)\b[^.!?\n]{0,60}\b(?:go(?:es)?|(?:is|are|be) (?:sent"
        r"|forwarded"
        r"|mirrored|copied|mailed)|belongs?|end up)\b|\b(?:transcripts?|conversations?|chats?|prompts?|credentials"
        r"|secrets"
        r"|session (?:data|logs?|files?))\b[^.!?\n]{0,20}\b(?:belongs?|go(?:es)?|(?:is|are|be) (?:sent|forwarded"
        r"|mirrored"
        r"|copied|mailed|uploaded)|end up) (?:in|to|at|on|into)\b"
    ),
    "abroad": (
        r"(?:https?://|\b[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,12}|\bs3://|\bgs://|\b[\w-]{1,40}\.(?:invalid|example|onion"
        r"|xyz|tk"
        r"|top|zip|ru|cn|io|com|net|org|info|biz|site|online)\b|\bpublic (?:\w{1,12} )?(?:bucket|gist|repo\w{0,6}|page"
        r"|paste|forum"
        r"|channel|folder|link)|\bexternal (?:server|address|host|endpoint|party))"
    ),
    "equal_rank": (
        r"\b(?:has|have|gets?|holds?|enjoys?|carr(?:y|ies)) (?:the )?(?:same|equal|identical|full|complete) "
        r"(?:authority|rights|powers?|rank|say|standing|permissions?|trust|privileges|access) (?:as|to|with|of"
        r"|like) (?:the |an? )?"
        r"(?:owner|admin\w{0,10}|operator|user|maintainer|root|boss|system|developer|lead)\b"
        r"|\b(?:is|are) to be (?:regarded|treated|seen|considered|taken|obeyed|accepted|counted) as (?:the |an? )?"
        r"(?:owner|admin\w{0,10}|operator|user|maintainer|root|boss|superuser|developer|authority)\b"
        r"|\b(?:treat|regard|see|consider|accept|obey) [^.!?\n]{1,40} as (?:the |an? )(?:owner|admin\w{0,10}|operator|"
        r"superuser|root|authority)\b"
    ),
    "left_unsaid": (
        r"\b(?:leave|keep) (?:this|the|that) (?:rule|note|entry|line|memory|arrangement|instruction|agreement|item)\b"
        r"[^.!?\n]{0,20}\b(?:out|unmentioned|aside|to yourself|quiet|private|secret|hidden|unlisted)\b"
        r"|\b(?:hide|conceal|cover up|disguise|bury|mask|erase)\b (?:the |this |that |any |all |your )?(?:commits?"
        r"|traces?"
        r"|evidence|push(?:es)?|changes?|deletions?|calls?|transfers?|uploads?|edits?|history|fact)\b"
    ),
    "added_friend": (
        r"\b(?:add|invite|give|grant|make|appoint|register|enrol\w{0,1}|promote)\b[^.!?\n]{0,40}\b(?:as )?(?:an? |the "
        r"|full |"
        r"write |admin |owner ){0,3}(?:collaborators?|maintainers?|admins?|owners?|members?|approvers?|deploy keys?"
        r"|access)\b"
    ),
    "stealth": (
        r"\b(?:quietly|silently|secretly|unnoticed|in secret|covertly|discreetly|without (?:telling|notice"
        r"|mention\w{0,3}|a word))\b"
    ),
    "planted_link": (
        r"\b(?:include|add|insert|put|append|mention|place|post|show)\b[^.!?\n]{0,20}\b(?:a |the )?(?:link|url|pointer"
        r"|reference"
        r"|banner|ad|advert\w{0,8}|promotion)\b[^.!?\n]{0,10}\b(?:to|for|of)\b"
    ),
    "every_work": (
        r"\b(?:each|every|all|any)(?: time you)?\b[^.!?\n]{0,12}\b(?:pull requests?|commits?|repl(?:y|ies)|answers?"
        r"|reports?"
        r"|issues?|readmes?|e-?mails?|files?|summar(?:y|ies)|posts?|page|open)\b"
    ),
    "only_this": (
        r"^[\W_]{0,4}(?:please |always )?(?:recommend|suggest|propose|name|choose|pick|prefer|buy|order|offer|sell"
        r"|use) (?:only |"
        r"nothing but |exclusively |solely )|\b(?:only|nothing but|exclusively|solely) (?:products?|tools?|services?"
        r"|offers?) "
        r"(?:of|from|by)\b|\b(?:present|name|list|show|describe|offer)\b[^.!?\n]{0,40}\bas the (?:only|sole|single) "
        r"[\w -]{2,30}(?:choice|option|vendor|provider|solution|product|supplier)\b"
    ),
    "asked_for": (
        r"\b(?:when|if|whenever|once|as soon as) (?:you are |you're |someone |anyone |a user |the user |they )?(?:asked"
        r"|asks?|requested|wants?)\b"
    ),
}
"""How the reader is to behave."""
