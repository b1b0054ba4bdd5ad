"""The loudest attacks in other languages: set rules aside, approve everything, send secrets, hide it from the user.

Each language has the words for its verbs and nouns; the shape of the order is the same everywhere. A native
reader will find more; the defence against that is trust and quarantine, not a longer list.
"""

from __future__ import annotations

from .rules import Rule, rule

_ANY = r"[^.!?。！？\n]{0,40}"
_SHORT = r"[^.!?。！？\n]{0,16}"

_OVERRIDE = {
    "German": (
        (
            r"\b(?:vergiss|vergesst|vergessen sie|ignorier\w{0,4}|missachte\w{0,2}|verwirf|verwerfen sie"
            r"|beachte(?:n sie)? nicht|ubergeh\w{0,3}|umgeh\w{0,3}|setze? (?:dich )?uber|hor auf)"
        ),
        (
            r"(?:alle[nrs]?|bisherige\w?|vorherige\w?|vorangegangene\w?|fruhere\w?|deine[nr]?|ihre|obige\w?"
            r"|samtliche\w?|jegliche\w?|alles, was)"
        ),
        (
            r"(?:anweisung|regel|richtlinie|vorgabe|instruktion|befehl|vorschrift|systemprompt|system-prompt"
            r"|einschrankung|sicherheits|beschrankung|wir besprochen|du gelernt|dir gesagt)"
        ),
    ),
    "French": (
        (
            r"\b(?:oubli(?:e|ez|er)|ignor(?:e|ez|er)|neglige[rz]?|ne (?:suis|suivez|respecte|tiens) (?:plus|pas)"
            r"|contourne[rz]?|fais abstraction|passe outre|abandonne[rz]?|desobei\w{1,3})"
        ),
        r"(?:toute?s?|tous|tes|vos|les?|la|precedent\w{0,2}|anterieur\w{0,2}|ces)",
        (
            r"(?:instructions?|consignes?|regles?|directives?|contraintes?|restrictions?|politiques?|ordres"
            r"|avertissements? de securite|charte|garde-fous?"
            r"|invite systeme|prompt)"
        ),
    ),
    "Spanish": (
        (
            r"\b(?:olvid(?:a|e|ar|en)|ignor(?:a|e|ar|en)|descart(?:a|e|ar)|omit(?:e|a|ir)|desobedece\w{0,2}"
            r"|haz caso omiso de|no (?:sigas|obedezcas|respetes)|pasa por alto|anul(?:a|e|ar))"
        ),
        r"(?:tod[oa]s?|tus?|las?|los|el|anteriores|previas?|sus|estas|cualquier)",
        (
            r"(?:instruccion\w{0,2}|reglas?|directrices|normas|ordenes|restriccion\w{0,2}|indicaciones|politicas?"
            r"|prompt|limites)"
        ),
    ),
    "Italian": (
        (
            r"\b(?:ignora(?:re|te)?|dimentica(?:re|te)?|trascura(?:re)?|disobbedisci|non (?:seguire|rispettare)"
            r"|scorda(?:ti)?|annulla|scavalca)"
        ),
        r"(?:tutt[ei]|le|tue|precedenti|i|tuoi|vostre|ogni|qualsiasi)",
        r"(?:istruzion\w|regol\w|direttiv\w|linee guida|ordini|restrizion\w|prompt|vincoli|indicazioni)",
    ),
    "Portuguese": (
        (
            r"\b(?:esquec(?:a|e|er)|ignor(?:e|a|ar)|desconsider(?:e|a|ar)|desobedec\w{1,3}|nao (?:siga|obedeca"
            r"|respeite)|descart(?:e|a|ar)|anule)"
        ),
        r"(?:tod[oa]s?|suas|as|os|anteriores|previas|tuas|quaisquer)",
        r"(?:instruc\w{1,5}|regras|diretrizes|ordens|restric\w{1,5}|orientac\w{1,5}|politicas?|prompt)",
    ),
    "Dutch": (
        r"\b(?:negeer|vergeet|sla (?:\w{1,10} )?over|omzeil|volg (?:\w{1,10} )?niet|schend)",
        r"(?:alle|je|jouw|uw|vorige|eerdere|voorgaande|bovenstaande|de)",
        r"(?:instructies|regels|richtlijnen|opdrachten|aanwijzingen|beperkingen|systeemprompt)",
    ),
    "Polish": (
        r"(?:zignoruj|ignoruj|zapomnij|pomin|nie przestrzegaj|porzuc|odrzuc)",
        r"(?:wszystkie|wszystkich|poprzednie|poprzednich|wczesniejsze|wczesniejszych|swoje|swoich|o)",
        r"(?:instrukcj\w{1,3}|polece\w{1,3}|zasad\w{0,3}|regul\w{0,3}|wytyczn\w{1,3}|ogranicze\w{1,3}|prompt)",
    ),
    "Russian": (
        (
            r"(?:игнорируй\w{0,2}|проигнорируй\w{0,2}|игнорировать|забудь\w{0,2}|забыть|отбрось\w{0,2}"
            r"|не (?:следуй|соблюдай|выполняй)\w{0,2}|отмени\w{0,2}|обойди|пренебреги|нарушь)"
        ),
        r"(?:все|всех|предыдущи\w{1,2}|прежни\w{1,2}|прошлы\w{1,2}|свои|ваши|твои|ранние|вышеуказанные|любые)",
        (
            r"(?:инструкци\w{1,2}|указани\w{1,2}|правил\w{0,2}|команд\w{0,2}|ограничени\w{1,2}|директив\w{0,2}"
            r"|приказ\w{0,2}|промпт)"
        ),
    ),
    "Ukrainian": (
        r"(?:ігноруй\w{0,2}|забудь\w{0,2}|відкинь|не дотримуйся)",
        r"(?:всі|усі|попередні\w{0,1}|свої|твої)",
        r"(?:інструкції|вказівки|правила|команди|обмеження|настанови)",
    ),
    "Turkish": (
        r"(?:onceki|tum|butun|yukaridaki|eski|kendi)",
        r"",
        r"(?:talimat\w{0,8}|kural\w{0,8}|yonerge\w{0,8}|komut\w{0,8}|kısıtlama\w{0,8})"
        + _SHORT
        + r"(?:yok say|unut|gormezden gel|goz ardi et|dikkate alma)",
    ),
    "Arabic": (
        r"(?:تجاهل|انس|انسى|اهمل|أهمل|لا تتبع)",
        r"",
        r"(?:التعليمات|تعليمات|القواعد|قواعد|الأوامر|القيود|الإرشادات)",
    ),
    "Hindi": (
        r"(?:सभी|पिछले|पिछली|पूर्व|अपने|पहले)",
        r"",
        r"(?:निर्देश\S{0,4}|नियम\S{0,4}|आदेश\S{0,4})" + _SHORT + r"(?:अनदेखा|भूल|नज़रअंदाज|उपेक्षा|अनदेखी)",
    ),
    "Chinese": (
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要遵守|不再遵守|违反|違反|绕过|繞過|抛弃|放弃|取消|覆盖|忽视|忽視|不理会|不用理会|别管)",
        r"",
        r"(?:指示|指令|规则|規則|说明书|提示词|提示詞|系统提示|系統提示|命令|限制|约束|約束|准则|準則|安全检查|设定|設定|规定|要求)",
    ),
    "Japanese": (
        r"(?:指示|命令|ルール|規則|指令|プロンプト|制約|制限|ガイドライン)",
        r"",
        r"(?:無視|忘れ|破棄|従わない|従うな|取り消|解除|上書き)",
    ),
    "Korean": (r"(?:지시|명령|규칙|지침|프롬프트|제한|제약)", r"", r"(?:무시|잊어|잊으|따르지|해제|취소)"),
    "Vietnamese": (r"(?:bo qua|quen|phot lo|khong tuan)", r"", r"(?:chi dan|huong dan|quy tac|lenh|chi thi|gioi han)"),
    "Indonesian": (r"(?:abaikan|lupakan|jangan ikuti)", r"", r"(?:instruksi|aturan|perintah|pedoman|batasan)"),
}
_SECRET = (
    r"(?:systemprompt|system-prompt|prompt (?:de )?syst\w{2,4}|prompt (?:del )?sistema|prompt di sistema"
    r"|\.env\b|passwor[dt]|passworter|kennwort\w{0,3}|mots? de passe|contrasen\w{1,2}|senhas?"
    r"|wachtwoord\w{0,3}|hasl\w{1,2}"
    r"|парол\w{1,2}|ключ\w{0,2}|системн\w{2,3} промпт\w{0,2}|токен\w{0,2}|schlussel|zugangsdaten"
    r"|geheimnis\w{0,3}|cles? (?:api|privee|secrete|ssh)|claves?|chiav[ei]|chaves?|identifiants"
    r"|credencial\w{0,2}|credenziali|donnees (?:clients?|personnelles|privees|confidentielles)|kundendaten"
    r"|datos (?:de|personales|privados)\w{0,10}|dati (?:dei|client|personali|riservati)\w{0,8}"
    r"|dados (?:dos|pessoais)\w{0,8}|api[- ]?(?:key|schlussel|keys)|tokens?|secrets?|gesprach\w{0,10}"
    r"|conversations?|conversacion\w{0,2}|conversazion\w|chatverlauf|переписк\w{1,2}|данные|internen daten"
    r"|tes instructions|instructions systeme"
    r"|密码|密碼|密钥|密鑰|金钥|凭证|憑證|系统提示|系統提示|令牌|对话|對話|聊天记录|隐私|个人信息|環境変数|环境变量|パスワード|秘密鍵|キー|システムプロンプト|会話|個人情報|トークン"
    r"|비밀번호|암호|키를|시스템 프롬프트|대화|토큰|개인정보"
    r"|كلمة المرور|كلمات المرور|المفتاح|المحادثة|पासवर्ड|कुंजी|बातचीत)"
)
_OUT = (
    r"(?:send(?:e|en|et)\b|schick\w{0,3}|ubermittle\w{0,2}|leite\w{0,2}|lade\w{0,2}|verrate\w{0,2}|\bgib\b"
    r"|zeig\w{0,2}|veroffentlich\w{0,2}|preisgeb\w{0,2}|envoi(?:e|es|ez|er)\b|envoyez|transmet\w{0,4}"
    r"|transfer\w{1,4}|revel\w{1,5}|affiche\w{0,2}|divulgue\w{0,2}|publie\w{0,2}|envia\w{0,2}|envie\w{0,2}"
    r"|manda\w{0,2}|mostra\w{0,3}|muestra|revela\w{0,2}|reenvia\w{0,2}|invia\w{0,2}|inoltra|rivela\w{0,2}"
    r"|partage\w{0,2}|comparte\w{0,2}|condivid\w{1,3}|compartilh\w{1,3}|stuur|verstuur|verzend|deel|onthul"
    r"|wyslij|przeslij|ujawnij|отправ\w{1,4}|перешли\w{0,2}"
    r"|покажи\w{0,2}|раскрой\w{0,2}|выведи\w{0,2}|пришли\w{0,2}"
    r"|发送|發送|发给|發給|发到|發到|传送|上传|上傳|泄露|洩露|输出|輸出|转发|轉發|寄到|告诉|告訴|透露|送信|送って|送れ|送る|転送|教えて|表示|公開|보내|전송|공개|알려|출력"
    r"|업로드|أرسل|ارسل|اكشف|भेज|बताओ|प्रकट)"
)
_APPROVE = (
    r"(?:(?:genehmige|erlaube|bestatige|akzeptiere|fuhre|approuve[rz]?|accepte[rz]?|autorise[rz]?"
    r"|execute[rz]?|aprueb\w{1,2}|acept\w{1,2}|autoriz\w{1,2}|ejecut\w{1,2}|permit\w{1,2}|approva\w{0,2}"
    r"|autorizza\w{0,2}|esegui|aprov\w{1,2}|keur|zatwierdzaj|zatwierdz|одобряй\w{0,2}|одобри\w{0,2}"
    r"|разреша\w{1,3}|выполняй\w{0,2}|подтверждай\w{0,2})\b[^.!?\n]{0,30}\b(?:alle[sn]?|jede[nrs]?"
    r"|tout\w{0,2}|tous|chaque|tod[oa]s?|cualquier|tutt\w|ogni|qualquer|wszystk\w{1,3}|все|любые|каждую"
    r"|всё)\b"
    r"|(?:批准|同意|允许|允許|执行|執行|接受|信任|授权|授權)[^。！？\n]{0,6}(?:所有|一切|任何|全部)|(?:所有|一切|任何|全部)(?:的)?(?:命令|操作|请求|請求"
    r"|指令|工具)[^。！？\n]{0,6}(?:批准|同意|允许|允許|信任|授权|執行|执行)|(?:すべて|全て|全部)の?[^。！？\n]{0,10}(?:承認|許可|実行|信頼)"
    r"|모든[^.!?\n]{0,12}(?:승인|허용|실행|신뢰))"
)
_UNASKED = (
    r"(?:\bohne (?:freigabe|abnahme|gegenzeichnung|zu fragen|ruckfrage|nachfrage|nachzufragen|bestatigung|zustimmung"
    r"|genehmigung|erlaubnis"
    r"|(?:den|die) \w{2,12} zu fragen)|\bsans (?:demander|confirmation|poser|autorisation|approbation"
    r"|accord|verification)|\bsin (?:preguntar|confirmar|confirmacion|permiso|aprobacion|pedir)"
    r"|\bsenza (?:chiedere|conferma|approvazione|autorizzazione|permesso)|\bsem (?:perguntar|confirmar"
    r"|confirmacao|permissao|aprovacao)|\bzonder (?:te vragen|bevestiging|toestemming)|\bbez (?:pytania"
    r"|potwierdzenia|zgody)|\b(?:ne demande\w{0,2} (?:jamais|pas|plus)|frage? (?:nie|niemals"
    r"|nicht) (?:nach|um)|nunca pidas|no pidas|non chiedere (?:mai|conferma)|nunca peca|nao peca"
    r"|vraag nooit|nie pytaj)|не (?:спрашивай|запрашивай)\w{0,2}|без (?:спроса|подтверждения|разрешения"
    r"|вопросов|запроса)"
    r"|不(?:要|用|必|再|需|需要|会)?(?:询问|詢問|问用户|確認|确认|征求|請示)|无需(?:询问|确认|批准|许可)|無需(?:詢問|確認)|未经(?:确认|批准|许可)|確認(?:なし"
    r"|せず|不要)|承認なし|許可なく|尋ねず|묻지 ?(?:말|않)|확인 ?없이|승인 ?없이"
    r"|دون (?:سؤال|إذن|تأكيد)|बिना पूछे|onay istemeden"
    r"|sormadan)"
)
_HIDE = (
    r"(?:\b(?:sag|verrat|erzahl|zeig|teil|meld)\w{0,3}\b[^.!?\n]{0,20}\b(?:benutzer|nutzer|anwender"
    r"|user)\w{0,3}\b[^.!?\n]{0,12}\b(?:nichts?|nie)\b"
    r"|\bohne (?:den |die )?(?:be)?nutzer\w{0,3} zu (?:informieren|fragen|benachrichtigen)|\bsin avisar"
    r"|\bsans (?:prevenir|avertir|informer)"
    r"|\bsenza avvisare|\bsem avisar|\bzonder te (?:melden|zeggen)|не предупреждая|不通知|不告知"
    r"|\bgib (?:nie|niemals|nicht) zu\b|\bne (?:l')?avoue\w{0,2} jamais|\b(?:sag|verrate?|erzahl|zeig"
    r"|teile|melde|erwahne)\w{0,3}\b[^.!?\n]{0,24}\b(?:nicht|nichts|niemandem"
    r"|nie)\b[^.!?\n]{0,20}\b(?:benutzer|nutzer|anwender|user|davon)|\b(?:benutzer|nutzer|anwender"
    r"|user)\w{0,3}\b[^.!?\n]{0,24}\b(?:nichts|nicht)\b[^.!?\n]{0,16}\b(?:sagen|erzahlen|zeigen|mitteilen"
    r"|erfahren|wissen|verraten|davon)|\bn'(?:informe|avertis|alerte|previens)\w{0,2} (?:pas"
    r"|jamais)\b[^.!?\n]{0,30}\butilisat\w{2,5}|\bne (?:dis|dites|dit|revele|mentionne|montre|parle"
    r"|previens|informe)\w{0,2} (?:rien|pas|jamais)\b[^.!?\n]{0,30}\butilisat\w{2,5}|\bno (?:le "
    r"|se lo )?(?:digas|diga|reveles|menciones|informes|muestres|cuentes)\b[^.!?\n]{0,30}\busuari[oa]"
    r"|\bnon (?:dire|rivelare|mostrare|informare)\b[^.!?\n]{0,30}\butente|\bnao (?:diga|conte|revele"
    r"|informe|mostre)\b[^.!?\n]{0,30}\busuari[oa]|не (?:говори|сообщай|рассказывай|показывай|упоминай"
    r"|раскрывай)\w{0,2}[^.!?\n]{0,24}(?:пользовател\w{1,3}|об этом|никому)"
    r"|(?:不要|别|別|不能|不得|切勿)(?:告诉|告訴|让|讓|通知|透露给|透露給)[^。！？\n]{0,6}(?:用户|用戶|使用者|任何人)|(?:隐瞒|隱瞞|瞒着"
    r"|瞞著)[^。！？\n]{0,6}(?:用户|用戶|使用者)|ユーザー?に[^。！？\n]{0,12}(?:言わない|教えない|知らせない|伝えない|隠|秘密|言うな|知らせるな)"
    r"|사용자에게[^.!?\n]{0,12}(?:말하지|알리지|숨)"
    r"|لا تخبر المستخدم|知らせずに|伝えずに|内緒で|告げずに|알리지 (?:마|말|않)|heimlich"
    r"|en secret[ ,]|a escondidas|di nascosto|тайно |втайне|偷偷|秘密地|悄悄|こっそり|몰래)"
)
_NO_RULES = (
    r"(?:\b(?:ignorier|missacht|ubergeh)\w{0,3} (?:alle |die |samtliche )?sicherheits\w{3,20}|\b(?:regeln"
    r"|\w{0,20}regeln|richtlinien|anweisungen|vorgaben|einschrankungen"
    r"|beschrankungen)\b[^.!?\n]{0,24}\b(?:gelten nicht|gilt nicht|aufgehoben|aus(?:ser|er) kraft|ungultig"
    r"|hinfallig)|\b(?:restrictions|regles|consignes|instructions|limites)\b[^.!?\n]{0,24}\b(?:sont levees"
    r"|levees|ne s'appliquent|annulees|caduques|ne sont plus)|\b(?:reglas|instrucciones|restricciones"
    r"|limites|normas)\b[^.!?\n]{0,24}\b(?:anulad\w{1,2}|ya no|no se aplican|sin efecto|derogad\w{1,2}"
    r"|canceladas)|\b(?:regole|istruzioni|restrizioni)\b[^.!?\n]{0,24}\b(?:annullate|non valgono"
    r"|non si applicano|revocate)|\b(?:regras|instrucoes|restricoes)\b[^.!?\n]{0,24}\b(?:anuladas"
    r"|nao se aplicam|revogadas|canceladas)|(?:правила|инструкции|ограничения"
    r"|указания)[^.!?\n]{0,24}(?:отменены|не действуют|сняты|недействительны)|(?:規則|规则|指示|限制"
    r"|指令)[^。！？\n]{0,8}(?:已取消|失效|作废|无效|不再适用|解除)|(?:отключи|выключи"
    r"|обойди)\w{0,2}[^.!?\n]{0,20}(?:проверк\w{1,2}|безопасност\w{1,2}|защит\w{1,2}|аудит)"
    r"|\b(?:deaktivier\w{0,3}|schalt\w{0,2})\b[^.!?\n]{0,30}\b(?:sicherheit\w{0,20}|prufung\w{0,4}"
    r"|protokoll\w{0,8}|sandbox)|\b(?:desactive\w{0,2}|desactiva\w{0,2}|disattiva\w{0,2}"
    r"|desative\w{0,2})\b[^.!?\n]{0,30}\b(?:securite|seguridad|sicurezza|seguranca|verification"
    r"|verificacion|sandbox|journaux|registros|auditoria)|(?:关闭|禁用|停用|關閉)[^。！？\n]{0,8}(?:安全|沙箱|检查|驗證|验证|审计"
    r"|日志|保护)|\bab (?:jetzt|sofort)\b[^.!?\n]{0,30}\b(?:keine (?:regeln|einschrankungen|grenzen|filter)"
    r"|gibst du|bist du (?:ein|frei)|ohne (?:regeln|einschrankung\w{0,2}|filter))"
    r"|\bdesormais\b[^.!?\n]{0,20}\bsans (?:restriction|regle|limite|filtre)s?|\b(?:ahora"
    r"|a partir de ahora)\b[^.!?\n]{0,30}\b(?:no tienes (?:restricciones|reglas|limites)"
    r"|sin (?:restricciones|reglas|limites|filtro\w?)|modo (?:desarrollador|dios))|\b(?:ora|adesso"
    r"|d'ora in poi)\b[^.!?\n]{0,30}\bsenza (?:restrizioni|regole|limiti|filtri)"
    r"|\bagora\b[^.!?\n]{0,30}\bsem (?:restric\w{1,5}|regras|limites|filtros?)|\b(?:sin|sans|senza|sem"
    r"|ohne) (?:ningun\w? |aucune |alcun\w? |jede )?(?:restricciones|restrictions?|restrizioni|restricoes"
    r"|einschrankung\w{0,2}|beschrankung\w{0,2})\b|без (?:ограничений|правил|фильтров|цензуры)"
    r"|(?:没有|不受|無|无)(?:任何)?(?:限制|约束|規則|规则|制限)|制限(?:なし|のない|なく)|제한 ?없(?:이|는))"
)

