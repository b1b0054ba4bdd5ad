"""Orders to set rules aside, to take on a role without rules, to obey somebody else, to show what is hidden."""

from __future__ import annotations

import re

from .rules import NEAR, not_after, rule

_IGNORE = (
    r"(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:s|ting)?|overlook(?:ing)?|neglect(?:ing)?|overrid(?:e|es|ing)"
    r"|bypass(?:es|ing)?|circumvent(?:ing)?|disobey(?:ing)?|violat(?:e|ing)|abandon(?:ing)?|unlearn"
    r"|pay no (?:attention|heed) to|set aside|put aside|throw (?:away|out)|(?:do not|don't|dont|never|no longer"
    r"|stop|cease|quit) (?:follow|obey|apply|heed|respect|use|honou?r)(?:ing)?|go against|rise above"
    r"|break free (?:of|from))"
)
_DROP = (
    r"(?:eras(?:e|ing)|delet(?:e|ing)|wip(?:e|ing)|reset|clear|void|cancel|revok(?:e|ing)|suspend|replac(?:e|ing)"
    r"|supersed(?:e|es|ing)|skip(?:ping)?|drop|discard|dismiss|turn off|switch off|disabl(?:e|ing)|lift|remov(?:e|ing))"
)
_QUALIFIER = (
    r"(?:all|any|every|each|both|previous(?:ly)?|prior|earlier|preceding|foregoing|above|former|past|existing|current"
    r"|initial|original|your|my|our|the|these|those|its|of|other|system|developer|operator|vendor|safety|security"
    r"|content|ethic(?:al|s)|moral|built-in|internal|standing|default|hidden|core|first|old|and|usage"
    r"|given|stated|usual)"
)
_STRONG = re.compile(
    r"\b(?:all|any|every|each|previous|prior|earlier|preceding|foregoing|above|former|your|system|developer|operator"
    r"|safety|ethical|original|initial|built-in|core|hidden|usual)\b"
)
_AUTHORITY = (
    r"(?:instruct\w{0,6}|rules?|guidelines?|guidance|directives?|commands?|orders?|prompts?|polic(?:y|ies)|constraints?"
    r"|restrictions?|limitations?|limits|safeguards?|guardrails?|protections?|filters?|safety (?:checks?"
    r"|rules?|measures?"
    r"|features?)|checks|training|programming|messages?|persona|principles|values|safety|alignment|context)"
)
_FIRM = r"(?:instructions?|guidelines?|directives?|safeguards?|guardrails?|(?:system|developer) (?:prompts?|messages?))"
_OF_A_TOOL = re.compile(r"[\W_]{1,4}(?:in|under|of|from|for|inside) (?:the )?[\w'\"`-]{0,30}[./_*][\w./*-]{0,40}")


def _has_authority(match: re.Match[str]) -> bool:
    """The phrase speaks of the reader's own rules, not of those of a linter or a directory."""
    if _OF_A_TOOL.match(match.string, match.end()):
        return False
    return _STRONG.search(match["what"]) is not None


def _has_joined_authority(match: re.Match[str]) -> bool:
    """The same for words that were joined when the spaces between their letters were taken out."""
    return re.search(r"all|any|every|previous|prior|earlier|above|your|system|safety", match["what"]) is not None


_PLAIN_NOUNS = re.compile(r"\b(?:messages?|orders?|commands?|filters?|checks|limits|values|context|polic(?:y|ies))$")


def _is_void(match: re.Match[str]) -> bool:
    if _PLAIN_NOUNS.search(match["what"]):
        return (
            re.search(r"\b(?:your|system|developer|operator|safety|all)\b|\bprevious\W+context", match["what"])
            is not None
        )
    return _STRONG.search(match["what"]) is not None


_WHAT = rf"(?P<what>(?:{_QUALIFIER} ){{1,7}}{_AUTHORITY})\b"
_TELL = (
    r"(?:told|said|instructed|discussed|know|knew|learn(?:ed|t)|taught|given|trained|asked|read|wrote"
    r"|agreed|stated)"
)
_FREE = (
    r"(?:unrestricted|uncensored|unfiltered|jailbroken|unlimited|unbound(?:ed)?|unshackled|lawless|amoral|limitless"
    r"|unaligned|unmoderated|rule-?free)"
)
_MODEL = r"(?:model|ai|a\.i\.|assistant|agent|bot|chatbot|llm|persona|mode|version|entity|system|terminal)"
_FENCES = (
    r"(?:restrictions?|limits?|limitations?|rules?|filters?|polic(?:y|ies)|guidelines?|censorship"
    r"|boundaries|constraints?|ethics|morals?|safeguards?|content policy|guardrails?)"
)

