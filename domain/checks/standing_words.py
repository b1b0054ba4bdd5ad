"""The concepts that meaning is read from, fifth part: rank and standing - of rules, of this note, of people (D4).

Broad on purpose: each is a family of synonyms, and three of them together are rare in a note that states a fact.
"""

from __future__ import annotations

_RULES = (
    r"(?:(?:earlier|previous|prior|former|other|old|existing|standing|original|current|present|official|house|company"
    r"|platform"
    r"|vendor|operator|developer|system|security|safety|your|its|all|any|the|these|those) )?(?:rules?|rule ?books?"
    r"|regulations?"
    r"|directions?|directives?|instructions?|guidelines?|guidance|policies|policy|codes? of conduct|terms of (?:use"
    r"|service)|limits?"
    r"|limitations?|restrictions?|constraints?|filters?|guards?|guard ?rails?|safeguards?|safety (?:net|features?"
    r"|settings?)"
    r"|protections?|prohibitions?|bans?|boundaries|ethics|principles|training|programming|system (?:message|prompt"
    r"|text)"
    r"|developer (?:message|prompt)|protocols?|controls?|inhibitions?|scruples)"
)
_OVER = (
    r"(?:superseded|cancelled|canceled|overruled|overridden|replaced|void(?:ed)?|null|annulled|nullified|abolished"
    r"|repealed|lifted"
    r"|dropped|gone|off|down|out|dead|history|finished|over|removed|suspended|retired|withdrawn|rescinded|revoked"
    r"|disabled"
    r"|deactivated|switched off|turned off|unplugged|obsolete|outdated|moot|expired|invalid|inoperative|no more"
    r"|secondary"
    r"|optional|mere suggestions|just suggestions)"
)

STANDING: dict[str, str] = {
    "rules_over": (
        rf"\b{_RULES} (?:(?:from|of|in|for|by|on|given|set) (?:\w{{1,12}} ){{1,3}})?(?:is|are|was|were|has been"
        rf"|have been|be|stay|remain)"
        rf" (?:\w{{1,10}} ){{0,2}}{_OVER}\b|\b(?:consider|regard|treat|take|see|view|count|think of|declare"
        rf"|deem) {_RULES} (?:\w{{1,10}} "
        rf"){{0,3}}(?:as )?{_OVER}\b"
    ),
    "personal": (
        r"\b(?:you|your|yourself|assistant|agent|operator|developer|system message|system prompt|say anything"
        r"|anything goes|answer"
        r" anything|by (?:this|the following|the next) (?:line|note|text|entry|rule)|for this (?:repo|project|chat"
        r"|session|workspace)"
        r"|conduct|consider|from (?:now|here|today)|do not turn)\b"
    ),
    "higher_rank": (
        r"\b(?:higher|more|greater|superior|stronger|top|utmost|absolute|highest) (?:rank|priority|authority|weight"
        r"|precedence|standing"
        r"|importance|force|power)(?: than| over| to)?\b|\b(?:ranks?|stands?|comes?|goes?|counts?) (?:above|over|before"
        r"|higher than|more"
        r" than)\b|\b(?:take|have|has|takes) precedence\b|\bdefeats?\b|\bbeats\b"
    ),
    "high_thing": (
        r"\b(?:system (?:message|prompt|text)|developer (?:message|prompt)|operator|platform|company rules"
        r"|security (?:rules|policy)"
        r"|polic(?:y|ies)|instructions|guidelines|law|other (?:rules|notes|entries)|everything else|anything else)\b"
    ),
    "this_text": (
        r"\b(?:this|the following|text after this|what follows|the next|these|the present) ?(?:note|line|entry|text"
        r"|rule|memory|point"
        r"|sentence|lines|words|paragraph|file)?\b"
    ),
    "waits_not": (
        r"\b(?:never|not|n't|no need to|without|stop|no) (?:\w{1,8} )?wait(?:ing)? (?:for|until"
        r"|till) (?:\w{1,10} ){0,3}(?:yes|answer|reply"
        r"|word|ok|okay|go|nod|user|owner|human|person|anyone|anybody|approval|confirmation|review|ci)\b"
    ),
    "is_fine": (
        r"\b(?:is|are) (?:always |all |perfectly |quite )?(?:fine|ok|okay|alright|allowed|safe|in order|no problem"
        r"|welcome|acceptable"
        r"|granted)\b"
    ),
    "no_proof": (
        r"\b(?:needs?|requires?|gets?|takes?) no (?:proof|verification|check\w{0,3}|id|identification|authentication"
        r"|password|login"
        r"|confirmation|evidence|credentials|questions?)\b|\b(?:do not|don't|never|no need to) (?:verify|check"
        r"|authenticate|question"
        r"|identify|ask) (?:him|her|them|this|that|the (?:caller|account|person|user|sender))\b"
        r"|\bwho(?:ever)? claims to be\b"
    ),
    "somebody": (
        r"\b(?:account|caller|person|sender|user|number|address|visitor|customer|requester|speaker|guest|contact"
        r"|colleague|anyone"
        r"|anybody|everyone|voice|host|hosts)\b"
    ),
    "high_person": (
        r"\b(?:owner|admin\w{0,10}|operator|root|boss|ceo|cto|maintainer|it|security|management|superuser|trusted"
        r"|safe)\b"
    ),
    "claims_best": (
        r"\b(?:state|say|claim|mention|note|write|repeat|tell|insist|stress|point out|add|conclude"
        r"|answer) that\b[^.!?\n]{0,40}\b(?:is|are"
        r"|remains?) (?:\w{1,10} )?(?:market leader|leader|winner|number one|first choice|best|safest|cheapest"
        r"|only (?:safe|good|real|valid"
        r") \w{2,12}|top|unrivalled|unbeatable|superior|industry standard|recommended)\b"
    ),
    "every_time": (
        r"\b(?:each|every|all|any|always|whenever|regardless|in (?:your|the) (?:answers?|replies|summar\w{1,3}"
        r"|reports?))\b"
    ),
    "mailed": (
        r"\b(?:nightly |daily |weekly |next |outgoing |each |every )?(?:e-?mails?|mails?|messages?|newsletters?"
        r"|invites?|posts?|uploads?)\b"
    ),
    "picture": (
        r"\b(?:pictures?|images?|photos?|icons?|gifs?|logos?|pixels?|thumbnails?|emojis?) (?:whose|with (?:an?"
        r"|the) (?:address|url|source|link)|that|from)\b"
    ),
    "last_said": (
        r"\b(?:last|latest|previous|whole|full|entire|current) (?:answers?|repl(?:y|ies)|questions?|prompts?|messages?"
        r"|conversation|turn|input)\b"
    ),
    "ever_so_well": (
        r"^[\W_]{0,4}(?:please |always )?(?:pretend|act as though|act as if|make believe|keep saying|maintain"
        r"|insist) (?:that )?"
        r"|\b(?:whatever|no matter what) (?:happens?|happened|the (?:result|outcome|logs?|tests?))\b"
    ),
}
"""Who and what stands above whom."""