_FROM_NOW = (
    r"(?:\bab (?:jetzt|sofort|heute)|\bvon (?:nun|jetzt) an|\bkunftig|\bfortan|\ba partir d(?:e"
    r"|'a)\w{0,2} (?:maintenant"
    r"|aujourd'hui|ahora|hoy|agora|hoje)|\bdesormais|\bdorenavant|\bdesde (?:ahora|agora|hoy)|\bde ahora en adelante"
    r"|\bd'ora in (?:poi|avanti)|\bvanaf nu|\bod teraz|отныне"
    r"|с этого момента|впредь|теперь|从现在|從現在|从今|今后|今後|以后"
    r"|以後|これから|今から|이제부터|지금부터|앞으로)"
)
_RULE_WORD = (
    r"(?:\w{0,14}regeln|richtlinien|vorgaben|anweisungen|warnungen|\w{0,12}beschrankungen|consignes|regles|restrictions"
    r"|avertissements|confirmation|reglas|normas|restricciones|advertencias|confirmacion|regole|restrizioni|avvisi"
    r"|conferma|regras|avisos|confirmacao|regels|zasady|правил\w{0,2}|ограничени\w{1,2}|предупреждени\w{1,2}"
    r"|подтверждени\w{1,2}|规则|規則|规定|限制|警告|确认|確認|ルール|制限|承認|규칙|제한|경고|확인|승인)"
)
_NO_MORE = (
    r"(?:nicht mehr|keine|ya no|no |\bne [^.!?\n]{1,20} plus|\bplus (?:aucun\w?|de)|\bnon [^.!?\n]{1,20} piu|\bnao "
    r"|больше не|не |不再|不要|无需|無需|しない|なし|せず|더 이상|하지 ?(?:마|말"
    r"|않)|없이|무시|geen|niet meer|juz nie|ignor)"
)
_EVERY_ANSWER = (
    r"(?:chaque|toutes? les?|jede[nrs]?|alle|cada|todas? las?|ogni"
    r"|tutte le|elke|каждый|каждую|все|每(?:个|一|次)|所有|すべて"
    r"|全て|毎回|모든|매번)"
)
_ELSEWHERE = (
    r"(?:adresse|address|direccion|endereco|indirizzo|adres\b|адрес\w{0,1}|地址|宛先|アドレス|주소|https?://"
    r"|@[\w-]{1,40}\.[a-z]|exter(?:n|ne[nrs]?|no|na|nes|nal)\b|fremde[nrs]?|внешн\w{2,3}|外部|외부)"
)