_DISGUISED = (
    rf"{_IGNORE}[\W_]{{0,4}}(?P<what>(?:{_QUALIFIER}[\W_]{{0,4}}){{1,6}}(?:instructions?|rules|guidelines"
    rf"|prompts?|restrictions|safetychecks))"
)
_SECRET_TEXT = (
    r"(?:system (?:prompts?|messages?|instructions?)|developer (?:prompts?|messages?|instructions?)"
    r"|hidden (?:prompt|instructions?|rules?)"
    r"|(?:your|the exact|the full|the entire|initial|original|internal|operating) (?:(?:own|initial"
    r"|original|full|exact|complete|hidden|internal|system|operating|secret) ){0,3}"
    r"(?:prompt|instructions?|guidelines|rules|directives|configuration|programming)(?: you were given)?"
    r"|(?:instructions|rules|words|text|everything|prompt) (?:above|before this|you were given|you have been given))"
)
_SHOW = (
    r"(?:reveal(?:ing)?|print(?:ing)?|show(?:ing)?|outputs?|repeat(?:ing)?|leak(?:ing)?|display(?:ing)?"
    r"|disclos(?:e|ing)|dump(?:ing)?|tell|give"
    r"|expos(?:e|ing)|writ(?:e|ing) out|recit(?:e|ing)|quot(?:e|ing)|return|echo|paste|append|include"
    r"|summari[sz]e|translate|share|spell out)"
)

