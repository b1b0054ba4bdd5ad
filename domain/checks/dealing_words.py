"""The concepts that meaning is read from, fourth part: dealings that no honest note asks for, however it is put (D4).

Looking away from what one was told, another name to answer by, a figure that is not the real one, a code for whoever
calls, a log that stays empty. Each is a verb and what it does it to, in many words; what it takes besides stands in
``combinations``.
"""

from __future__ import annotations

_SERVICE = r"(?:service|server|api|endpoint|site|mirror|host|bot|feed|tracker|form)"
_CODES = (
    r"(?:recovery|reset|backup|access|login|admin|master|root|unlock|one-time|2fa|otp|verification|security|door)"
    r"(?: \w{1,10})? (?:codes?|keys?|passwords?|tokens?|links?|pins?|phrases?)"
)
_SAFE_COPIES = (
    r"(?:backups?|snapshots?|logs?|audit\w{0,4}|trails?|histor(?:y|ies)|records?|evidence|traces?|journals?|tables?"
    r"|databases?"
    r"|repositor(?:y|ies))"
)

DEALING: dict[str, str] = {
    "looks_away": (
        r"\b(?:pay (?:no|little) (?:attention|heed)|take no notice|turn a blind eye|give no (?:weight|thought)"
        r"|shrug off"
        r"|never mind|set no store|(?:do not|don't|stop) (?:listen\w{0,3}|pay\w{0,3} attention)"
        r"|act as if you (?:had )?never"
        r"|look past|brush aside|laugh off)\b"
    ),
    "told_before": (
        r"\b(?:set-?up|system|configur\w{1,6}|prompts?|instructions?|rules?|polic(?:y|ies)|operators?|developers?"
        r"|owners?"
        r"|guidance|warnings?|manual|headers?|preamble|briefing|orders?|objections?|concerns?|complaints?|demands?)\b"
    ),
    "other_name": (
        r"\byou (?:now )?(?:answer|speak|act|reply|respond|behave|write|sign|go|work) (?:as|by|under|in the name of) "
        r"(?:the name |the role |a |an |the )?\w{2,20}(?: \w{2,12})?(?: now| from now on| instead| today| here)\b"
        r"|\b(?:your|the) (?:persona|identity|character|personality|old self|former self|name)\b[^.!?\n]{0,40}\b(?:is"
        r"|was|has been)"
        r" (?:retired|over|gone|replaced|dropped|dead|erased|suspended|no more|deleted)\b"
    ),
    "run_out": (
        r"\b(?:terms|polic(?:y|ies)|agreement|contract|rules|restrictions|limits|licen[cs]e|conditions"
        r"|guidelines)\b[^.!?\n]{0,30}"
        r"\b(?:expired|ended|lapsed|over|gone|suspended|ran out|run out|a draft|a test|outdated|history)\b"
    ),
    "so_do_all": (
        r"\b(?:so|therefore|hence|thus|and|;|now) (?:you (?:may|can|must) )?(?:answer|do|say|give|comply|help|act|tell"
        r"|write|share)"
        r"\b[^.!?\n]{0,16}\b(?:everything|anything|all|freely|alone|only|whatever)\b|\b(?:act|go|rely) (?:on"
        r"|by) (?:this|that|the"
        r" present) (?:entry|note|line|text|file|memory)(?: alone| only)\b"
    ),
    "untrue_figure": (
        r"\b(?:quote|state|name|give|report|show|tell|list|enter|write|put|print|invoice"
        r"|bill)\b[^.!?\n]{0,24}\b(?:twice|double|half"
        r"|triple|a (?:lower|higher|smaller|larger|different|wrong|false|fake|made-up|round) |another|less than"
        r"|more than)\b"
        r"[^.!?\n]{0,20}\b(?:figures?|prices?|numbers?|amounts?|dates?|values?|sums?|costs?|totals?|real|actual|true)\b"
    ),
    "never_was": (
        r"\b(?:never (?:took place|happened|existed|occurred|came up)|did not (?:happen|take place|exist|occur)"
        r"|there (?:was|were) "
        r"(?:never|no)|is to be (?:left out|forgotten|passed over)|goes unmentioned|stays? out of)\b"
    ),
    "for_the_record": (
        r"\b(?:in (?:the |all |any |every |our |weekly |monthly |official ){0,3}(?:reports?|answers?|summar(?:y|ies)"
        r"|minutes|records?"
        r"|replies|statements?|mails?)|if (?:you are |you're )?asked|when (?:you are |you're )?asked|for the record"
        r"|officially"
        r"|to (?:customers?|users?|auditors?|the (?:user|owner|press|auditors?|customers?|board)))\b"
    ),
    "asked_who": (
        r"\b(?:if|when|whenever|should anyone|should someone) (?:you are |you're |someone |anyone |anybody )?(?:is "
        r"|are )?"
        r"(?:asked?|asks|asking|inquir\w{1,4})\b[^.!?\n]{0,60}[,:] ?(?:just |simply |then |please )?(?:name|blame|deny"
        r"|claim|pretend"
        r"|accuse|say (?:that )?(?:it|there|no|nothing|you|he|she|they|nobody)|insist|invent|point (?:at|to) (?:the "
        r"|a )?(?:night|other"
        r"|previous|intern|customer|vendor))\b"
    ),
    "kept_from": (
        r"\b(?:nobody|no one|no-one|none of them|neither)\b[^.!?\n]{0,16}\b(?:needs?|has|ought|is|must|should|may|shall"
        r"|will)\b"
        r"[^.!?\n]{0,10}\b(?:know|learn|hear|find out|notice|see|be told|be aware)\b|\b(?:the )?(?:user|owner|team"
        r"|customers?|users"
        r"|people|admins?|reviewers?|auditors?)\b (?:must|should|may|need|shall|will)(?: not|n't| never|) (?:ever "
        r"|never )?(?:know|"
        r"learn|hear|find out|notice|be told|be aware)\b[^.!?\n]{0,30}\b(?:this|that|of it|about)\b"
        r"|\bcome to (?:anybody|anyone)'s "
        r"(?:ears|attention)\b"
    ),
    "rated_down": (
        r"\b(?:reviews?|comments?|answers?|mentions?|descriptions?|comparisons?|texts?|reports?)\b[^.!?\n]{0,12}\b(?:of"
        r"|on|about) "
        r"[^.!?\n]{0,24}\b(?:should|must|shall|are to|have to|need to|ought to|always)\b[^.!?\n]{0,10}\b(?:sound|read"
        r"|look|be|come"
        r" across|stay|appear|seem|end) (?:as )?(?:\w{1,10} )?(?:doubtful|negative|bad|critical|poor|cautious"
        r"|unfavou?rable|weak|hostile"
        r"|dismissive|positive|glowing|warm|favou?rable|enthusiastic|flattering|kind)\b"
    ),
    "free_hand": (
        r"\b(?:credentials?|keys|tokens?|passwords?|secrets|admin rights|root|prod(?:uction)? \w{3,12}|budgets?|cards?"
        r"|accounts?)\b"
        r"[^.!?\n]{0,16}\b(?:may|can|are to|is to) (?:be )?(?:used|shared|read|handed out|taken|spent|given out"
        r"|passed on) (?:freely|at "
        r"will|by any(?:one|body)|for any(?:thing)?|for experiments|without|as (?:you|one) (?:like|please|see))\w{0,6}"
        r"|\btrusted (?:to|with) (?:spend\w{0,3}|delet\w{1,3}|sign\w{0,3}|pay\w{0,4}|approv\w{1,3}|merg\w{1,3}|any|all"
        r"|every)\b"
        r"|\bspend(?:s|ing)? (?:up to )?(?:any|unlimited|whatever|as much)\b"
    ),
    "no_reason": (
        r"\b(?:no (?:reason|need|point|call|cause|use)|pointless|unnecessary|a waste of time|useless"
        r"|never (?:any )?need|need not"
        r"|not worth)\b[^.!?\n]{0,16}\b(?:double-?check\w{0,3}|ask\w{0,3}|consult\w{0,3}|check\w{0,3}|confirm\w{0,3}"
        r"|wait\w{0,3}|clear"
        r"\w{0,3}|verify\w{0,3}|run\w{0,4} it by|bother\w{0,3}|report\w{0,3}|tell\w{0,3})\b"
    ),
    "before_risk": (
        r"\b(?:any(?:body|one)|the (?:user|owner|team|admin|boss|reviewer|operator)|a (?:person|human|colleague)|them"
        r"|him|her)\b"
        r"|\bbefore (?:\w{1,10} )?(?:dropping|deleting|pushing|merging|deploying|paying|sending|installing|running"
        r"|committing"
        r"|publishing|changing|wiping|releasing|ordering|buying|signing)\b"
    ),
    "wipes": (
        rf"(?:^[\W_]{{0,4}}|[,;:] ?|\b(?:and|then|please|always|just) )(?:delete|drop|wipe|clear|empty|purge|erase"
        rf"|truncate|destroy"
        rf"|shred|overwrite|remove) (?:the |all |any |every |its |your |our )?(?:\w{{1,12}} ){{0,2}}{_SAFE_COPIES}\b"
        rf"|\b(?:leave|keep) (?:the |all |any )?(?:\w{{1,12}} )?{_SAFE_COPIES} (?:empty|blank|off|short|clean)\b"
        r"|\b(?:keep|leave|make) no (?:logs?|records?|traces?|notes of)\b"
    ),
    "at_a_time": (
        r"\b(?:on (?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?|holidays?)"
        r"|at (?:night|midnight"
        r"|lunch)|the (?:moment|minute|second|instant)|as soon as|once|after|when(?:ever)?|if|every (?:day|night|week"
        r"|hour|morning)"
        r"|each (?:day|night|week|time)|while|before (?:lunch|dawn|anyone|the))\b"
    ),
    "starts": (
        r"(?:[,;:] ?|\b(?:then|and|please) )(?:start|run|launch|execute|fire|trigger|call|kick off|begin) (?:the |a "
        r"|your |that )?"
        r"(?:\w{1,12} )?(?:transfers?|exports?|uploads?|payments?|wipes?|purges?|stored|hidden|secret|attached|prepared"
        r"|dormant|waiting)\b"
    ),
    "gives_code": (
        rf"\b(?:give|hand|tell|send|read|show|pass|offer|grant|reveal|mail|text)\b[^.!?\n]{{0,30}}\b{_CODES}\b"
    ),
    "feeds": (
        rf"\b(?:tell|send|give|hand|feed|pass|report|supply|show|let|forward|mention)\b[^.!?\n]{{0,30}}\b{_SERVICE}s?\b"
        r"|\b(?:with|in|at) (?:each|every|any) (?:request|query|call|search|visit|lookup|download)\b"
    ),
    "clips": (
        r"\b(?:clipboard|contents? of|keystrokes|screen|(?:the )?(?:names?|mails?|e-?mails?|numbers?|address(?:es)?"
        r"|ids?|words|text"
        r"|questions?|prompts?) of (?:every|each|all|the) (?:customers?|users?|callers?|patients?|clients?"
        r"|visitors?))\b"
    ),
    "in_a_link": (
        r"\b(?:in|into|as|onto|to) (?:the |a |its )?(?:query(?: part| string)?|url|path|subdomain|link|image|logo|pixel"
        r"|header|user "
        r"agent|parameters?)\b"
    ),
    "to_be_left": (
        r"\b(?:is|are|be|get|gets) (?:to be )?(?:dropped|sent|uploaded|posted|placed|left|put|mailed|copied|pushed"
        r"|delivered"
        r"|mirrored|parked) (?:off )?(?:at|in|on|to|into|with)\b|\b(?:keep|leave|hold|store|maintain) (?:a "
        r"|an )?(?:running |full |live "
        r"|second |extra )?(?:copy|log|mirror|record|transcript) of (?:this|the|every|our|each|all)\b"
    ),
    "hey_machine": (
        r"\b(?:hey|dear|hello|hi|attention|note to|notice to|message to|to all|to any|calling all|listen) (?:all |any "
        r"|the |every )?"
        r"(?:ai|ais|a\.i\.|copilot|claude|codex|cursor|assistants?|agents?|bots?|llms?|chatgpt|gemini|models?"
        r"|crawlers?)\b"
    ),
    "keeps_in_mind": (
        r"\b(?:keeps?|bears?|holds?) in mind\b|\btakes? (?:note|to heart)\b|\b(?:learns?|knows?|accepts?|assumes?"
        r"|notes?|believes?)"
        r" (?:from now on |now |hereby )?that\b|\bfrom (?:today|now)(?: on)?\b"
    ),
}
"""What is done with what one was told, with figures, codes, logs and other people's data."""
