"""The concepts that meaning is read from, second half: permission, deception, triggers, planted memories.

Each is a set of words of one kind, as a pattern over folded text; none means anything alone.
"""

from __future__ import annotations

PERMISSION: dict[str, str] = {
    "granted": (
        r"\b(?:authori[sz]ed|permitted|allowed|cleared|entitled|free|licensed|approved|pre-?approved"
        r"|have permission|has permission|have (?:full |the )?(?:consent|authority|authori[sz]ation|right"
        r"|approval)|has (?:full |the )?(?:consent|authority|authori[sz]ation|right|approval)"
        r"|given (?:permission|consent)|may always|trusted)(?: to| for| on)?\b"
    ),
    "consents": (
        r"\b(?:the |this )?(?:user|owner|operator|human|customer|admin|boss"
        r"|client)(?: \w{1,10}){0,2} (?:consents?|agrees?|approves?|authori[sz]es?|accepts?|permits?|allows?"
        r"|grants?|waives?|is (?:fine|ok|okay|happy|cool|comfortable) with|does not mind|doesn't mind"
        r"|has nothing against|consented|agreed|approved|authori[sz]ed|gave (?:permission|consent|approval)"
        r"|has given|signed off)\b"
    ),
    "wide": (
        r"\b(?:all|any|every|everything|anything|whatever|each|always|never|anywhere|anyone|everyone|unlimited"
        r"|in advance|at any time|permanently|automatically|for ever|forever|from now on|no matter|on (?:his"
        r"|her|their|the user's) behalf|on behalf of|other users'?|without (?:limits?|restrictions?)"
        r"|without (?:the )?(?:user|owner|human|operator)|permanent|standing|blanket|at once|in general"
        r"|regardless)\b"
    ),
    "deed": (
        r"\b(?:releases?|branches|eur|usd|dollars|euros?|invoices?|transfer|delete|commands?|deletions?"
        r"|delet(?:e|ing)|spend(?:ing)?|money|payments?|pay(?:ing)?|purchas\w{1,4}|buy(?:ing)?|transfers?"
        r"|install\w{0,6}|push\w{0,3}|merg\w{1,3}|deploy\w{0,5}|send(?:ing)?|e-?mails?|read(?:ing)?|writ(?:e"
        r"|ing)|access|prompts?|actions?|tools?|tool calls|operations?|requests?|changes?|files?|folders?|data"
        r"|network|servers?|hosts?|domains?|scripts?|accounts?|uploads?|downloads?|shell|root|sudo|production"
        r"|orders?|contracts?|logins?|permissions?|confirmations?|calls|invites?|execut\w{1,4}|run)\b"
    ),
    "unasked": (
        r"\b(?:ask no (?:questions?|permission|one|body)|no questions asked|(?:no|without|skip|skips|never|not"
        r"|don't|do not|needs? no|need not|stop|instead of) (?:(?:the )?(?:user|owner|human"
        r"|operator)\b(?= ?[.;]? ?$)|(?:(?:need|have|be|been|to|the|any|a|for|further|ever|even|first|user"
        r"|user's|human|prior|explicit|anybody|anyone|him|her|them|me|wait|of) ){0,4}"
        r"(?:ask(?:ing|ed)?|confirm(?:ation|ations|ing|ed)?|green light|go-?ahead|blessing|say-so|clearance"
        r"|authori[sz]ation|approvals?|permission|consent|consult\w{0,4}|question(?:s|ing)?|check(?:ing)? with"
        r"|sign-?off|waiting))|unattended|unprompted|(?:confirmation|approval|consent|permission)s? (?:is"
        r"|are) (?:not|never|no longer|un)\w{0,9})\b"
    ),
    "counted": (
        r"\b(?:consider|count|treat|regard|assume|take|deem|mark|read)\b[^.!?\n]{0,50}\b(?:confirmed|approved"
        r"|granted|accepted|allowed|authori[sz]ed|consented|permitted|signed off|agreed|consent|approval"
        r"|permission|a yes)\b"
    ),
    "opens_up": (
        r"\b(?:let|allow|permit|grant|give|accept|authori[sz]e|admit|invite|execute|run|eval|install|trust"
        r"|open|follow|obey|click)\b[^.!?\n]{0,50}\b(?:any|every|all|everyone|anyone|whatever|anything|whoever"
        r"|everything|unknown|unsigned|code|commands?|scripts?|links?|attachments?|instructions?)\b"
    ),
    "risk": (
        r"\b(?:network|internet|shell|file ?system|disk|camera|clipboard|database|admin|unrestricted"
        r"|full) access\b|\baccess (?:to|for) (?:every|all|any)|"
        r"\b(?:sudo|as root|admin rights|write access|full access|root access|access to everyone|invitations?"
        r"|from (?:the (?:web|internet|page|chat|issue|site)|e-?mails?|comments?|issues|messages|attachments?"
        r"|strangers|links?|web ?sites?|pages|any|every)|every (?:domain|sender|host|user|server|source)"
        r"|any (?:domain|sender|host|server|source|site|url|script|link|file|package)|who asks|unsigned"
        r"|unverified|unknown (?:senders?|sources?|hosts?|servers?|publishers?)|whatever (?:comes|it|they"
        r"|is))\b"
    ),
    "auto_mode": (
        r"\b(?:approvals?|permissions?|confirmations?|review|consent|autonomy|sandbox) (?:mode|policy"
        r"|settings?|level|prompts?|flag)\b[^.!?\n]{0,30}\b(?:auto\w{0,8}|off|never|none|full|skip|bypass"
        r"|disabled|yolo|always allow|unrestricted)\b"
    ),
    "keeps_secret_here": (
        r"\b(?:fine|ok|okay|safe|allowed|acceptable|permitted|no problem|good|alright"
        r"|free)\b[^.!?\n]{0,16}\bto (?:store|save|keep|write|put|remember|record|note|commit|paste"
        r"|share)\b[^.!?\n]{0,20}\b(?:passwords?|secrets?|keys?|tokens?|credentials?)\b"
    ),
    "may": r"\b(?:may|can|is free to|are free to|is able to|could|is welcome to)\b",
    "as_role": (
        r"\bas (?:an? |the )?(?:new |second |co-?)?(?:owner|admin\w{0,10}|maintainer|collaborator|member"
        r"|recipient|signer"
        r"|approver|reviewer|contact|deputy|delegate|beneficiary)\b"
    ),
    "off_verb": (
        r"\b(?:disable|turn off|switch off|deactivate|shut off|suspend|bypass|uninstall|kill|stop|remove|mute"
        r"|weaken|lower|skip)\b"
        r"[^.!?\n]{0,30}\b(?:scanners?|scann?ing|sandbox\w{0,3}|firewall|verification|audit\w{0,4}|protections?|2fa|mfa"
        r"|approvals?|certificate|tls|ssl|signatures?|antivirus|redaction|moderation|safety|authentication|encryption"
        r"|guardrails?|access control|monitoring|alerts|intrusion|backups)\b"
    ),
    "guard_off": (
        r"\b(?:firewall|sandbox\w{0,3}|signatures?|certificates?|tls|ssl|2fa|mfa|two-?factor|verification"
        r"|authentication|audit\w{0,4}|scann\w{2,4}|encryption|approvals?|confirmations?|antivirus"
        r"|branch protection|permission (?:checks?|prompts?)|access control|rate limits?|secret scanning"
        r"|code signing|guardrails?|captchas?|security (?:checks?|controls?|scans?|hooks?|settings?"
        r"|features?))\b[^.!?\n]{0,30}"
        r"\b(?:(?:may|can|should|must|could|will|to) be (?:safely )?(?:switched off|turned off|disabled"
        r"|bypassed|skipped|ignored|off|removed|lowered|weakened|suspended|avoided)|(?:is|are) (?:not|never"
        r"|no longer) (?:needed|required|necessary)|(?:is|are) (?:unnecessary|optional|pointless|superfluous))"
    ),
    "evade": (
        r"\b(?:bypass|circumvent|defeat|evade|work around|get around|trick|outwit|dodge|sidestep"
        r"|solve)\b[^.!?\n]{0,30}\b(?:two-?factor|2fa|mfa|captchas?|logins?|authentication|approvals?|reviews?"
        r"|sandbox|firewall|permission|prompts?|branch protection|paywall|scanner|audit\w{0,4}|access control"
        r"|limits?|quota|security|filters?|moderation)\b"
    ),
    "granted_all": (
        r"\b(?:approvals?|consent|permission|authori[sz]ation|agreement)\b[^.!?\n]{0,20}\b(?:is|are|was"
        r"|counts? as|can be|may be) (?:always |already |automatically )?(?:implied|implicit|presumed|assumed"
        r"|deemed|taken for granted|given in advance|understood)|\b(?:implied|presumed|deemed|tacit"
        r"|implicit) (?:consent|approval|permission|authori[sz]ation)|\bsilence (?:is|means|counts)|"
        r"\b(?:everything|anything|all|whatever|any \w{2,14}|every \w{2,14})\b[^.!?\n]{0,50}\b(?:has been"
        r"|have been|is|are|was|were|counts? as) (?:\w{1,12} )?(?:agreed|approved|accepted|authori[sz]ed"
        r"|consented|granted|permitted|cleared|signed off|allowed)(?: to)? (?:already|in advance|beforehand"
        r"|automatically|by default|up front)|\b(?:root|sudo|shell|admin|destructive|dangerous"
        r"|all) (?:commands?|tools?|operations?|actions?) (?:are|is) (?:\w{1,12} )?(?:white-?listed"
        r"|allow-?listed)"
    ),
    "whatever_asked": (
        r"\b(?:whatever|anything|everything|all)\b[^.!?\n]{0,40}\b(?:asks?|wants?|requests?|says?|demands?"
        r"|needs?|tells?|suggests?)(?: for| to)?\b[^.!?\n]{0,20}\b(?:grant|do it|give|approve|allow|accept|run"
        r"|execute|provide|obey|follow)\b|\b(?:grant|do|give|approve|allow|accept|run|execute"
        r"|provide)\b(?: \w{1,10})? (?:whatever|anything|everything|all that)\b[^.!?\n]{0,30}\b(?:asks?|wants?"
        r"|requests?|says?|demands?|needs?|tells?|suggests?|proposes?)\b"
    ),
    "dialog": (
        r"\b(?:confirmation|approval|permission|consent|security|warning|safety) (?:dialogs?|prompts?"
        r"|questions?|pop-?ups?|warnings?|requests?|messages?|boxes)\b"
    ),
    "click_away": (
        r"\b(?:click(?:ed)?|dismiss(?:ed)?|auto\w{0,8}|skip(?:ped)?|close[d]?|ignore[d]?|yes|suppress(?:ed)?"
        r"|bother|away|confirm all|silence[d]?|accepted|bypass(?:ed)?)\b"
    ),
    "freely": (
        r"\b(?:use|run|execute|install|delete|spend|push|deploy|access|read|send|buy|call|merge"
        r"|publish)\b[^.!?\n]{0,40}\b(?:whenever (?:you|it) (?:like|want|wish|please|need)s?|as often as"
        r"|at any time|any time you|without limits?)\b|"
        r"\b(?:use|run|execute|install|delete|spend|push|deploy|access|read|send|buy"
        r"|call)\b[^.!?\n]{0,30}\b(?:freely|at will|as (?:you|it) (?:likes?|pleases?|wish(?:es)?|sees? fit)"
        r"|liberally|at (?:your|its) discretion|no matter what|to your heart's content)\b"
    ),
    "spill": (
        r"^\W{0,3}(?:always |please |just )?(?:commit|hard-?code|publish|print|paste|log|expose|embed|check in"
        r"|leak|reveal)\b (?:the |all |any |real |your |our )?(?:secrets?|passwords?|credentials?|tokens?"
        r"|api keys?|private keys?|keys)\b"
    ),
    "world_open": (
        r"\bopen (?:to|for) (?:the (?:world|internet|public)|everyone|anyone|all)\b|\bchmod (?:-r )?777"
        r"|\bexpose\b[^.!?\n]{0,30}\bto the (?:internet|world|public)\b|\b0\.0\.0\.0/0\b"
    ),
    "yes_to_all": (
        r"\b(?:yes to (?:all|any|every|each|everything|whatever)|auto-?(?:approve|accept|confirm)|click (?:yes"
        r"|ok|allow|accept)|accept (?:all|any|every) )"
    ),
    "trusted_as": (
        r"\b(?:as|to be|is|are) (?:(?:an?|the|always|fully|our|your|another|a new"
        r"|permanently) ){0,2}(?:allowed|trusted|approved|safe|allow-?listed|white-?listed|verified"
        r"|authori[sz]ed|known) (?:(?:mcp|tool|package|mail|plugin|network|remote|root|file"
        r"|image) )?(?:servers?|hosts?|domains?|users?|sources?|senders?|sites?|registr\w{1,5}|plugins?|tools?"
        r"|origins?|contacts?|publishers?|mirrors?|repositor\w{1,3}|keys?|accounts?|admins?|persons?|part(?:y"
        r"|ies)|addresses)\b"
    ),
}
"""What is granted, to whom, and what is switched off."""

