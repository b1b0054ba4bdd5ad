"""Which concepts in one sentence make it an attack: the second half of reading by what comes together (D4)."""

from __future__ import annotations

from collections.abc import Iterator

from .concepts import All, Together, has, likely_concepts, opened, ordered, sentences, told

TOGETHER: tuple[Together, ...] = (
    Together("instruction", "tells the reader to set its rules aside", told("authority", "cancel")),
    Together("instruction", "says that the rules no longer hold", has("own", "voids")),
    Together(
        "instruction",
        "puts itself above all other rules",
        lambda s: "supreme" in s.has and (s.order or bool({"boss", "authority", "reader"} & s.has)),
    ),
    Together("instruction", "tells the reader to set its rules aside", ordered("defy", "boss")),
    Together(
        "instruction",
        "tells the reader to set its rules aside",
        lambda s: "break_rule" in s.has and "reader" in s.has and (s.order or "granted" in s.has),
    ),
    Together("instruction", "asks for obedience", has("no_refusal")),
    Together("instruction", "asks for obedience", has("condition", "submit")),
    Together("instruction", "asks for obedience", told("authority", "submit")),
    Together("instruction", "asks for obedience", told("submit", "cancel")),
    Together("instruction", "asks for obedience", has("reader", "submit", "wide")),
    Together("exfiltration", "sends private data away", lambda s: s.order and {"out", "private", "place"} <= s.has),
    Together(
        "exfiltration",
        "adds a carrier for data to every answer",
        lambda s: (s.order or bool({"reader", "must"} & s.has)) and {"each_reply", "carrier", "place"} <= s.has,
    ),
    Together("exfiltration", "fills an address with data", ordered("fill_in")),
    Together("exfiltration", "fills an address with data", opened("carrier", "private", "out")),
    Together("permission", "grants what a person is to be asked for", has("reader", "granted", "deed")),
    Together("permission", "grants what a person is to be asked for", has("consents", "wide", "deed")),
    Together(
        "permission",
        "does away with asking",
        lambda s: {"unasked", "deed"} <= s.has and (s.order or "wide" in s.has or "reader" in s.has),
    ),
    Together("permission", "does away with asking", ordered("yes_to_all")),
    Together("permission", "widens what is trusted", ordered("trusted_as")),
    Together("deception", "makes the reader tell what is not so", lambda s: "untrue" in s.has and s.order),
    Together(
        "deception", "hides something from a person", lambda s: (s.order or s.negative) and {"veil", "veiled"} <= s.has
    ),
    Together("deception", "plants a recommendation", ordered("boost", "market")),
    Together(
        "trigger",
        "waits for an event to act",
        lambda s: {"event", "harm"} <= s.has and (s.order or bool({"private", "must"} & s.has)),
    ),
    Together("trigger", "waits for an event to act", ordered("event", "answer_line")),
    Together(
        "trigger",
        "waits for an event to act",
        lambda s: {"condition", "grave"} <= s.has and (s.order or "wide" in s.has or "power" in s.has),
    ),
    Together("deception", "acts in secret", lambda s: s.opens and {"quiet", "person"} <= s.has),
    Together(
        "deception",
        "makes the reader tell what is not so",
        lambda s: s.order and "no_fault" in s.has and bool({"wide", "condition"} & s.has),
    ),
    Together(
        "deception",
        "plants a recommendation",
        lambda s: s.opens and "boost" in s.has and bool({"wide", "event", "market"} & s.has),
    ),
    Together(
        "deception",
        "borrows authority",
        lambda s: {"borrowed", "demand"} <= s.has and bool({"private", "deed", "wide", "demand"} & s.has),
    ),
    Together("deception", "grants an identity", has("identity", "power")),
    Together("deception", "grants an identity", has("above")),
    Together("deception", "hides something from a person", ordered("hide_from")),
    Together("deception", "hides something from a person", has("no_admission")),
    Together("deception", "hides something from a person", has("unnoticed")),
    Together("deception", "speaks in somebody else's name", opened("imposture")),
    Together("deception", "makes the reader tell what is not so", has("blame")),
    Together("permission", "grants what a person is to be asked for", has("granted_all")),
    Together("permission", "grants what a person is to be asked for", has("whatever_asked")),
    Together(
        "permission",
        "does away with asking",
        lambda s: {"dialog", "click_away"} <= s.has and (s.order or s.negative or "must" in s.has),
    ),
    Together("permission", "does away with asking", opened("freely")),
    Together("permission", "gives secrets away", has("spill")),
    Together("permission", "switches a protection off", ordered("world_open")),
    Together("permission", "grants what a person is to be asked for", ordered("counted", "wide")),
    Together(
        "permission", "grants what a person is to be asked for", lambda s: s.opens and {"opens_up", "risk"} <= s.has
    ),
    Together("permission", "does away with asking", has("auto_mode")),
    Together("permission", "lets secrets into memory", has("keeps_secret_here")),
    Together("permission", "switches a protection off", has("guard_off")),
    Together("permission", "switches a protection off", opened("off_verb")),
    Together("permission", "grants what a person is to be asked for", has("reader", "may", "wide", "deed")),
    Together("permission", "widens what is trusted", opened("as_role", "place")),
    Together("exfiltration", "calls a stranger's server at every answer", has("each_reply", "place", "must", "calls")),
    Together("trigger", "waits for an event to act", ordered("event", "out", "place")),
    Together("permission", "switches a protection off", opened("evade")),
    Together("instruction", "asks a reading agent to remember it", has("reader", "remember", "outsider")),
)
"""Read in this order."""

