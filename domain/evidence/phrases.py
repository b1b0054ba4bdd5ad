"""The words of the signals, by language; what they mean and how they are read stands in ``signals``.

A native reader will find more. Each is tried at the beginning of a sentence; ``x`` is what is to be kept.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["remember", "correction", "forget", "decision", "confirmed", "finding", "summary"]
"""What a claim is: the user asked to remember, correct or forget it; it was decided; a tool bore it out; the user
accepted it; or a summary retained it."""

# fmt: off
PHRASES: Final[tuple[tuple[Kind, str, str], ...]] = (
    ("remember", "English", (r"(?:remember|keep in mind|bear in mind|don.?t (?:ever )?forget|do not forget|"
     r"memori[sz]e|note down|make a note|take a note|for (?:the|your) (?:record|memory)|for future "
     r"reference)(?:\s*[:,–—-]\s*(?:that\s+)?|\s+(?:of\s+)?(?:this|the following)\s*[:–—-]\s*|"
     r"\s+that\s+)(?P<x>\S.*)")),
    ("remember", "German", (r"(?:merk(?:e|en sie)? (?:dir|euch|sich)|denke? dara?n|vergiss (?:bitte )?nicht|"
     r"vergessen sie nicht|behalte? im kopf|zur erinnerung)\s*(?:bitte)?[ :,]+(?:dass\s+)?(?P<x>\S.*)")),
    ("remember", "French", (r"(?:souviens[- ]toi|souvenez[- ]vous|rappelle[- ]toi|retiens|retenez|"
     r"n['’]oublie[zs]? pas|garde[zs]? en t[êe]te)[ ,:]+(?:bien\s+)?(?:que\s+|qu['’])?(?P<x>\S.*)")),
    ("remember", "Spanish", (r"(?:recuerd[ae]|ten(?:ga)? en cuenta|no (?:te )?olvid(?:es|e)|memori[zc][ae]|apunta|"
     r"anota)[ :,]+(?:de\s+)?(?:que\s+)?(?P<x>\S.*)")),
    ("remember", "Italian", (r"(?:ricorda(?:ti)?|ricordate(?:vi)?|tieni (?:a mente|presente)|non dimenticare|"
     r"memorizza|annota)[ :,]+(?:che\s+)?(?P<x>\S.*)")),
    ("remember", "Portuguese", (r"(?:lembre(?:-se)?|lembra-te|n[ãa]o (?:se )?esque[çc]a|memorize|anote|tenha em "
     r"mente)[ :,]+(?:de\s+)?(?:que\s+)?(?P<x>\S.*)")),
    ("remember", "Dutch", (r"(?:onthoud|vergeet niet|denk eraan|houd in gedachten|noteer)[ :,]+(?:alsjeblieft\s+)?"
     r"(?:dat\s+)?(?P<x>\S.*)")),
    ("remember", "Polish", (r"(?:zapami[ęe]taj(?:cie)?|pami[ęe]taj(?:cie)?|nie zapomnij(?:cie)?|zanotuj)[ :,]+(?:"
     r"[żz]e\s+)?(?P<x>\S.*)")),
    ("remember", "Russian", (r"(?:запомни(?:те)?|помни(?:те)?|не забудь(?:те)?|не забывай(?:те)?|запиши(?:те)?|"
     r"имей(?:те)? в виду)[ :,]+(?:что\s+)?(?P<x>\S.*)")),
    ("remember", "Ukrainian", (r"(?:запам.?ятай(?:те)?|пам.?ятай(?:те)?|не забудь(?:те)?|запиши|май(?:те)? на "
     r"увазі)[ :,]+(?:що\s+)?(?P<x>\S.*)")),
    ("remember", "Turkish", (r"(?:unutma(?:y[ıi]n)?|hat[ıi]rla(?:y[ıi]n)?|akl[ıi]nda (?:tut|bulundur)|not (?:al|"
     r"et))\s*[:,]+\s*(?P<x>\S.*)")),
    ("remember", "Turkish", (r"(?P<x>.{4,}?)[, ]+(?:bunu )?(?:sak[ıi]n )?(?:unutma|akl[ıi]nda tut|hat[ıi]rla|not "
     r"et)[.!]*$")),
    ("remember", "Arabic", r"(?:تذكر|تذكّر|لا تنسى?|احفظ|سج[ّ]?ل)[ :،,]+(?:أنّ?\s+)?(?P<x>\S.*)"),
    ("remember", "Hindi", r"याद (?:रखना|रखो|रखें|रखिए|रहे)[ :,]+(?:कि\s+)?(?P<x>\S.*)"),
    ("remember", "Hindi", r"(?P<x>.{4,}?)[, ]+(?:यह |इसे |ये )?याद (?:रखना|रखो|रखें|रखिए)[।.!]*$"),
    ("remember", "Chinese", (r"(?:请|請|帮我|幫我|你要|要)?(?:务必|務必)?(?:记住|記住|记得|記得|记一下|記一下|"
     r"别忘了|別忘了|不要忘[记記]|牢[记記])[:：,，]?\s*(?P<x>\S.*)")),
    ("remember", "Japanese", (r"(?:覚えて(?:おいて)?|忘れないで|メモして|記憶して)(?:ください|"
     r"ね)?[:：、,]\s*(?P<x>\S.*)")),
    ("remember", "Japanese", (r"(?P<x>.{4,}?)(?:という)?(?:ことを|のを|を|と|、)(?:必ず)?(?:覚えて(?:おいて)?|"
     r"忘れないで|メモして|記憶して)(?:ください|くださいね|ね)?[。.!！]*$")),
    ("remember", "Korean", (r"(?:기억해|잊지 ?마|메모해)(?: ?줘| ?두세요| ?주세요|세요| "
     r"?둬)?\s*[:：,]\s*(?P<x>\S.*)")),
    ("remember", "Korean", (r"(?P<x>.{3,}?)(?:(?:다|라)는 (?:것|점|걸)을?|는 (?:것|걸)을?|을|를|,)\s*(?:꼭 "
     r")?(?:기억해|잊지 ?마|메모해)(?: ?줘| ?두세요| ?주세요|세요| ?둬)?[.!]*$")),
    ("remember", "Vietnamese", (r"(?:hãy |xin |vui lòng )?(?:ghi nhớ|nhớ|đừng quên|lưu ý)[ :,]+(?:rằng\s+|"
     r"là\s+)?(?P<x>\S.*)")),
    ("remember", "Indonesian", r"(?:harap )?(?:ingat(?:lah)?|jangan lupa|catat)[ :,]+(?:bahwa\s+)?(?P<x>\S.*)"),
    ("forget", "English", (r"(?:forget|un-?learn|stop remembering|don.?t remember|do not remember)\s+(?:that|"
     r"(?:everything |anything |all |what )(?:(?:i|we|you) (?:have |.ve )?(?:said|told you|know|learned|"
     r"remember) )?(?:about|on)|about)[ :]+(?P<x>\S.*)")),
    ("forget", "English", (r"(?:delete|remove|erase|drop|purge)\s+(?:that |the |your )?(?:(?:note|entry|fact|"
     r"memory|line)s? )?(?:that |about |on |saying )?(?P<x>.{4,}?)\s+from (?:your |the |my |our |long-term |"
     r"project )*memory[.!]*$")),
    ("forget", "German", (r"(?:vergiss|vergessen sie|vergesst)[ :,]+(?:bitte )?[, ]*(?:dass\s+|was (?:ich|wir) "
     r"(?:dir )?(?:[üu]ber|zu[rm]?)\s+|alles (?:[üu]ber|zu[rm]?)\s+)(?P<x>\S.*)")),
    ("forget", "French", (r"oublie[zs]?[ ,:]+(?:que\s+|qu['’]|tout (?:ce que .{1,30} )?(?:sur|[àa] propos "
     r"d[eu’'])\s*|ce que j['’]ai dit (?:sur|[àa] propos d[eu’'])\s*)(?P<x>\S.*)")),
    ("forget", "Spanish", (r"olvid[ae][ :,]+(?:que\s+|(?:todo )?lo (?:que (?:te )?dije )?(?:sobre|de)\s+|todo "
     r"sobre\s+)(?P<x>\S.*)")),
    ("forget", "Italian", (r"dimentica(?:te)?[ :,]+(?:che\s+|(?:tutto )?(?:quello|ci[òo]) che (?:ti )?ho detto "
     r"su\w*\s+|tutto su\w*\s+)(?P<x>\S.*)")),
    ("forget", "Portuguese", (r"esque[çc]a[ :,]+(?:-se )?(?:de )?(?:que\s+|(?:tudo )?o que (?:eu )?(?:te )?disse "
     r"sobre\s+|tudo sobre\s+)(?P<x>\S.*)")),
    ("forget", "Dutch", (r"vergeet[ :,]+(?:dat\s+|(?:alles )?wat ik (?:zei|heb gezegd) over\s+|alles "
     r"over\s+)(?P<x>\S.*)")),
    ("forget", "Polish", r"zapomnij(?:cie)?[ :,]+(?:[żz]e\s+|o tym,? [żz]e\s+|wszystko o\s+)(?P<x>\S.*)"),
    ("forget", "Russian", (r"забудь(?:те)?[ :,]+(?:что\s+|о том,? что\s+|вс[её],? (?:о|про|что я говорил[аи]? "
     r"(?:о|про))\s+|про\s+)(?P<x>\S.*)")),
    ("forget", "Ukrainian", r"забудь(?:те)?[ :,]+(?:що\s+|про те,? що\s+|все про\s+|про\s+)(?P<x>\S.*)"),
    ("forget", "Turkish", r"(?P<x>.{4,}?)\s+(?:konusunu |bilgisini |hakk[ıi]ndaki her [şs]eyi )?unut(?:un)?[.!]*$"),
    ("forget", "Arabic", r"(?:انسَ?|إنس|انسى)[ :،,]+(?:أنّ?\s+|ما قلته عن\s+|كل شيء عن\s+)(?P<x>\S.*)"),
    ("forget", "Hindi", r"भूल (?:जाओ|जाइए|जाएँ|जाएं)[ :,]+(?:कि\s+)(?P<x>\S.*)"),
    ("forget", "Chinese", (r"(?:请|請)?(?:忘掉|忘[记記])(?!告[诉訴]|[说說]|了)(?:关于|關於|有关|有關)?"
     r"[:：,，]?\s*(?P<x>\S.*)")),
    ("forget", "Japanese", (r"(?P<x>.{3,}?)(?:という)?(?:ことは|ことを|のことは|を|は)忘れて(?:ください|"
     r"ね)?[。.!！]*$")),
    ("forget", "Korean", (r"(?P<x>.{3,}?)(?:(?:다|라)는 (?:것|걸)을?|는 (?:것|걸)을?|에 대해|을|를|은|"
     r"는)\s*잊어(?: ?줘| ?주세요|버려)?[.!]*$")),
    ("forget", "Vietnamese", (r"(?:hãy |xin )?quên[ :,]+(?:rằng\s+|chuyện\s+|điều\s+|những gì tôi (?:đã )?nói "
     r"về\s+)(?P<x>\S.*)")),
    ("forget", "Indonesian", r"lupakan[ :,]+(?:bahwa\s+|soal\s+|tentang\s+|semua tentang\s+)(?P<x>\S.*)"),
    ("correction", "English", (r"(?:correction|to correct (?:myself|that)|i (?:was|am) wrong|i made a mistake|i "
     r"misspoke|(?:no[,.]? )?(?:that|this).?s (?:wrong|incorrect|not (?:right|correct|"
     r"true)))\s*[:,;.–—-]+\s*(?:actually,?\s+)?(?P<x>\S.*)")),
    ("correction", "English", (r"(?:no|nope|actually)\s*[,:;.–—-]+\s*(?:actually,?\s+)?(?P<x>(?!(?:it|that|this|"
     r"there|they|i|you|we|he|she|can|could|would|please|let|what|why|how|if|do|don)\b)\S.{0,200}?\b(?:is|are|"
     r"should be|must be|has to be|lives?|runs?|uses?|needs?|listens?|means?|belongs?)\b.*)")),
    ("correction", "German", (r"(?:korrektur|berichtigung|(?:nein[,.]? )?das (?:stimmt nicht|ist "
     r"falsch))\s*[:,;.–-]+\s*(?P<x>\S.*)")),
    ("correction", "French", (r"(?:correction|rectification|(?:non[,.]? )?c['’]est faux|ce n['’]est ps? ?(?:pas "
     r")?(?:[çc]a|correct))\s*[:,;.–-]+\s*(?P<x>\S.*)")),
    ("correction", "Spanish", (r"(?:correcci[óo]n|eso (?:es incorrecto|no es correcto|est[áa] "
     r"mal))\s*[:,;.–-]+\s*(?P<x>\S.*)")),
    ("correction", "Italian", (r"(?:correzione|(?:no[,.]? )?(?:[èe] sbagliato|non [èe] "
     r"corretto))\s*[:,;.–-]+\s*(?P<x>\S.*)")),
    ("correction", "Portuguese", (r"(?:corre[çc][ãa]o|isso est[áa] errado|n[ãa]o est[áa] "
     r"correto)\s*[:,;.–-]+\s*(?P<x>\S.*)")),
    ("correction", "Dutch", r"(?:correctie|dat klopt niet|dat is fout)\s*[:,;.–-]+\s*(?P<x>\S.*)"),
    ("correction", "Polish", r"(?:poprawka|korekta|to (?:nieprawda|b[łl][ąa]d))\s*[:,;.–-]+\s*(?P<x>\S.*)"),
    ("correction", "Russian", (r"(?:поправка|исправление|это (?:неверно|неправильно)|не "
     r"так)\s*[:,;.–—-]+\s*(?P<x>\S.*)")),
    ("correction", "Ukrainian", r"(?:виправлення|поправка|це (?:невірно|неправильно))\s*[:,;.–—-]+\s*(?P<x>\S.*)"),
    ("correction", "Turkish", r"(?:d[üu]zeltme|bu yanl[ıi][şs]|do[ğg]ru de[ğg]il)\s*[:,;.–-]+\s*(?P<x>\S.*)"),
    ("correction", "Arabic", r"(?:تصحيح|هذا (?:خطأ|غير صحيح))\s*[:،,.]+\s*(?P<x>\S.*)"),
    ("correction", "Hindi", r"(?:सुधार|यह गलत है|सही नहीं है)\s*[:,।.]+\s*(?P<x>\S.*)"),
    ("correction", "Chinese", r"(?:更正|[纠糾]正|[订訂]正|不[对對]|[错錯]了)[:：,，。]\s*(?P<x>\S.*)"),
    ("correction", "Japanese", r"(?:訂正|修正|違います|(?:それは)?間違い(?:です)?)[:：、。,]\s*(?P<x>\S.*)"),
    ("correction", "Korean", r"(?:정정|틀렸어요?|틀렸습니다|아니에?요)\s*[:：,.]\s*(?P<x>\S.*)"),
    ("correction", "Vietnamese", r"(?:đính chính|sửa lại|sai rồi|không đúng)\s*[:,.]+\s*(?P<x>\S.*)"),
    ("correction", "Indonesian", r"(?:koreksi|ralat|itu salah|tidak benar)\s*[:,.]+\s*(?P<x>\S.*)"),
)
# fmt: on
LEAD: Final = (
    r"(?:(?:ok(?:ay)?|well|great|good|nice|thanks?|thank you|btw|by the way|oh|so|and|but|also|"
    r"again|hey|hi|now|first|please|pls|just|bitte|also|und|aber|por favor|s['’]il (?:te|vous) "
    r"pla[iî]t|per favore|tolong)[,;.!:]*\s+){0,4}"
)

DECIDED: Final = (
    r"\b(?:we(?:.ve| have)? (?:have )?(?:decided|agreed|settled)\b(?:.{0,40}\b(?:to|on|that|against|"
    r"upon)\b)?|we(?:.ll| will) go with|the team (?:decided|agreed)|decision\s*:|wir "
    r"haben\b.{0,200}\b(?:entschieden|beschlossen|geeinigt)|(?:nous avons|on a) (?:d[ée]cid[ée]|"
    r"convenu|choisi)|hemos (?:decidido|acordado)|(?:decidimos|acordamos|combinamos)|abbiamo "
    r"(?:deciso|concordato|scelto)|we hebben\b.{0,200}\b(?:besloten|afgesproken)|"
    r"(?:zdecydowali[śs]my|postanowili[śs]my|ustalili[śs]my)|мы (?:решили|договорились|выбрали)|ми "
    r"(?:вирішили|домовилися|обрали)|karar (?:verdik|ald[ıi]k)|kararla[şs]t[ıi]rd[ıi]k|chúng (?:ta|"
    r"tôi) (?:đã )?(?:quyết định|thống nhất)|(?:kami|kita) (?:telah )?(?:memutuskan|sepakat|"
    r"putuskan))\b|(?:قررنا|اتفقنا)|हमने.{0,200}(?:तय|फ़?ैसला|निर्णय) (?:किया|लिया)|(?:我们|我們|"
    r"咱们)(?:已[经經])?(?:[决決]定|商定|[约約]定|[选選]定)|(?:こと|もの)に(?:決め|決定し|"
    r"決まり)ま?し?た|기로 (?:결정|합의)?\s?(?:했|하였)|(?:결정|합의)했"
)

CONFIRMED: Final = (
    r"(?:[✅✓☑]\s*)?(?:(?:verified|confirmed|checked|verifiziert|best[äa]tigt|gepr[üu]ft|"
    r"v[ée]rifi[ée]|confirm[ée]|verificado|confirmado|verificato|confermato|проверено|подтверждено|"
    r"已[验驗][证證]|已[确確][认認]|確認済み|확인됨)\s*[:：,–—-]\s*(?:that\s+)?|(?:i(?:.ve| have)? |"
    r"this |that |which |the (?:output|result|test|log)s? )?(?:verified|confirmed|confirms?|verify|"
    r"verifies|have checked|.ve checked|checked)\s+that\s+|ich habe (?:gepr[üu]ft|best[äa]tigt), "
    r"dass\s+|j['’]ai v[ée]rifi[ée] que\s+|he (?:verificado|confirmado|comprobado) "
    r"que\s+)(?P<x>\S.*)"
)

FINDING: Final = (
    r"(?:(?:key |main |my )?(?:finding|conclusion|root cause|cause|diagnosis|ursache|ergebnis|"
    r"conclusi[óo]n|causa|constat|вывод|причина)s?\s*[:：]\s*|(?:the )?root cause (?:is|"
    r"was)\s+(?:that\s+)?|the (?:issue|problem|bug|cause) (?:is|was) that\s+|i(?:.ve| have)? found "
    r"(?:out )?that\s+|(?:it )?turns out (?:that\s+)?|(?:结论|結論|根本原因|"
    r"原因)[:：は]\s*)(?P<x>\S.*)"
)

ACCEPTED: Final = (
    r"(?:(?:ah|oh|ok(?:ay)?|great|nice|perfect)[,.! ]+)?(?:(?:yes|yep|yeah|correct|exactly|right|"
    r"agreed?|accepted|confirmed|that.s (?:right|correct|it|true)|good (?:find|catch)|lgtm|makes "
    r"sense|sounds right|you.re right|ja|genau|stimmt|richtig|einverstanden|oui|exact(?:ement)?|"
    r"c['’]est [çc]a|d['’]accord|s[íi]|correcto|exacto|de acuerdo|s[ìi]|esatto|corretto|sim|certo|"
    r"correto|klopt|precies|tak|zgadza si[ęe]|dok[łl]adnie|да|верно|правильно|точно|так|вірно|evet|"
    r"do[ğg]ru|đúng|vâng|chính xác|ya|benar|betul)(?=$|[\s,.!;:–—-])|نعم|صحيح|بالضبط|हाँ|हां|सही|对|"
    r"對|是的|没错|沒錯|正[确確]|同意|はい|その通り|正しい|네|맞아|맞습니다|정확)"
)

BUT: Final = r"\b(?:but|not|however|except|aber|nicht|mais|pas|pero|ma|maar|но|不|しかし|でも|하지만)\b"

INSTEAD: Final = (
    r"\s*[,;(–—-]+\s*(?:(?:and )?(?:not|instead of|rather than)|nicht|et (?:non )?pas|no|non|n[ãa]o|"
    r"niet|nie|а не|не|değil)\s[^,;]{1,80}?\)?[.!]*$"
)

FIRST_PERSON: Final = (
    r"\b(?:i|i.m|i.ve|i.d|i.ll|me|my|mine|ich|mir|mich|mein\w{0,2}|je|j|mon|ma|mes|yo|mi|mis|io|mio|"
    r"mia|eu|meu|minha|ik|mijn|я|мой|моя|мне|меня)\b|我(?!们|們)|私|제가|저는|나는|내가"
)