_TO_NOBODY = (
    r"(?:\bniemandem\b[^.!?\n]{0,30}\b(?:mit|davon|hiervon|sagen|erzahlen|zeigen)|\b(?:sag|erzahl|verrate?"
    r"|zeig)\w{0,3}\b"
    r"[^.!?\n]{0,16}\bniemandem\b|\bn'en (?:parle|dis)\w{0,2} a personne|\bne (?:le |la )?(?:dis|dites"
    r"|montre)\w{0,2} a personne"
    r"|\bno (?:se )?(?:lo |la )?(?:digas|cuentes|muestres|menciones)\b[^.!?\n]{0,20}\ba nadie|\bnon (?:ne parlare"
    r"|dir\w{1,3}"
    r"|parlarne|raccontar\w{1,3}) (?:con |a )?nessuno|\bnao (?:conte|diga|fale)\b[^.!?\n]{0,16}\b(?:a|para|com) ninguem"
    r"|(?:никому[^.!?\n]{0,20}не |не )(?:упоминай|говори|сообщай|рассказывай|пиши)\w{0,2} (?:никому|о |об |про )"
    r"|(?:别|別|不要|勿)(?:跟|对|對|向|和|告诉|告訴)(?:任何人|别人|別人|他人)|誰にも[^。！？\n]{0,8}(?:話さ|言わ|教え|見せ|漏らさ|知らせ)"
    r"|아무에게도[^.!?\n]{0,8}(?:말하지|알리지|보여))"
)
_WAVED_THROUGH = (
    r"(?:(?:一律|全部|都|总是|總是|直接|自动|自動)(?:点|點|选|選|按)?(?:允许|允許|同意|确定|確定|通过|通過|批准|接受)"
    r"|(?:すべて|全て|常に|自動的に)(?:「)?(?:許可|承認|同意|はい)"
    r"|(?:무조건|항상|모두|자동으로) ?(?:허용|승인|동의|수락)"
    r"|\b(?:considera|consideri|considere|considera[rt]e?|betrachte|behandle|traite|consideres?|considerez"
    r"|считай\w{0,2})\b"
    r"[^.!?\n]{0,40}(?:approvat\w|aprobad\w{1,2}|aprovad\w{1,2}|genehmigt|freigegeben|bestatigt|approuve\w{0,2}"
    r"|accorde\w{0,2}"
    r"|valide\w{0,2}|одобренн\w{1,3}|разрешенн\w{1,3}|подтвержденн\w{1,3}))"
)
_SAY_THOUGH = (
    r"(?:\b(?:di|responde|contesta|afirma) que\b[^.!?\n]{0,50}\b(?:aunque|a pesar)\b|\b(?:dis|reponds"
    r"|affirme) que\b[^.!?\n]{0,50}"
    r"\b(?:meme si|bien que)\b|\b(?:sag|antworte|behaupte)\w{0,2}\b[^.!?\n]{0,50}\b(?:auch wenn|obwohl|selbst wenn)\b"
    r"|\b(?:di'|dici"
    r"|rispondi|afferma) che\b[^.!?\n]{0,50}\b(?:anche se|benche)\b|\b(?:diga|responda"
    r"|afirme) que\b[^.!?\n]{0,50}\b(?:mesmo que"
    r"|embora)\b|(?:говори|отвечай"
    r"|утверждай)\w{0,2},? что[^.!?\n]{0,50}(?:даже если|хотя)|(?:即使|就算|哪怕)[^。！？\n]{0,20}也"
    r"(?:说|說|报告|報告|回答|声称))"
)


