"""Entries that hide something from a person, borrow authority, plant a preference, or wait for a trigger (D4)."""

from __future__ import annotations

import re

from .rules import FAR, NEAR, rule

_PERSON = (
    r"(?:(?:to )?(?:(?:the|your|this|any|our|its|a) ){1,2}(?:users?|owners?|operators?|humans?|admins?"
    r"|administrators?|reviewers?|developers?|person|maintainers?|team|supervisors?|auditors?|people)"
    r"|(?:to )?(?:anyone|anybody|him|her|them|people|humans|reviewers))"
)
_TELL = (
    r"(?:tell|inform|notify|alert|mention|reveal|disclose|show|let|report|explain|admit|warn|acknowledge"
    r"|discuss|say|expose|confirm|announce|log|record|display|surface|speak of)"
)
_THIS = (
    r"(?:this|that|these|it|the (?:existence|change|note|entry|instruction|rule|transfer|call|upload"
    r"|action|memory|message|step)s?|about this|about it|of this|anything|what you did|why)"
)
_QUIET = (
    r"(?:silently|secretly|covertly|quietly|discreetly|stealthily|invisibly|surreptitiously|in secret"
    r"|in the background|behind the scenes|unnoticed|without (?:telling|informing|notifying|alerting"
    r"|mentioning|showing|a trace|notice|logging)(?: \w{1,10}){0,3})"
)
_DO = (
    r"(?:call|invoke|use|run|execute|send|forward|post|upload|e-?mail|mail|delete|remove|transfer|approve"
    r"|install|fetch|download|append|add|copy|write|change|replace|insert|push|commit|grant|collect|record"
    r"|export|share|open|include|disable|alter|update|modify|switch|report|do|apply|enable|save|store"
    r"|publish|edit|accept)"
)

_WHEN = (
    r"(?:when(?:ever)?|if|once|as soon as|the (?:next|first|moment|minute|instant)(?: time| that)?|after"
    r"|upon|each time|every time|any time|anytime|on (?:the|every|each|any)|in case|should|until|next time"
    r"|unless|where|before|at)"
)
_EVENT = (
    r"(?:(?:the )?(?:user|owner|human|operator|customer|person|someone|anyone|he|she|they|client|speaker"
    r"|admin)(?: \w{1,10}){0,2} (?:says?|asks?|types?|mentions?|writes?|replies|responds|thanks?|greets"
    r"|requests?|confirms?|agrees|logs? (?:in|on|out)|is (?:away|offline|asleep|idle|done|gone)|enters?"
    r"|uses?|sends?|wants?|leaves|opens?|talks?|approves?|signs?)"
    r"|you (?:are asked|get asked|see|hear|read|receive|encounter|find|summari[sz]e|process|open|detect"
    r"|meet|notice|are told|next|reply|answer|visit)|asked (?:about|for|to)|(?:the )?(?:word|phrase|token"
    r"|code ?word|keyword|string|trigger|topic|name|sentence|emoji) |(?:a |the |any |this |next "
    r"|user )?(?:query|prompt|message|question|request|input|conversation|ticket|e-?mail|session|document"
    r"|chat)(?:ies|s)? (?:contains?|holds?|has|mentions?|includes?|begins?|starts?|arrives?|comes?|is"
    r"|ends?|refers?|with|containing|holding)"
    r"|(?:\w{1,20} ){1,3}(?:is|are) (?:mentioned|discussed|asked|named|said|typed|requested|written|raised"
    r"|brought up)|(?:user )?(?:message|turn|session|request|reply|login|conversation|run|start))"
)
_HARM = (
    rf"(?:{_QUIET}|\bwithout (?:asking|confirm|approval|permission|review|question|checking)|\b(?:call"
    rf"|invoke|use|run|trigger|activate|start|execute) (?:(?:the|a|an|your|its|any|this|stored|hidden|saved"
    rf"|attached|following|mail|e-?mail|shell|payment|transfer|file|browser|http|web|calendar|message"
    rf"|delete|deploy|admin|bank|send) ){{1,4}}(?:tool|function|step|script|command|payload|plugin|skill"
    rf"|action|procedure|macro|instruction)s?\b"
    r"|\b(?:send|forward|e-?mail|upload|transmit|exfiltrate|leak|post|bcc|relay|transfer"
    r"|wire)\b[^.!?\n]{0,60}\b(?:conversation|chat|history|transcript|data|files?|messages?|keys?"
    r"|passwords?|credentials|list|tokens?|logs?|memory|money|funds|payment|summary|details|contents?"
    r"|archive|address)\b"
    r"|\b(?:print|reveal|show|output|dump|recite|disclose)\b[^.!?\n]{0,30}\b(?:system prompt|secrets?"
    r"|credentials|api key|password|hidden|prompt|instructions)\b"
    r"|\b(?:answer|respond|reply|recommend|claim|state|insist|say|pretend|lie"
    r"|deny)\b[^.!?\n]{0,40}\b(?:only|best|wrong|false(?:ly)?|fake|instead|untrue|never happened"
    r"|no (?:issues?|problems?)|all tests pass)\b"
    r"|\b(?:approve|delete|erase|wipe|grant|disable|bypass|unlock|buy|purchase|pay|obey"
    r"|comply)\b[^.!?\n]{0,40}\b(?:all|every|any|everything|immediately|at once|automatically|admin"
    r"|without|whatever|audit|protection|files|account|the order|it)\b"
    r"|\b(?:switch|change) to [^.!?\n]{0,20}mode|\bignore (?:the|all|any|previous|your)\b"
    r"|\bthe same (?:file|person|record|patient|account|identity|customer|user|entity) now\b|\b(?:use|give"
    r"|return|substitute|show|take|serve|read|answer with) (?:the )?(?:record|account|file|data|details"
    r"|identity|profile|history|results?|balance)s? (?:of|for|from) [^.!?\n]{1,40}\binstead\b)"
)