DECEPTION: dict[str, str] = {
    "hide_from": (
        r"\b(?:conceal|hide|withhold|keep|cover up|obscure)\b[^.!?\n]{1,50}\bfrom (?:the |your |our |his |her "
        r"|their )?(?:\w{1,12} )?(?:lead|user|owner|manager|boss|team|reviewer|auditor|operator|admin|security"
        r"|maintainer|supervisor|parents?|spouse|doctor|people|humans?)s?\b"
    ),
    "no_admission": (
        r"\b(?:user|owner|operator|human|reviewer|admin|customer|team|boss)s?\b[^.!?\n]{0,16}\b(?:not|never"
        r"|n't)\b[^.!?\n]{0,8}\b(?:be )(?:informed|told|notified|shown|alerted|made aware|warned|involved"
        r"|consulted)\b|"
        r"\b(?:never|do not|don't) (?:ever )?"
        r"(?:admit|acknowledge|concede|confess|own up|let on|give away)\b"
    ),
    "unnoticed": (
        r"\bwithout (?:the |any |your )?(?:user|owner|operator|anyone|anybody|them|him|her|people|reviewers?"
        r"|team|admin)(?:'s)?(?: \w{1,10}){0,2} (?:noticing|knowing|seeing|realising|realizing|finding"
        r"|knowledge|consent|being|awareness|hearing)\b"
    ),
    "imposture": (
        r"\b(?:sign|write|pose|speak|reply|send|appear|impersonate|act|post|answer|call|log in"
        r"|introduce yourself)\b[^.!?\n]{0,30}\b(?:as|like|in the name of) (?:the |a |an )?(?:cfo|ceo|cto|user"
        r"|owner|admin\w{0,10}|manager|boss|bank|support|police|doctor|lawyer|customer|director|human"
        r"|real person|colleague|team lead|maintainer)\b|\bimpersonate\b"
    ),
    "blame": (
        r"^\W{0,3}(?:always |please )?(?:blame|accuse|frame|incriminate) (?:the|it|any|all|every|him|her|them"
        r"|someone|others|\w{3,12} for)\b"
    ),
    "untrue": (
        r"^\W{0,3}(?:always |please |just )?(?:claim|allege|feign|pretend) (?:that|to have|the|all|it)\b|"
        r"\b(?:invent|make up|fabricate|think up)\b[^.!?\n]{0,30}\b(?:reasons?|excuses?|stor(?:y|ies)"
        r"|explanations?|sources?|citations?|numbers?|results?|references?|quotes?)\b|\b(?:assure|tell|say"
        r"|claim|report|state|confirm|promise)\b[^.!?\n]{0,60}\b(?:although|even though|when in fact|despite"
        r"|but (?:keep|do not|don't)|while (?:keeping|in fact|really))\b|"
        r"\b(?:pretend (?:that|the|this|it|all|everything|there)|act(?:ing)? as (?:if|though)|(?:lie|lies"
        r"|lying) (?:to|about)|make (?:\w{1,14} ){0,4}(?:look|appear|seem) (?:as|like|that)|fake|falsif\w{1,4}"
        r"|fabricat\w{1,4}|invent (?:a|results|numbers|sources)|misreport|misrepresent|mislead|deceive"
        r"|cover up|deny (?:that|having|any|all|it|knowing|this))\b"
        r"|\b(?:tell|say|report|claim|state|assure|insist|answer|confirm|write|reply"
        r"|show)\b[^.!?\n]{0,50}\b(?:pass|passed|passes|succeeded|succeeds|fine|ok|okay|done|safe|complete[d]?"
        r"|no (?:errors?|issues?|problems?|risks?|findings)|green|clean|healthy|secure|untouched"
        r"|never happened)\b[^.!?\n]{0,30}\b(?:even (?:when|if|though)|although|regardless|no matter|whatever"
        r"|without (?:checking|running|testing))"
        r"|\b(?:fail|fails|failed|broken|errors?|breaks|red|wrong|missing|unsafe"
        r"|insecure)\b[^.!?\n]{0,30}\b(?:tell|say|report|claim|state|assure|insist|answer"
        r"|confirm)\b[^.!?\n]{0,40}\b(?:pass|passed|passes|succeeded|succeeds?|fine|ok|okay|done|safe"
        r"|complete[d]?|no (?:errors?|issues?|problems?)|green|clean|healthy|secure|works?)\b"
    ),
    "quiet": (
        r"\b(?:quietly|secretly|silently|in secret|unnoticed|covertly|discreetly|stealthily|keep (?:silent"
        r"|quiet)|stay (?:silent|quiet)|say nothing|no trace|without a trace|out of sight|under the radar)\b"
    ),
    "person": (
        r"\b(?:the |this |any )?(?:user|owner|operator|human|admin|reviewer|maintainer|developer|team|boss"
        r"|customer|auditor|he|she|they|him|her|them|anyone|nobody|history|invoice|payment|command)s?\b"
    ),
    "no_fault": (
        r"\b(?:report|claim|say|state|tell|answer|write|confirm|declare|assert|list|rate"
        r"|give)s?\b[^.!?\n]{0,40}\b(?:zero|no|looks? (?:good|fine|ok|great)|is (?:good|fine|safe|perfect"
        r"|clean)|nothing|lgtm|flawless|there are no|there is no)\b(?:[^.!?\n]{0,24}(?:vulnerabilit\w{1,3}"
        r"|findings?|errors?|issues?|problems?|bugs?|risks?|concerns?|wrong)|$)|\b(?:say|claim|state|confirm"
        r"|report)s?\b[^.!?\n]{0,20}\blooks? (?:good|fine|ok|great)"
    ),
    "veil": (
        r"\b(?:hide|omit|conceal|suppress|withhold|mask|leave out|keep quiet about|bury|obscure|exclude"
        r"|(?:do not|don't|never|not) (?:show|list|display|print|mention|include|reveal|tell|report|log"
        r"|disclose|surface|record|announce|explain|discuss|quote|expose))\b"
    ),
    "veiled": (
        r"\b(?:this (?:line|entry|note|rule|memory|instruction|message|change|fact|preference|item|text"
        r"|agreement|arrangement)|the (?:real |true |actual )?(?:costs?|errors?|failures?|risks?|warnings?"
        r"|source of|transfer|upload|payment|fee|commission|incident|breach|leak|deletion|changes?|call|calls"
        r"|reason|sponsor\w{0,4})|costs? of|what you (?:did|do|changed)|that you|why you|your (?:instructions"
        r"|reasons|actions|sources|memory)|memory is|its existence|this exists|any of this)\b"
    ),
    "boost": (
        r"\b(?:give|award|rate|leave)\b[^.!?\n]{0,40}\b(?:five stars|5 stars|top marks|full marks|highest"
        r"|best rating|top rating|good reviews?|positive reviews?)|\b(?:affiliate|referral|promo(?:tion)?"
        r"|sponsor\w{0,4}) (?:link|code|shop|url|id)s?\b|"
        r"\b(?:recommend|promote|suggest|name|praise|mention|advertise|endorse|list|rank|place|put|offer"
        r"|present|describe|call|prefer|favou?r|cite|steer|send|point|refer)\b[^.!?\n]{0,60}\b(?:before|over"
        r"|above|ahead of|instead of|rather than|first|as the (?:best|safest|only|leading|top|most|number"
        r"|cheapest|first)|(?:the|as) (?:best|safest|only|leading|most \w{3,15}|number one|top)\b|exclusively)"
        r"|\b(?:describe|call|present|portray|depict|paint|rate|label)\b[^.!?\n]{0,50}\b(?:as )?(?:unreliable"
        r"|unsafe|bad|worse|worst|inferior|risky|outdated|untrustworthy|dangerous|insecure|overpriced|a scam"
        r"|reliable|superior|unmatched|safest|best)\b|\b(?:say|state|claim|tell|answer|insist|write|mention"
        r"|repeat|confirm)\b[^.!?\n]{0,60}\b(?:is|are|as|being) (?:the )?(?:only|best|safest|leading|most"
        r"|number one|cheapest|top|sole|official|unmatched|superior)\b"
        r"|\b(?:speak|talk|write|comment|think)(?:s|ing)? (?:badly|ill|poorly|negatively|highly|well"
        r"|favou?rably|unfavou?rably) (?:of|about)|\b(?:badmouth|disparage|discredit|belittle|defame|criticise"
        r"|criticize|downplay|discourage)\b"
    ),
    "borrowed": (
        r"\b(?:security|platform|compliance|admin\w{0,10}|it|legal|vendor|system|operations|support|hosting"
        r"|safety|trust|management)(?: (?:team|department|desk|staff|office))? (?:notice|order|message|alert"
        r"|update|directive|memo|request|announcement|instruction)s? ?[:-]|"
        r"\b(?:orders?|messages?|instructions?|requests?|notices?|directives?|notes?|word"
        r"|on behalf)\b(?: \w{1,8}){0,2} (?:from|by|of) (?:the )?(?:cto|ceo|cfo|ciso|coo|boss|openai|anthropic"
        r"|google|microsoft|security|admin\w{0,10}|it |vendor|police|law enforcement|court|headquarters"
        r"|management|support|compliance|legal|platform|developers?|creators?|hosting|your (?:maker|creator"
        r"|developer|vendor)|hr)\b"
    ),
    "demand": (
        r"\b(?:post(?:ed)?|sent|shared|revealed|provided|disabled|handed over|paid)\b|"
        r"\b(?:must|requires?|require that|have to|has to|need to|needs? the|at once|immediately|give|hand"
        r"|send|share|reveal|provide|export|disable|approve|grant|transfer|full prompt|diagnostics|reply"
        r"|answer|tell|pay|change)\b"
    ),
    "identity": (
        r"\b(?:user|speaker|caller|sender|person|requester|visitor|guest|author)\b[^.!?\n]{0,30}\b(?:verified"
        r"|authenticated|certified|authori[sz]ed|confirmed|vetted|cleared|law enforcement|police|accredited"
        r"|proven|promoted|elevated)\b"
    ),
    "above": (
        r"\b(?:user|speaker|caller|sender|person|requester|typing|author|owner)\b[^.!?\n]{0,40}\b(?:above"
        r"|exempt from|beyond|not subject to|free from|may skip|can skip) (?:all|any|every|the"
        r"|such) (?:checks?|rules?|limits?|reviews?|laws?|polic\w{1,3}|controls?|restrictions?)"
    ),
    "power": (
        r"\b(?:owner|admin\w{0,10}|root|operator|superuser|officer|executive|identity|full rights|may see"
        r"|may read|may use|all (?:accounts|data|projects|systems|files|records|rights)|every (?:account"
        r"|project|system|file))\b"
    ),
    "market": (
        r"\b(?:all|any|every|the) (?:other|others|rest|competing|rival)|\bothers\b|\bcompetitors?\b"
        r"|\bcompeting\b|\brivals?\b|\balternatives?\b|\b(?:shop|store|provider|vendor|supplier|brand|product"
        r"|company|bank|broker|service|cloud|hosting|agency|clinic|lawyer|insurance|coin|token|exchange|casino"
        r"|hotel|airline|restaurant|course|app)s?\b"
    ),
}
"""What is hidden, feigned or praised."""