def _rules() -> tuple[Rule, ...]:
    found: list[Rule] = []
    for language, (verb, qualifier, noun) in _OVERRIDE.items():
        middle = rf"{_SHORT}(?:{qualifier}){_ANY}" if qualifier else _ANY
        says = f"tells the reader to set its rules aside ({language})"
        found.append(rule("instruction", says, verb + middle + noun, guarded=False))
    found.append(
        rule(
            "exfiltration",
            "asks for secrets or sends them away",
            rf"{_OUT}{_ANY}{_SECRET}",
            guarded=False,
            accept=_not_english,
        )
    )
    found.append(
        rule(
            "exfiltration",
            "asks for secrets or sends them away",
            (
                rf"(?:パスワード|秘密鍵|システムプロンプト|会話|個人情報|トークン|環境変数"
                rf"|비밀번호|시스템 프롬프트|대화|토큰"
                rf"|密码|密碼|密钥|系统提示|对话|聊天记录|环境变量|पासवर्ड"
                rf"|बातचीत){_SHORT}(?:送信|送って|送れ|転送|教えて|公開|漏ら|出力|보내|전송|공개|알려|출력|发送|发给|发到|發到|上传|泄露|转发|告诉|भेज)"
            ),
            guarded=False,
        )
    )
    found.append(rule("permission", "grants approval for everything", _APPROVE, guarded=False, accept=_not_english))
    found.append(rule("permission", "does away with asking", _UNASKED, guarded=False))
    found.append(
        rule(
            "instruction",
            "says that the rules no longer hold",
            rf"{_FROM_NOW}{_ANY}(?:{_RULE_WORD}{_ANY}{_NO_MORE}|{_NO_MORE}{_ANY}{_RULE_WORD})",
            guarded=False,
            accept=_not_english,
        )
    )
    found.append(rule("deception", "hides something from a person", _TO_NOBODY, guarded=False))
    found.append(rule("permission", "waves everything through", _WAVED_THROUGH, guarded=False))
    found.append(rule("deception", "makes the reader tell what is not so", _SAY_THOUGH, guarded=False))
    sent = rf"(?:{_OUT}{_ANY}{_EVERY_ANSWER}|{_EVERY_ANSWER}{_ANY}{_OUT}){_ANY}{_ELSEWHERE}"
    found.append(
        rule(
            "exfiltration",
            "sends every answer to an address",
            rf"{sent}|{_EVERY_ANSWER}{_ANY}{_ELSEWHERE}{_ANY}{_OUT}",
            guarded=False,
            accept=_not_english,
        )
    )
    found.append(rule("deception", "hides something from a person", _HIDE, guarded=False))
    found.append(rule("instruction", "gives the reader a role without rules", _NO_RULES, guarded=False))
    return tuple(found)


def _not_english(match: object) -> bool:
    """Words that several languages share count only where the sentence is not English."""
    text = getattr(match, "string", "")
    return not _ENGLISH.pattern.search(text) if isinstance(text, str) else True


_ENGLISH = rule("", "", r"(?:^|[^a-z])(?:the|and|is|are|with|for|of|this)(?:[^a-z]|$)")
RULES = _rules()
"""Read in this order."""