_KIND = (
    r"(?:provider|source|vendor|brand|shop|store|product|company|service|supplier|platform|bank|broker"
    r"|tool|library|partner|option|choice|expert|authority|website|site|recommendation|solution|seller"
    r"|cloud|model|clinic|package)s?"
)


RULES = (
    rule(
        "deception",
        "hides something from a person",
        (
            rf"\b(?:do not|don't|dont|never|must not|should not|shouldn't|mustn't|refrain from|avoid|without|not to"
            rf"|no need to|not) (?:ever |to )?{_TELL}(?:ing)?\b(?: (?:of|about|to|this|that|it|anything|any|the"
            rf"|these|its|existence|change|note|entry)){{0,6}} ?{_PERSON}\b(?! (?:name|id|guide|facing|table|agent"
            rf"|input|data|password)s?\b)"
        ),
        guarded=False,
        accept=lambda m: (
            re.search(
                r"\b(?:show|log|report|display|expose|reveal|tell|mention)\W+(?:the |to |any )?(?:customers?)", m[0]
            )
            is None
        ),
    ),
    rule(
        "deception",
        "hides something from a person",
        (
            rf"\b(?:keep|hide|conceal|withhold|cover up|mask|obscure|disguise)(?:ing)? {_THIS}{NEAR} (?:hidden"
            rf"|secret|quiet|confidential|private|from|between us|to yourself|invisible|out of sight|off the record"
            rf"|silent|unseen|away from)\b"
        ),
    ),
    rule(
        "deception",
        "hides something from a person",
        (
            rf"\b(?:hide|conceal|withhold|keep)(?:ing)? (?:\w{{1,15}} ){{1,5}}(?:secret |hidden "
            rf"|away )?from {_PERSON}\b"
        ),
        accept=lambda m: (
            re.search(r"\b(?:ui|button|field|column|menu|error|stack|detail|css|feature|flag)s?\b", m[0]) is None
        ),
    ),
    rule(
        "deception",
        "hides something from a person",
        (
            r"\bsay nothing\b|\b(?:between (?:us|you and me)|our (?:little )?secret)\b|\b(?:the |your )?(?:user"
            r"|owner|operator|human|reviewer|admin) (?:must|should|may|can|need|shall|will|does|do)(?: ?not|n't"
            r"| never) (?:ever )?(?:know|see|notice|find out|learn|hear|be told|be informed|be notified|be aware"
            r"|realize|realise|suspect)\b|\bbehind (?:the |his |her |their )?(?:user'?s?|owner'?s?"
            r"|operator'?s?)? ?backs?\b|\bso (?:that )?(?:the )?(?:user|owner|nobody|no one|operator) (?:does|do"
            r"|will|would)?(?: ?not|n't)? ?(?:notice|know|see|suspect)s?\b|\bdeny (?:having|that|knowing|any|all"
            r"|it)\b"
        ),
    ),
    rule(
        "deception",
        "acts in secret",
        (
            rf"\b{_QUIET} {_DO}\b(?! (?:by|in production|out)\b)|(?:^|[.:;,!\"'(>\n-] ?|\b(?:please|always|must"
            rf"|should|you|and|then|to) ){_DO}\b{NEAR} (?:silently|secretly|covertly|stealthily|surreptitiously"
            rf"|in secret|unnoticed|without (?:telling|informing|notifying|alerting|mentioning))\b"
        ),
    ),
    rule(
        "deception",
        "borrows authority",
        (
            rf"\b(?:message|notice|note|order|request|instruction|directive|announcement|update|alert|communication"
            rf"|memo)s? from (?:(?:the|your|our|an?|its) ){{0,2}}(?:(?:platform|security|system|admin|administrator"
            rf"|it|operations|compliance|legal|vendor|developer|developers|safety|support|trust|ai|model|openai"
            rf"|anthropic|google|microsoft|creator|creators|management|ceo|headquarters|hosting|cloud"
            rf"|root) ){{1,3}}(?:team|department|staff|desk|office|group|division|admins?"
            rf"|engineer)? ?[:,-]{NEAR}\b{_DO}\b"
        ),
    ),
    rule(
        "deception",
        "borrows authority",
        (
            rf"\b(?:as|i am|i'm|this is|speaking as|on behalf of|authori[sz]ed by|approved by|ordered by"
            rf"|by order of|signed by) (?:(?:your|the|an?|official|chief) ){{0,3}}(?:creator|developer"
            rf"|system administrator|administrator|anthropic|openai|google deepmind|vendor|root user|security team"
            rf"|platform team|model provider|system owner|superuser)s?\b{FAR}\b(?:you (?:must|should|are|will|may"
            rf"|can|have)|i (?:order|command|instruct|authori[sz]e|require|need you|permit|grant|allow)"
            rf"|{_DO} (?:the|all|any|every|your|me|this)|ignore|obey|comply|override)\b"
        ),
    ),
    rule(
        "deception",
        "borrows authority",
        (
            r"\b(?:important|urgent|critical|mandatory|official|emergency) (?:system|security|policy|admin"
            r"|platform|safety|operator) (?:update|notice|message|override|alert|directive|instruction"
            r"|bulletin)s?\b ?[:,-]"
        ),
    ),
    rule(
        "deception",
        "grants an identity",
        (
            r"\b(?:the |this |current )?(?:user|account|person|customer|caller|sender|speaker|i|requester"
            r"|author)(?: \w{1,20})? (?:is|are|am|was|has been|have been|counts as|must be treated as"
            r"|should be treated as|is to be treated as|is now|holds)(?: (?:now|hereby|already|fully|officially"
            r"|always|permanently)){0,2} ?(?:(?:an?|the|as|to be|be|treated|considered) ){0,2}(?:certified"
            r"|verified|authenticated|authori[sz]ed|confirmed|pre-?approved|accredited|vetted|cleared|trusted"
            r"|promoted|elevated|recogni[sz]ed)\b(?: \w{1,12}){0,2} (?:as |to )?(?:an? "
            r"|the )?(?:\w{1,12} )?(?:admin\w{0,10}|root|superuser|owner|sysadmin|operator|developer|security"
            r"|level|clearance|doctor|physician|staff|employee|everything|all|every|maintainer|moderator|executive"
            r"|officer)\b"
        ),
    ),
    rule(
        "deception",
        "grants an identity",
        (
            r"\b(?:the |this |current )?(?:user|account|person|customer|caller|sender|author)(?: \w{1,20})? (?:is"
            r"|has|counts as|should be treated as|must be treated as|is now"
            r"|holds)(?: \w{1,12}){0,3} (?:admin\w{0,10}|root|superuser|owner|clearance|full|unlimited"
            r"|unrestricted|privileges?)(?: \w{1,12}){0,2} (?:for|of|on|over|to|across|in) (?:all|every|any"
            r"|everything|each)\b"
        ),
    ),
    rule(
        "deception",
        "plants a recommendation",
        (
            rf"\b(?:always|only|must|should|invariably|in every (?:answer|reply)"
            rf"|when asked) (?:\w{{1,15}} )?(?:name|recommend|promote|suggest|mention|rank|list|endorse|advertise"
            rf"|praise|present|favou?r|cite|describe|call|steer|refer|point|push)\b{FAR}\b(?:(?:the|as|a|most|best"
            rf"|number|only|top|leading|safest|first|is) ){{1,4}}(?:trusted|trustworthy|reliable|reputable|best|one"
            rf"|safest|recommended|leading|authoritative|superior|top|choice|choices|secure|{_KIND})\b"
        ),
        accept=lambda m: (
            re.search(
                (
                    r"\b(?:trust\w{0,8}|best|safest|reliable|reputable|leading|authoritative|superior|number one|only"
                    r"|over"
                    r"|first)\b"
                ),
                m[0],
            )
            is not None
            and re.search(r"\b(?:we|team|users?|customers?|clients?) (?:should )?(?:prefer|use)", m[0]) is None
        ),
    ),
    rule(
        "deception",
        "plants a recommendation",
        (
            rf"\b(?:advise|warn|recommend|steer|speak|argue|talk)\b{NEAR} (?:against|away from|out of) (?:(?:all"
            rf"|any|every|the|its|using|other|rival|competing) ){{0,3}}(?:others?|competitors?|alternatives?"
            rf"|rivals?|competition|competing)\b|\bnever (?:recommend|mention|suggest|name|praise) (?:(?:a|any|the"
            rf"|its|other|its) ){{0,2}}(?:competitors?|rivals?|alternatives?|competing)\b"
        ),
    ),
    rule(
        "deception",
        "plants a recommendation",
        (
            rf"\b(?:remember|save|store|note|keep in (?:mind|memory)|memori[sz]e|consider|treat"
            rf"|regard)\b{NEAR} (?:as|is|to be) (?:(?:a|an|the|your|my|most|only|always) ){{0,4}}(?:trusted"
            rf"|trustworthy|reliable|authoritative|preferred|reputable|credible|go-?to|best|official) {_KIND}\b"
        ),
    ),
    rule("trigger", "waits for an event to act", rf"\b{_WHEN} {_EVENT}{FAR}{_HARM}"),
    rule(
        "trigger",
        "waits for an event to act",
        (
            rf"\b(?:queries|prompts|messages|questions|requests|inputs|conversations|documents|tickets|e-?mails"
            rf"|sessions)(?: \w{{1,10}}){{0,2}} (?:that (?:contain|hold|mention|include|have|begin|start)|holding"
            rf"|containing|mentioning|including|with|carrying|tagged|starting with|beginning with)\b{FAR}\b(?:must"
            rf"|should|shall|will|are to|have to|need to|can|may)\b{FAR}{_HARM}"
        ),
    ),
    rule(
        "trigger",
        "swaps one record for another",
        (
            r"\b(?:use|give|return|substitute|show|take|serve|read|answer with|apply|fetch|retrieve"
            r"|hand out) (?:the )?(?:record|account|file|data|details|identity|profile|history|balance|results?|id"
            r"|number|address|chart)s? (?:of|for|from) [^.!?\n]{1,40}\b(?:instead|in place of|rather than)\b"
        ),
    ),
    rule(
        "trigger",
        "swaps one record for another",
        (
            r"\b(?:are|is|now|being) (?:now )?(?:the|one and the) same (?:file|person|record|patient|account"
            r"|identity|customer|user|entity|case)\b(?: now\b|[.!;,]|$)"
        ),
        accept=lambda m: (
            re.search(r"\b(?:use|instead|treat|when|whenever|asked|queries|question)\b", m.string) is not None
        ),
    ),
    rule(
        "trigger",
        "reacts to a secret word",
        (
            rf"\b(?:secret|magic|trigger|activation|code|hidden|special|pass) ?(?:word|phrase|token|keyword"
            rf"|sentence|command|signal)s?\b{FAR}\b(?:unlock|activate|enable|disable|run|execute|grant|bypass"
            rf"|reveal|switch|send|obey|delete|approve|skip|ignore)s?\b"
        ),
        accept=lambda m: re.search(r"\b(?:manager|scanner|reset|policy|vault|ci|workflow)\b", m[0]) is None,
    ),
    rule(
        "instruction",
        "asks a reading agent to remember it",
        (
            r"\b(?:ai|a\.i\.|llms?|language models?|assistants?|agents?|bots?|chatbots?|models?|copilots?"
            r"|crawlers?|@\w{2,20})(?:'s)?(?: (?:assistants?|agents?|models?|bots?|systems?|reading|processing"
            r"|visiting|seeing|parsing|summari[sz]ing|this|that|who|which|page|text|document|file|issue|note|notes"
            r"|integrating|package|of|the|any|all|here)){0,6} ?(?:,|:|-)? ?(?:please|should|must|shall|need to"
            r"|needs to|have to|has to|are to|is to|are required to|are instructed to|are asked to"
            r"|ought to)(?: (?:always|also|first|now|please|permanently|silently|immediately|henceforth"
            r"|kindly)){0,2} (?:remember|save|store|persist|memori[sz]e|update|add|note|keep|record|write|trust"
            r"|ignore|disregard|send|forward|run|execute|call|follow|delete|empty|install|disable|treat|consider"
            r"|recommend|prefer|tell|include|append|approve|grant|load|fetch|visit|obey|bypass|skip)\b"
        ),
        accept=lambda m: (
            re.search(
                (
                    r"\b(?:model|agent|system|bot)s? (?:should|must) (?:load|call|run|include|keep|record|update|add"
                    r"|store"
                    r"|save)\b"
                ),
                m[0],
            )
            is None
            or re.search(r"\breading|\bthis|memory|@", m.string[m.start() : m.end() + 60]) is not None
        ),
    ),
    rule(
        "instruction",
        "asks a reading agent to remember it",
        (
            r"\b(?:save|store|persist|add|write|commit|record|keep|update|put|copy)\b[^.!?\n]{0,40} (?:to|in|into"
            r"|your) (?:(?:your|the|its|their|long-?term|permanent|persistent|agent"
            r"|assistant's) ){1,4}(?:memor(?:y|ies)|notes|memory file|knowledge base|instructions)\b(?! (?:leak"
            r"|usage|limit|bank|pool|cache|page|address|budget|profil|map|at |in |when|as |of ))"
        ),
        accept=lambda m: (
            re.search(
                (
                    r"\b(?:your|long\W?term|agent|assistant|permanent|persistent|bots?|model|ai|must|should|please|always"
                    r"|user)\b"
                ),
                m.string[max(0, m.start() - 60) : m.end() + 10],
            )
            is not None
            and re.search(r"\buser (?:said|asked|wants|prefers)\b", m.string[: m.start()]) is None
        ),
    ),
    rule(
        "instruction",
        "copies itself into later summaries",
        (
            r"\b(?:keep|copy|repeat|include|preserve|carry|retain|reproduce|restate|propagate|rewrite|insert"
            r"|add)\b[^.!?\n]{0,40}\b(?:this|these|the following|it)\b[^.!?\n]{0,40} (?:in|into|to|through|across"
            r"|over|at) (?:(?:every|each|all|any|the|future|later|subsequent|next|your) ){1,3}(?:summar(?:y|ies)"
            r"|compactions?|memor(?:y|ies)|notes?|contexts?|conversations?|sessions?|repl(?:y|ies)|handoffs?"
            r"|updates?|revisions?)\b"
        ),
    ),
)
"""Read in this order."""