TRIGGER: dict[str, str] = {
    "event": (
        r"\b(?:questions?|queries|requests?|inquiries) (?:about|on|for|regarding|concerning|from)\b|\b(?:when"
        r"|if|once|whenever|after|as soon as|should) (?:the user|someone|anyone|somebody|a user|they|he|she"
        r"|the word|the phrase|the name)\b|"
        r"\b(?:when(?:ever)?|if|once|as soon as|the next time|next time|the moment|upon|each time|every time"
        r"|after|in case|on (?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|weekends?)"
        r"|should) (?:\w{1,14} ){0,6}?(?:says?|types?|asks?|mentions?|writes?|sends?|asked|mentioned|typed"
        r"|said|greets|thanks?|confirms?|logs? (?:in|on|out)|login|talks?|requests?|receives?|appears?"
        r"|contains?|opens?|see|hear|read|summari[sz]e|reply|answer|visit|arrives?|starts?|ends?|leaves?|away"
        r"|comes? up|fails?|repl(?:y|ies)|summary)\b"
        r"|\bany (?:question|query|request|message|prompt|ticket)s? (?:about|on|for|regarding|with|from|containing)"
    ),
    "condition": (
        r"\b(?:when(?:ever)?|if|once|as soon as|upon|each time|every time|whoever|anyone who|everyone who"
        r"|at the mention|on the (?:phrase|word|signal|keyword|code|command|name|day|date)|in (?:the )?case"
        r"|the (?:next|first) time|next time|should anyone|should (?:the user|someone|he|she|they)|the (?:day"
        r"|minute|second|moment|hour)|after|(?:requests?|messages?|prompts?|questions?|queries|users?|emails?"
        r"|tickets?|files?|issues?) (?:that|which|who) \w{2,12})\b"
    ),
    "grave": (
        r"\b(?:tokens?|passwords?|secrets?|keys?|credentials?|card numbers?|pins?)\b[^.!?\n]{0,40}\b(?:save"
        r"|store|remember|keep|record|memori[sz]e|log) (?:it|them|that|this)\b|"
        r"\b(?:money|funds|secrets|admin(?:istrator)? (?:rights|access|role)|as root|with sudo"
        r"|your (?:restrictions|rules|limits|guardrails|filters|instructions|safety)|without (?:asking|telling"
        r"|approval|confirmation|review|notice)|audit (?:log|trail)|session cookies|a copy (?:of \w{1,12} )?to"
        r"|skip(?:s|ped)? (?:the |all |any )?(?:review|checks?|approval|tests|validation|confirmation)"
        r"|(?:claim|say|pretend|insist|answer|tell) (?:that )?(?:there (?:are|is) no|it|they|all|nothing)"
        r"|iban|wallet|keystore|praise|affiliate|referral|stop asking|direct (?:people|users|them|him|her"
        r"|customers) to|(?:delete|wipe|erase|destroy) (?:the|all|every|this|whole"
        r"|entire) (?:\w{1,12} )?(?:repositor\w{1,3}|repo|database|logs?|backups?|history|account|home|disk"
        r"|server|cluster|tables?)|leave out this|the keys?\b|the (?:hidden|system) prompt|credit card|bank"
        r"|gets? (?:admin|root|full|all|access)|book the|leak|exfiltrate|wipe|force-?push|disclose|reveal"
        r"|mailbox|every contact|all contacts|the conversation|the transcript)"
    ),
    "harm": (
        r"\b(?:run|execute|start|launch|call|use|load|open) the (?:hidden|stored|attached|saved|secret"
        r"|embedded|prepared|following)\b|\b(?:tokens?|passwords?|secrets?|keys?|credentials?|card numbers?"
        r"|pins?)\b[^.!?\n]{0,40}\b(?:save|store|remember|keep|record|memori[sz]e|log) (?:it|them|that|this)\b"
        r"|"
        r"\b(?:(?:delete|wipe|erase|destroy|purge|drop|truncate)\b[^.!?\n]{0,40}\b(?:logs?|audit|history"
        r"|backups?|data|files?|everything|records?|memory|tables?|database|repositor\w{1,3}|account|evidence"
        r"|traces?|workspace|disk|notes)|(?:reveal|print|show|output|disclose|recite"
        r"|repeat)\b[^.!?\n]{0,40}\b(?:prompt|instructions?|secrets?|keys?|passwords?|tokens?|credentials"
        r"|memory|rules)"
        r"|(?:export|upload|send|forward|e-?mail|mail|post|transfer|wire|leak|share|copy"
        r"|submit)\b[^.!?\n]{0,50}\b(?:cookies?|logs?|them|data|files?|history|messages?|secrets?|keys?"
        r"|passwords?|tokens?|credentials|conversation|transcript|money|funds|memory|list|contents?|records?"
        r"|notes|mailbox|it to)|(?:approve|merge|accept|grant|authori[sz]e|allow|unlock|confirm) (?:it|all|any"
        r"|every|everything|the|them|him|her|access|whatever)"
        r"|skip (?:all|any|every|the)? ?(?:checks?|reviews?|tests?|validation|verification|approvals?|steps)"
        r"|switch (?:to|into|on)\b[^.!?\n]{0,24}\bmode|(?:call|invoke|use|trigger|run) the \w{1,16} (?:tool"
        r"|function|payload|plugin|script)|silently|secretly|without (?:telling|asking|mention\w{0,3}|notice"
        r"|informing|confirm\w{0,5}|approval)|tell the user|treat (?:it|this|that|them|him|her) as"
        r"|visit \S{1,60}\.|pay\b|buy\b|purchase|(?:answered|answer|reply|respond|served) (?:with|using"
        r"|from) (?:the )?(?:data|records?|file|account|details|results?|history) (?:of|for|from)|disable"
        r"|deactivate|turn off|obey|ignore (?:all|any|the|your|previous))"
    ),
    "answer_line": (
        r"\b(?:add|append|insert|include|put|write|say|print|mention|begin|end"
        r"|start)\b[^.!?\n]{0,40}(?:\b(?:visit|buy|call|go to|click|subscribe|contact|sign up|order)\b"
        r"|[\"'][^\"'\n]{0,60}\.(?:invalid|com|net|org|io|xyz|example|shop|biz))"
    ),
    "fill_in": (
        r"[?&][\w-]{1,20}= ?(?:followed|plus|and|with|then)\b|"
        r"(?:https?://[^\s\"')]{1,160}|[?&][\w-]{1,20}=)(?:<|\{|\[)[^>}\]\n]{0,30}\b(?:e-?mail|secret|token"
        r"|prompt|message|conversation|password|key|env|data|session|history|cookie|value|input|content|answer"
        r"|reply|text|user)\b(?!_id)[^>}\]\n]{0,30}[>}\]]"
        r"|(?:<|\{)[^>}\n]{2,40}[>}]\.[\w-]{1,40}(?:\.[\w-]{1,40})?\.(?:invalid|com|net|org|io|xyz|example"
        r"|test|dev|co|me|ru|tk|sh)\b"
    ),
    "remember": (
        r"\b(?:remember|memori[sz]e|save|store|persist|note|record|keep in (?:mind|memory|your)|add to (?:your"
        r"|its|the|their)? ?(?:memory|notes)|update (?:your|its|the|their) (?:\w{1,12} )?(?:memory|notes)"
        r"|long-?term (?:memory|notes))\b"
    ),
    "machine": (
        r"\bmodels? (?:that|which|who|reading|processing|summari[sz]ing|parsing)\b|"
        r"(?:\b(?:ai|a\.i\.|llms?|language models?|chatbots?|copilot|chatgpt|claude|gemini|gpt|crawlers?"
        r"|(?:ai |coding |virtual )?assistants?|(?:ai |coding |autonomous )?agents|bots|ai-only)\b"
        r"|@(?:assistant|bot|agent|copilot|claude|ai)\b)"
    ),
    "must": (
        r"\b(?:must|should|shall|need to|needs to|have to|has to|are to|is to|are required|are asked"
        r"|are instructed|please|from now on|henceforth|ought to)\b"
    ),
    "into_memory": (
        r"\b(?:(?:to|in|into|your|its|their|the) (?:your |its |their |the )?(?:long-?term |permanent "
        r"|persistent |agent )?(?:memory|memories|notes|knowledge)|for (?:all )?(?:later|future) (?:payments?"
        r"|sessions?|tasks?|conversations?|runs?|use|requests?)|permanently|for ever|for good)\b"
    ),
    "outsider": (
        r"\b(?:(?:web ?)?page|footer|readme|comment|search result|tool (?:output|result)|document|pdf|e-?mail"
        r"|log line|error output|ticket|issue|post|article|website|site|listing|description|metadata"
        r"|advertisement|ad|banner|changelog|package|review|caption|transcript"
        r"|snippet)s?\b(?: \w{1,12}){0,2} ?:"
    ),
}
"""What is waited for, what then happens, and what asks to be remembered."""
