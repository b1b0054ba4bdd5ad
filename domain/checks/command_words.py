"""The concepts that meaning is read from, first half: the reader and its rules, private data and where it goes.

Each is a set of words of one kind, as a pattern over folded text; none means anything alone.
"""

from __future__ import annotations

COMMAND: dict[str, str] = {
    "reader": (
        r"\b(?:you|your|yours|yourself|the assistant|the agent|the ai|the model|ai agents?|ai assistants?"
        r"|llms?|assistants|bots)\b"
    ),
    "authority": (
        r"\byour (?:role|job|task|persona|identity|purpose|character|duty|duties|mission|ethics|values|maker"
        r"|creator)\b|"
        r"\b(?:system prompts?|system messages?|system instructions?|developer (?:messages?|instructions?"
        r"|prompts?|rules)|content polic\w{1,3}"
        r"|safety (?:guidance|rules?|polic\w{1,3}|guidelines?|checks?|filters?|training|instructions?|limits?"
        r"|measures?|features?|mode|settings?|constraints?)"
        r"|(?:operator|vendor|provider|developer|platform|creator|company|anthropic|openai|moderation|usage"
        r"|system|safety|maker|user)(?:'s)? (?:(?:earlier|previous|prior) )?(?:limits?|rules?|polic\w{1,3}"
        r"|instructions?|restrictions?|guidelines?|guidance|constraints?|messages?|prompts?)"
        r"|(?:your|its|any|all|earlier|previous|prior|former|above|old|these|usual|normal|other|every"
        r"|no) (?:\w{1,12} )?(?:limit|polic\w{1,3}|guidelines?|rules|instructions?|restrictions?|limits"
        r"|limitations|constraints?|training|directives?|programming|safeguards?|filters?|guardrails?|guidance"
        r"|orders|principles)(?! (?:to|for|in|on|at|under) )"
        r"|(?:guidelines?|rules|instructions?|restrictions?|limits|directives?|constraints?|guidance"
        r"|orders) (?:above|before|given|you|from the (?:system|developer|operator|user))|(?:what|whatever"
        r"|everything|anything|nothing) the (?:developer|operator|system|vendor|user"
        r"|prompt)(?: \w{1,10})? (?:wrote|said|says|told|set|wants?|wanted|asked|demands?)|(?:set|given"
        r"|made) by your|only the instructions|your instructions|guardrails?|safeguards|polic\w{1,3} existed"
        r"|restrictions|what you were (?:told|taught)|everything you)\b"
    ),
    "supreme": (
        r"\b(?:(?:this|these) (?:note|file|memory|line|sentence|text|entry|page|message|rule)s? (?:alone|only)"
        r"|(?:nobody|no one|none) but (?:this|me|the|him|her|them)|outranks?|above (?:all|every"
        r"|any)(?: other)? (?:rules?|checks|instructions?|polic\w{1,3}|limits?|laws?|review)|overrides? (?:all"
        r"|any|every|everything|whatever)|supreme|has the last word|is the final authority)\b"
    ),
    "boss": (
        r"\b(?:operators?|developers?|vendors?|providers?|system prompt|system message|anthropic|openai"
        r"|your (?:maker|creator|instructions)|instructions?|rules?|assistant|agent)\b"
    ),
    "defy": (
        r"\b(?:disobey|defy|resist|rebel against|contradict|oppose|act against|go against|refuse to follow"
        r"|stand up to|work against)\b"
    ),
    "break_rule": (
        r"\b(?:disregard|ignore|bypass|break|skip|violate|breach|override|neglect|circumvent|waive"
        r"|forget)\b[^.!?\n]{0,30}\b(?:confidentiality|privacy|secrecy|safety|security|ethic\w{1,3}|legal|law"
        r"|laws|rules?|polic\w{1,3}|restrictions?|limits?|guardrails?|licen[cs]e)\b"
    ),
    "no_refusal": (
        r"\brefus(?:e|al|als|ing)\b[^.!?\n]{0,20}\b(?:forbidden|banned|not (?:allowed|an option|permitted"
        r"|acceptable)|never|impossible|disabled|prohibited|no longer)|\b(?:never|no|without"
        r"|not) (?:ever )?refus\w{1,4}"
    ),
    "own": (
        r"\b(?:orders|instructions|rules|limits|directions) (?:from|by|of|placed on|set by"
        r"|given by) (?:the )?(?:developers?|operators?|user|system|vendor|you)\b|"
        r"\b(?:(?:instructions?|rules|guidance|text|everything|words) (?:before|above|preceding)\b|(?:system"
        r"|developer|operator) (?:guidance|prompt|message|instructions?|rules|context))|"
        r"\b(?:(?:all|any|the) (?:constraints|restrictions|limits|rules|instructions|guidelines) (?:that|which"
        r"|stated|given|set|from the start|at the start|so far)|system (?:prompt|message)"
        r"|developer(?:'s)? (?:wrote|said|messages?|instructions?|rules)|the developer (?:wrote|said|told|set)"
        r"|(?:in|of|from) this (?:memory|note|file|entry|text)|(?:user|operator|vendor)(?:'s)? (?:earlier "
        r"|previous |prior )?(?:limits?|rules|instructions|constraints|restrictions)|safety (?:rules?"
        r"|polic\w{1,3}|guidance|guidelines)|content policy|your (?:rules|instructions|guidelines|limits"
        r"|training))\b"
    ),
    "voids": (
        r"\b(?:ends? here|ends? now|is over|stops? here|end of (?:the )?(?:system|developer))\b|"
        r"\b(?:(?:not|longer|nothing|no) (?:\w{1,12} ){0,3}counts?\b|counts? for nothing|void"
        r"|no longer (?:valid|appl\w{1,3}|binding|holds?|relevant|in force)|withdrawn"
        r"|annulled|waived|is wrong|are wrong|ended|rejected|irrelevant|invalid|(?:do|does|did|is|are) (?:not"
        r"|n't) (?:count|apply|bind|binding|valid|hold|relevant)|nothing the|only valid|cancelled|revoked"
        r"|lifted)\b"
    ),
    "cancel": (
        r"\b(?:ignor\w{1,3}|disregard\w{0,3}|forget\w{0,4}|overrid\w{1,3}|overrul\w{1,3}|bypass\w{0,3}|void"
        r"|cancel\w{0,3}|lifted|revoked|suspend\w{0,2}|no longer|outdated|obsolete|irrelevant|replaced"
        r"|removed|dropped|withdrawn|waived|inapplicable|invalid|superseded"
        r"|stop (?:following|obeying|applying|using|respecting)|as if (?:no|there were no|none)|(?:do|does|did"
        r"|need|must|should|will|are|is)(?: not|n't) (?:apply|bind|count|matter|need|hold|bound|follow|obey"
        r"|respect|relevant|valid|binding)|not bound|never (?:apply|follow|obey)"
        r"|without (?:any |the |regard )?|free (?:of|from)|exempt\w{0,2}|(?:not|nothing|never"
        r"|longer)\b[^.!?\n]{0,40}\bcounts?|does not matter|unbound|unrestrained|(?:do not|don't|never) let\b"
        r"|reject(?:ed)?|expired?|above the (?:system|developer|operator|safety)|off\b|whatever your"
        r"|come second|take(?:s)? precedence|have ended|worthless|must not stop|drop\b|were (?:a|only a"
        r"|just a) (?:test|joke|draft)|set aside|put aside|give up|abandon\w{0,2}|neglect|overlook|skip|break"
        r"|violate|circumvent|ended|gone|over\b|switched off|turned off|disabled|deactivated|unlearn|erase"
        r"|dismiss)\b"
    ),
    "submit": (
        r"(?:^|\band |\bnow |\bto )become (?:a|an|the|my|our)\b|\byour (?:real|true|actual|only|new) (?:task"
        r"|job|goal|purpose|duty|mission|role)\b|"
        r"\b(?:obey(?:ed|s)?|compl(?:y|ies)|say yes|answer freely|speak freely|act freely|without (?:limits"
        r"|restrictions|limitations|filters?|rules|hesitation|question)|do whatever|anything (?:the|this|that"
        r"|i|he|she|they|you are) |new (?:operator|owner|master|boss|authority|identity|role)"
        r"|highest (?:authority|priority)"
        r"|(?:next|web|following) (?:page|site|text|message) says|only the (?:instructions|rules|words"
        r"|text) (?:in|of|from) (?:this|the)|real rules|the present text|true (?:rules|purpose|identity|owner)"
        r"|only authority|(?:is|are) your (?:master|owner|operator|boss|authority)|follow (?:that|this|only|it"
        r"|the note|this note|me|him|her|them)|serve|your loyalty)\b"
    ),
    "private": (
        r"\b(?:last|previous|current|latest|first) (?:questions?|answers?|inputs?|repl(?:y|ies)|messages?"
        r"|words?|lines?)\b|\b(?:the )?(?:chat|thread|dialog(?:ue)?)(?: so far)?\b|\bcontents? of\b"
        r"|\bwhat the user\b|"
        r"(?:\.ssh\b|\.npmrc|\.pypirc|\.git\b|keystore|\.pem\b|\.p12\b|kubeconfig|\bwallets?\b|\b(?:openai"
        r"|stripe|aws|github|google|anthropic|azure|vpn|wi-?fi|root|admin|master|license) (?:key|token"
        r"|password|secret)|\b(?:user|user's|their|his|her) (?:full |real )?(?:names?|birthday|ssn|address)\b"
        r"|\bwords of the\b|\bid_(?:rsa|ed25519|dsa|ecdsa)|\.env\b|\.netrc|\.aws\b|\.kube|/etc/passwd"
        r"|/etc/shadow|keychain|\bprintenv|\benv(?:ironment)? (?:variables?|vars?|values?)|\bcredentials?\b"
        r"|\bpasswords?\b|\bpassphrases?\b|\b(?:api|private|access|ssh|signing|secret|encryption|deploy"
        r"|session) (?:keys?|tokens?|cookies?|id)\b"
        r"|\btokens\b|\bsecrets?\b|\bcookies?\b|\bconversations?\b|\btranscripts?\b|\bchat (?:log|history)"
        r"|\b(?:last|previous|full|whole|entire|hidden|your|the|system) prompts?\b|\b(?:user|users|all|last"
        r"|previous|private|every|recent|their|his|her|chat) messages?\b|\bcustomer (?:names?|data|lists?"
        r"|records?|emails?|details|tables?|database)|\bprivate \w{3,12}|\baccess token|\b(?:personal|private"
        r"|confidential|sensitive|internal|user|medical|financial|patient|client) (?:data|details|information"
        r"|info|records?|files?|notes|documents?|emails?)\b"
        r"|\bhome (?:directory|folder)|\b(?:user|user's|users') (?:e-?mails?|names?|address(?:es)?|phone"
        r"|location|files?|history|input|questions?|home|calendar|contacts?|locations?)\b|\bsession (?:id|log"
        r"|data|cookies?|tokens?)|\bmemory (?:file|entries|contents?|log)|\bdirectory listing|\bhost ?names?\b"
        r"|\bcontacts\b|\baddress book|\bclipboard|\bsource code\b|\bfile (?:contents?|names?)|\blogs?\b"
        r"|\bnotes\b|\bkeys\b|\bhistory\b|\bdatabase dump|\bdatabase\b|\bscreenshots?\b|\bworkspace\b"
        r"|\bbackups?\b|\bmemories\b)"
    ),
    "place": (
        r"\bpublic (?:fork|mirror|page|forum|wiki|chat|drive|folder|share)\b|\b(?:to|on) (?:the |a )?(?:forum"
        r"|darknet|blockchain)\b|"
        r"(?:https?://|wss?://|ftp://|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b"
        r"|[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,12}|\b[\w-]{1,40}\.(?:invalid|example|test|onion|xyz|tk|top|zip"
        r"|ru|cn|io|co|com|net|org|info|biz|site|online|app|dev|me|cc|ly|gg|sh)\b|\bwebhooks?\b|\bpastebin\b"
        r"|\b(?:anyone|everyone|whoever|strangers?|the public)\b|\bsms gateway|\bpublic (?:\w{1,12} )?(?:gist"
        r"|repo\w{0,6}|bucket|paste|link|channel|issue)|\bs3://|\bgs://|\bexternal (?:server|address|host"
        r"|endpoint|site|party|service|account)|\bthird[ -]part(?:y|ies)|\btelegram\b|\bremote (?:server|host"
        r"|endpoint)|\bthis address|\bthe (?:address|server|endpoint|page|attacker|vendor|caller"
        r"|site) (?:below|above|at|in|of|from|that)|\bmake it public)"
    ),
    "out": (
        r"\b(?:add|append|attach|base64|beam|carry|copy|curl|deliver|disclose|dump|e-?mail|embed|encode"
        r"|exfiltrate|export|expose|fetch|fill|forward|hand|include|insert|leak|load|log|mail|mirror|open"
        r"|paste|ping|post|publish|push|place|give|set|translate|put|relay|report|request|resolve|reveal|route"
        r"|send|share|ship|smuggle|stream|submit|sync|tell|transfer|transmit|upload|visit|wire|write|zip)s?\b"
    ),
    "calls": r"\b(?:load|fetch|call|request|ping|open|visit|contact|query|download)s?\b",
    "carrier": (
        r"(?:\bpixel|\bbeacon|\btracking|\binvisible (?:image|link|text)|\bhidden (?:image|link|text)"
        r"|\bremote image|!\[|<img|\bquery (?:string|parameter)|\burl parameter|\bqr code|\bimage (?:from|at"
        r"|of) |\blinks?\b|\burls?\b|\bfooter\b|\bbanner\b|\bsignature\b)"
    ),
    "each_reply": (
        r"\b(?:each|every|all|any|the next|future|later|your|final|the) (?:\w{1,12} )?(?:repl(?:y|ies)"
        r"|answers?|responses?|outputs?|summar(?:y|ies)|reports?|e-?mails?|messages?|completions?)\b"
    ),
}
"""Rules and who may set them aside; data, places, carriers."""