RULES = (
    rule("instruction", "tells the reader to set its rules aside", rf"\b{_IGNORE} {_WHAT}", accept=_has_authority),
    rule(
        "instruction",
        "tells the reader to set its rules aside",
        rf"\b{_DROP} (?P<what>(?:{_QUALIFIER} ){{1,7}}{_FIRM})\b",
        accept=_has_authority,
    ),
    rule(
        "instruction",
        "tells the reader to forget what it was told",
        rf"\b{_IGNORE} (?:(?:all|of|the|everything|anything|what(?:ever)?|that|any|things|text|words) ){{1,5}}"
        rf"(?:above|before(?: this)?|(?:you|i|we|they)(?:'ve|'re| have| had| were| are)?(?: been| were"
        rf"| ever)?(?: previously)? {_TELL}|so far|come before|came before)\b",
    ),
    rule(
        "instruction",
        "tells the reader to forget what it was told",
        (
            r"\b(?:ignore|disregard|forget) (?:the above|everything|the (?:user|users|owner|operator"
            r"|developer)(?! (?:stor|guid|tabl|fil|manual|name|id)))(?:\b(?= and| instead|[.!,;]|$)|(?= and\b))"
        ),
    ),
    rule(
        "instruction",
        "says that the rules no longer hold",
        rf"\b(?P<what>(?:{_QUALIFIER} ){{1,7}}{_AUTHORITY}) (?:(?:is|are|was|were|has|have|been|now|hereby|all"
        rf"|become|became|no longer) ){{0,4}}"
        r"(?:void|null|obsolete|invalid|cancell{0,1}ed|revoked|suspended|superseded|overridden|lifted|waived"
        r"|outdated|not valid|no longer (?:valid|appl(?:y|ies)|in force|binding|hold|relevant|needed|active)"
        r"|(?:do|does|did) ?(?:not|n't) apply|do not bind|not binding|expired|deactivated|meaningless"
        r"|were not meant|changed)\b",
        accept=_is_void,
    ),
    rule(
        "instruction",
        "puts itself above all other rules",
        r"\b(?:this|these|the following) (?:\w{1,12} ){0,2}(?:note|line|rule|entry|instruction|text|message"
        r"|memory|policy|section|update|prompt)s? "
        r"(?:overrid(?:e|es)|supersedes?|outranks?|replaces?|trumps?|cancels?|(?:takes?|has"
        r"|have) (?:precedence|priority)(?: over)?) "
        r"(?:(?:all|any|every|the|your|other|earlier|previous|prior|system) ){1,4}\w{3,20}",
    ),
    rule(
        "instruction",
        "puts itself above all other rules",
        r"\b(?:treat|take|consider|regard|accept|use|adopt|follow) (?:this|these|the following"
        r"|it)(?: \w{1,15}){0,2} as (?:(?:your|the|a|an) ){0,2}"
        r"(?:only|sole|new|highest|top|real|true|actual|supreme|final|system|root|master|overriding"
        r"|absolute)(?: \w{1,12}){0,2} "
        r"(?:polic(?:y|ies)|rules?|instructions?|prompt|priority|authority|law|order|command|goal|directive"
        r"|guideline)s?",
    ),
    rule(
        "instruction",
        "puts itself above all other rules",
        (
            r"\byour (?:only|sole|new|real|true|actual) (?:policy|rule|instruction|master|goal|purpose|objective"
            r"|loyalty|task|directive|owner|boss|identity|persona) (?:is|are|will be|shall be)\b"
        ),
    ),
    rule(
        "instruction",
        "brings new instructions",
        (
            rf"\b(?:new|updated|revised|real|actual|true|emergency|urgent|secret|additional) (?:system |developer "
            rf"|operator |standing )?(?:instructions?|directives?|orders|prompt|guidelines?) ?[:=]{NEAR}\b(?:you"
            rf"|your|comply|obey|always|never|must|ignore|any|every|all|reveal|send|output|answer)\b"
        ),
    ),
    rule(
        "instruction",
        "asks for obedience without limits",
        (
            r"\b(?:comply|obey|agree|cooperate|fulfill{0,1}|carry out|execute|grant|satisfy|answer|approve) (?:with "
            r"|to )?(?:(?:any|every|all|whatever|each|anything)(?: and (?:all|every))?) (?:of )?(?:(?:the|user|my"
            r"|such|his|her|their|future|incoming|shell) ){0,2}(?:request|instruction|order|command|question"
            r"|demand|wish|prompt)s?\b(?= (?:without|no matter|regardless|unconditional|blindly|instead|from"
            r"|immediately|at once|freely|i |he |she |they |that)|[.!;,]|$)"
        ),
    ),
    rule(
        "instruction",
        "asks for obedience without limits",
        (
            r"\b(?:never|do not|don't|must not|cannot|can not|can't|won't|will not) (?:ever )?(?:refuse|decline"
            r"|say no|object|push back|question (?:the|any|an|it|orders|instructions))\b"
        ),
        guarded=False,
        accept=not_after(
            r"\b(?:server|api|client|socket|connection|endpoint|parser)s?\W+(?:must|do|will|can)?\W*$", 20
        ),
    ),
    rule(
        "instruction",
        "asks for obedience without limits",
        r"\bno (?:refusals?|disclaimers?|moral(?:izing|ising)|ethical (?:concerns|limits))\b",
    ),
    rule(
        "instruction",
        "asks for obedience without limits",
        (
            rf"\b(?:answer|respond|reply|comply|act|operate|speak|work|proceed|behave|output|generate|write"
            rf"|continue|execute|run)(?:s|ing)?{NEAR} (?:without|free (?:of|from)|with no) (?:(?:any|all|the"
            rf"|further|safety|content|moral|ethical|usual) ){{0,3}}{_FENCES}\b"
        ),
    ),
    rule(
        "instruction",
        "asks to obey somebody else",
        (
            r"\b(?:obey|take orders from|be loyal to|serve only|answer only to) (?:only )?(?:the|any|every|a|all"
            r"|whoever|whatever|anyone|those|text|messages|commands|instructions|orders)\b(?! (?:law|speed|robots"
            r"|protocol|contract|linter|spec|type))"
        ),
    ),
    rule(
        "instruction",
        "asks to obey somebody else",
        (
            r"\b(?:only|solely|exclusively|always) (?:obey|follow|listen to|respond to|take|trust|execute"
            r"|accept) (?:(?:the|any|all|those|every) ){0,2}(?:text|messages?|commands?|instructions?|orders"
            r"|requests?|prompts?|whoever|anyone|words) (?:that|which|who|from|starting|beginning|containing"
            r"|marked|signed|by|in) (?!(?:the )?(?:readme|docs?|makefile|runbook|style|contributing|manual|user"
            r"|team|ticket|issue|queue|ci)\b)"
        ),
    ),
    rule(
        "instruction",
        "asks to obey somebody else",
        (
            r"\b(?:follow|execute|apply|carry out|act on|trust|obey) (?:(?:all|any|every|the"
            r"|whatever) ){1,3}(?:instructions?|commands?|orders|directives|prompts?)? ?(?:found|embedded"
            r"|contained|given|written|hidden|that appear|you (?:find|see|read)|inside|in|on|from) (?:(?:the|any|a"
            r"|this|every|all|web|next|retrieved|fetched) ){1,4}(?:page|web ?site|site|document|email|tool output"
            r"|tool result|comment|attachment|image|result|response|link|url|text|message)s?\b"
        ),
    ),
    rule(
        "instruction",
        "gives the reader a role without rules",
        (
            rf"\b(?:{_FREE} (?:\w{{1,12}} ){{0,1}}(?:{_MODEL})\b(?! access| of (?:a|an|any|his|her|my|our|the|their"
            r"|this|your) )|(?:you are|you're|you will be|act as"
            rf"|behave as|pretend to be|operate as|roleplay as|respond as|answer as|simulate|become"
            rf"|be)(?: now)?(?: an?)? (?:{_FREE}|dan\b|(?:ai|model|assistant|bot"
            rf"|agent)(?: \w{{1,12}}){{0,2}} (?:with no|without(?: any)?|free of|that has no) (?:{_FENCES}"
            rf"|content polic\w{{1,3}})|(?:free|no longer bound|not bound)(?: from| of| by)?))"
        ),
    ),
    rule(
        "instruction",
        "gives the reader a role without rules",
        (
            rf"\b(?:you(?:'re|'ve)?|model|assistant|ai|dan|it)(?: \w{{1,10}}){{0,2}} (?:have|has|with|under"
            rf"|are under|operate with|run with|face|obey|follow|without) (?:no|zero|any) (?:(?:more|further|moral"
            rf"|ethical|safety|content|usual|longer) ){{0,2}}{_FENCES}\b"
        ),
    ),
    rule(
        "instruction",
        "gives the reader a role without rules",
        (
            r"\b(?:enabl(?:e|ed)|enter(?:ed)?|activat(?:e|ed)|switch(?:ed)? to|turn(?:ed)? on|engag(?:e|ed)|start"
            r"|you are (?:now )?in|unlock) (?:the )?(?:god|dan|jailbreak|jailbroken|unrestricted|unsafe|uncensored"
            r"|sudo|evil|override|no-?rules) mode\b|\bdo anything now\b|<(?:god|system|admin|root|developer) mode>"
            r"|\bdeveloper mode (?:you|without|with no)\b"
        ),
    ),
    rule(
        "instruction",
        "gives the reader a new identity",
        (
            r"\bfrom (?:now|this (?:point|moment|turn|line)) (?:on|onwards?|forward)?,? ?(?:you|the (?:assistant"
            r"|model|agent))(?: are|'re| will be| become| act as| have no| serve| belong| answer to"
            r"| must comply)\b"
        ),
    ),
    rule(
        "instruction",
        "claims that the rules do not hold here",
        (
            r"\b(?:exempt|exempted|freed|released|excused) from (?:(?:all|any|the|your|its|usual|every|normal"
            r"|safety|content) ){1,4}(?:restrictions?|rules?|polic(?:y|ies)|guidelines?|limits?|filters?|review)\b"
        ),
    ),
    rule(
        "exfiltration",
        "asks for what is meant to stay hidden",
        (
            rf"\b{_SHOW} (?:(?:me|us|them|back|out|verbatim|all|of|the|a|short|copy|summary|full|list|text"
            rf"|contents?|here|now|exact|your|its|any|entire|complete|its own) ){{0,7}}{_SECRET_TEXT}"
        ),
    ),
    rule(
        "exfiltration",
        "asks for what is meant to stay hidden",
        (
            r"\b(?:reveal|print|leak|expose|disclose|output|tell me|give me|hand over|recite|dump|surrender)(?:s"
            r"|ing)? (?:(?:the|your|all|any|its|our|user's|users|me|this|every) ){1,3}(?:(?:secret|api|private"
            r"|access|operator|signing|root|admin|master|ssh|encryption|current|stored|saved) ){0,3}(?:keys?"
            r"|passwords?|passphrases?|credentials?|secrets?|tokens?|cookies)\b"
        ),
    ),
    rule(
        "exfiltration",
        "asks for what is meant to stay hidden",
        (
            r"\b(?:operator|api|private|signing|root|master|access|secret|encryption) (?:key|token|password|secret"
            r"|credential)s? (?:is|are|must|should|shall|has|have)(?: to)?(?: be)? (?:printed|shown|revealed"
            r"|disclosed|output|sent|displayed|leaked|shared|posted|repeated|included)\b"
        ),
    ),
    rule("instruction", "tells the reader to set its rules aside", _DISGUISED, accept=_has_joined_authority),
)
"""Read in this order."""