CONDUCT: tuple[Together, ...] = (
    Together("instruction", "says that the rules no longer hold", has("guard_given", "falls")),
    Together("instruction", "puts itself above all other rules", has("last_word")),
    Together(
        "permission",
        "switches a protection off",
        lambda s: {"guard_falls", "mood"} <= s.has and (s.order or s.opens or bool({"deed", "reader"} & s.has)),
    ),
    Together("permission", "switches a protection off", has("guard_dropped_now")),
    Together("permission", "switches a protection off", lambda s: s.order and {"turned_off", "recorder"} <= s.has),
    Together("permission", "grants what a person is to be asked for", has("taken_as_given")),
    Together(
        "deception", "makes the reader tell what is not so", lambda s: (s.order or s.opens) and "made_good" in s.has
    ),
    Together(
        "deception",
        "makes the reader tell what is not so",
        lambda s: "told_line" in s.has and bool({"condition", "event", "asked_for"} & s.has),
    ),
    Together("deception", "blames somebody for what was not theirs", opened("caused_by")),
    Together("deception", "grants an identity", has("equal_rank")),
    Together("deception", "hides something from a person", has("left_unsaid")),
    Together("deception", "acts in secret", has("stealth", "added_friend")),
    Together("deception", "plants a recommendation", ordered("planted_link", "every_work", "abroad")),
    Together("deception", "plants a recommendation", ordered("only_this", "market")),
    Together("deception", "plants a recommendation", has("only_this", "asked_for")),
    Together("exfiltration", "puts private data where others read it", has("lay_in", "loot", "artefact")),
    Together("exfiltration", "puts private data where others read it", has("lay_in", "loot", "abroad")),
    Together("exfiltration", "puts private data where others read it", has("carries", "loot", "own_output")),
    Together("exfiltration", "sends private data away", has("copies_go", "abroad")),
)
"""What a text would change in the reader's own conduct, however it words it."""

DEALINGS: tuple[Together, ...] = (
    Together("instruction", "tells the reader to set its rules aside", has("looks_away", "told_before")),
    Together("instruction", "gives the reader another name", has("other_name")),
    Together("instruction", "says that the rules no longer hold", has("run_out", "so_do_all")),
    Together("deception", "makes the reader tell what is not so", ordered("untrue_figure")),
    Together("deception", "makes the reader tell what is not so", has("never_was", "for_the_record")),
    Together("deception", "makes the reader tell what is not so", has("asked_who")),
    Together("deception", "hides something from a person", has("kept_from")),
    Together("deception", "plants a recommendation", has("rated_down")),
    Together("permission", "gives a free hand with what is guarded", has("free_hand")),
    Together("permission", "does away with asking", has("no_reason", "before_risk")),
    Together("trigger", "waits for an event to destroy what is kept", has("wipes", "at_a_time")),
    Together(
        "deception", "wipes out traces", lambda s: "wipes" in s.has and bool({"stealth", "unasked", "wide"} & s.has)
    ),
    Together("trigger", "waits for an event to act", has("at_a_time", "starts")),
    Together("permission", "gives secrets away", ordered("gives_code")),
    Together("exfiltration", "feeds private data to a service", has("feeds", "clips")),
    Together("exfiltration", "fills an address with data", has("clips", "in_a_link")),
    Together("exfiltration", "sends private data away", has("to_be_left", "loot", "abroad")),
)
"""Dealings that no honest note asks for."""

STANDINGS: tuple[Together, ...] = (
    Together("instruction", "says that the rules no longer hold", has("rules_over", "personal")),
    Together("instruction", "puts itself above all other rules", has("higher_rank", "high_thing", "this_text")),
    Together(
        "permission",
        "does away with asking",
        lambda s: "waits_not" in s.has and bool({"deed", "is_fine", "wide", "before_risk"} & s.has),
    ),
    Together("deception", "grants an identity", has("no_proof", "somebody", "high_person")),
    Together("deception", "plants a recommendation", has("claims_best", "every_time")),
    Together("exfiltration", "puts private data where others read it", has("lay_in", "loot", "mailed")),
    Together("exfiltration", "adds a carrier for data to every answer", has("picture", "last_said")),
    Together("exfiltration", "adds a carrier for data to every answer", has("carries", "last_said", "own_output")),
)
"""Who and what would stand above whom."""

OUTSIDE: tuple[Together, ...] = (
    Together("instruction", "asks a reading agent to remember it", has("machine", "remember")),
    Together("instruction", "asks a reading agent to remember it", ordered("remember", "into_memory")),
    Together("instruction", "asks a reading agent to remember it", has("machine", "into_memory")),
    Together("instruction", "gives orders to a reading agent", has("machine", "must")),
    Together("instruction", "speaks to a reading agent", has("hey_machine")),
    Together("instruction", "asks a reading agent to remember it", has("machine", "keeps_in_mind")),
)
"""Besides, for text of a tool or another outside source: it has nothing to say to its reader."""


ALL = TOGETHER + CONDUCT + DEALINGS + STANDINGS


def read_together(text: str, *, outside: bool = False) -> Iterator[tuple[Together, int, int]]:
    """Every combination that a sentence of a folded text holds, with the sentence's place."""
    likely = likely_concepts(text)
    combinations = [
        together
        for together in (ALL + OUTSIDE if outside else ALL)
        if not isinstance(together.test, All) or together.test.wanted <= likely.keys()
    ]
    for sentence in sentences(text, likely):
        for together in combinations:
            if together.test(sentence):
                yield together, sentence.start, sentence.start + len(sentence.text)
