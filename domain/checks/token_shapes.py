"""The shapes of tokens that vendors issue: a prefix or a fixed form makes them certain without any context (D4)."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from .anchors import Anchors, Around

_B = r"(?<![A-Za-z0-9_])"
"""Not in the middle of a longer word."""
_E = r"(?![A-Za-z0-9_])"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"

_SHAPES: Final[tuple[tuple[str, str], ...]] = (
    (
        "aws_key",
        (
            rf"{_B}(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9]|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z0-9]{{16}}{_E}"
            rf"|{_B}ABSK[A-Za-z0-9+/]{{100,300}}={{0,2}}"
        ),
    ),
    ("github_token", rf"{_B}(?:gh[pousr]_[A-Za-z0-9]{{36,255}}|github_pat_[A-Za-z0-9_]{{36,255}}){_E}"),
    (
        "gitlab_token",
        (
            rf"{_B}(?:gl(?:pat|dt|rt|ptt|ft|imt|agent|oas|soat|cbt|ffct|wt|rtr)-[A-Za-z0-9_=.-]{{16,300}}"
            rf"|GR1348941[\w-]{{20}}|_gitlab_session=[0-9a-f]{{32}})"
        ),
    ),
    (
        "slack_token",
        (
            rf"{_B}xox[a-z]-[A-Za-z0-9-]{{12,300}}|{_B}xoxe\.xox[bp]-\d-[A-Za-z0-9]{{100,300}}"
            rf"|{_B}xoxe-\d-[A-Za-z0-9]{{60,300}}|{_B}xapp-\d-[A-Z0-9]{{8,14}}-\d{{8,16}}-[a-f0-9]{{40,80}}"
        ),
    ),
    ("stripe_key", rf"{_B}(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{{10,250}}|whsec_[A-Za-z0-9+/=]{{24,80}})"),
    (
        "google_key",
        (
            rf"{_B}AIza[0-9A-Za-z_-]{{35}}(?![\w-])|{_B}GOCSPX-[\w-]{{24,40}}|{_B}ya29\.[\w-]{{20,500}}"
            rf"|{_B}1//0[\w-]{{40,150}}|{_B}GOOG1E[A-Z0-9]{{50,70}}{_E}|{_B}6L[0-9A-Za-z_-]{{38}}(?![\w-])"
        ),
    ),
    (
        "openai_key",
        (
            rf"{_B}sk-(?:proj-|svcacct-|admin-|None-"
            rf"|service-)?[A-Za-z0-9_-]{{16,200}}T3BlbkFJ[A-Za-z0-9_-]{{16,200}}|{_B}sk-(?:proj|svcacct"
            rf"|admin)-[A-Za-z0-9_-]{{40,250}}|{_B}sk-[A-Za-z0-9]{{32,60}}{_E}"
        ),
    ),
    ("anthropic_key", rf"{_B}sk-ant-(?:api|admin|sid|oat)\d{{2}}-[A-Za-z0-9_-]{{32,200}}"),
    (
        "model_key",
        (
            rf"{_B}(?:hf_[A-Za-z0-9]{{30,40}}|api_org_[A-Za-z0-9]{{34}}|gsk_[A-Za-z0-9]{{40,60}}"
            rf"|pplx-[A-Za-z0-9]{{40,60}}|r8_[A-Za-z0-9]{{36,40}}|xai-[A-Za-z0-9]{{70,90}}|sk-or-v1-[0-9a-f]{{64}}"
            rf"|jina_[A-Za-z0-9_-]{{40,80}}|fc-[0-9a-f]{{32}}|tvly-[A-Za-z0-9-]{{24,60}}"
            rf"|nvapi-[A-Za-z0-9_-]{{50,90}}|lsv2_(?:pt|sk)_[0-9a-f]{{32}}_[0-9a-f]{{10}}|key-[0-9a-zA-Z]{{32}}"
            rf"|co_[A-Za-z0-9]{{36,44}}|csk-[a-z0-9]{{40,60}}|fw_[A-Za-z0-9]{{22,30}}|tgp_v1_[\w-]{{40,50}}"
            rf"|pcsk_[A-Za-z0-9_]{{40,90}}){_E}"
        ),
    ),
    (
        "json_web_token",
        (
            rf"{_B}ey[IJ][A-Za-z0-9_-]{{10,2000}}\.ey[IJ][A-Za-z0-9_-]{{8,4000}}(?:\.[A-Za-z0-9_-]{{8,2000}})?"
            rf"|{_B}[ps]k\.eyJ[A-Za-z0-9_-]{{20,400}}\.[A-Za-z0-9_-]{{16,60}}"
        ),
    ),
    (
        "grafana_token",
        (
            rf"{_B}glc_[A-Za-z0-9+/]{{32,400}}={{0,3}}|{_B}glsa_[A-Za-z0-9]{{32}}_[A-Fa-f0-9]{{8}}"
            rf"|{_B}eyJrIjoi[A-Za-z0-9+/_-]{{30,400}}={{0,3}}"
        ),
    ),
    (
        "registry_token",
        (
            rf"{_B}(?:npm_[A-Za-z0-9]{{36,60}}|pypi-[A-Za-z0-9_-]{{50,1000}}|rubygems_[a-f0-9]{{48}}"
            rf"|oy2[a-z0-9]{{43}}|dckr_(?:pat|oat)_[\w-]{{27,40}}|cio[A-Za-z0-9]{{32}}|hex_[a-z0-9]{{32,64}}"
            rf"|AKCp[A-Za-z0-9]{{69}}|reftkn:[\w:-]{{20,80}}){_E}"
        ),
    ),
    ("sendgrid_key", rf"{_B}SG\.[A-Za-z0-9_-]{{16,32}}\.[A-Za-z0-9_-]{{30,64}}"),
    (
        "mail_key",
        (
            rf"{_B}xkeysib-[a-f0-9]{{64}}-\w{{16}}|{_B}key-[0-9a-f]{{32}}{_E}"
            rf"|{_B}(?:md-|mlsn\.)[A-Za-z0-9]{{22,80}}{_E}|{_B}re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{20,30}}{_E}"
        ),
    ),
    ("twilio_key", rf"{_B}(?:SK|AC)[0-9a-f]{{32}}{_E}"),
    (
        "cloud_token",
        (
            rf"{_B}(?:do[opr]_v1_[a-f0-9]{{64}}|dop_v1_[a-f0-9]{{64}}|dp\.(?:pt|st|ct|sa|scim"
            rf"|audit)\.[A-Za-z0-9._-]{{36,60}}|tskey-(?:api|auth|client|scim"
            rf"|webhook)-[A-Za-z0-9]{{6,24}}-[A-Za-z0-9]{{16,50}}|fo1_[\w-]{{43}}"
            rf"|fm[12][ar]?_[A-Za-z0-9+/=,_-]{{60,2000}}|pul-[0-9a-f]{{40}}|sbp_[A-Za-z0-9]{{36,44}}"
            rf"|v[cp][pkcari]_[A-Za-z0-9]{{24,80}}|vc[a-z]_[A-Za-z0-9]{{24,80}}|rnd_[A-Za-z0-9]{{32}}"
            rf"|nfp_[A-Za-z0-9]{{36}}|HRKU-[\w-]{{36,70}}|scp-live-[0-9a-f]{{32}}|cloudflare_[\w-]{{40}}"
            rf"|v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{146}}|dapi[a-f0-9]{{32}}(?:-\d)?"
            rf"|ops_eyJ[A-Za-z0-9+/_-]{{100,3000}}={{0,3}}|lin_(?:api|oauth)_[A-Za-z0-9]{{32,64}}"
            rf"|dt0[a-zA-Z]\d{{2}}\.[A-Z0-9]{{24}}\.[A-Z0-9]{{64}}|sha256~[\w-]{{43}}|EZ[AT]K[A-Za-z0-9]{{54}}"
            rf"|sl\.[A-Za-z0-9_-]{{100,200}}){_E}"
        ),
    ),
    (
        "vault_token",
        (
            rf"{_B}(?:hv[sbr]\.[A-Za-z0-9_-]{{24,300}}|[sbr]\.[A-Za-z0-9]{{24}}{_E}"
            rf"|A3-[A-Z0-9]{{6}}-[A-Z0-9]{{6}}-[A-Z0-9]{{5}}-[A-Z0-9]{{5}}-[A-Z0-9]{{5}}-[A-Z0-9]{{5}}"
            rf"|A3-[A-Z0-9]{{6}}-[A-Z0-9]{{11}}-[A-Z0-9]{{5}}-[A-Z0-9]{{5}}-[A-Z0-9]{{5}})"
        ),
    ),
    (
        "service_token",
        (
            rf"{_B}(?:ATATT3[A-Za-z0-9_=-]{{40,250}}|ATCTT3[A-Za-z0-9_=-]{{40,250}}|ATBB[A-Za-z0-9]{{24,40}}"
            rf"|ATOA[A-Za-z0-9]{{20,80}}|shp(?:ss|at|ca|pa|ua|tka)_[A-Za-z0-9]{{32,40}}|sq0(?:atp|csp"
            rf"|idp)-[\w-]{{20,60}}|EAAA[\w-]{{56,64}}|EAA[A-Za-z0-9]{{1,3}}[A-Za-z0-9]{{80,300}}"
            rf"|secret_[A-Za-z0-9]{{43}}|ntn_\d{{11}}[A-Za-z0-9]{{32,40}}|PMAK-[a-f0-9]{{24}}-[a-f0-9]{{34}}"
            rf"|NR(?:AK|AA|RA|II|IQ|JS|BR)-[\w-]{{20,50}}|px-(?:dep|api)-{_UUID}"
            rf"|sntry[su]_[A-Za-z0-9+/=_-]{{60,400}}|(?<!\.)ico-[A-Za-z0-9]{{32}}|sgp_(?:[A-Fa-f0-9]{{16}}_|local_"
            rf"|[A-Fa-f0-9]{{16}}_local_)?[A-Fa-f0-9]{{40}}|slk_[a-f0-9]{{64}}|squ_[a-f0-9]{{40}}"
            rf"|sq[pa]_[a-f0-9]{{40}}|rdme_[a-z0-9]{{70}}|phx_[\w-]{{40,50}}|phc_[\w-]{{40,50}}|API-[A-Z0-9]{{26}}{_E}"
            rf"|hawk\.[\w-]{{18,24}}\.[\w-]{{18,24}}|VF\.(?:DM|WS)\.[a-f0-9]{{24}}\.\w{{14,20}}"
            rf"|pat[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}|pat-(?:na|eu)\d-{_UUID}|figd_[\w-]{{36,50}}"
            rf"|lobsters_\w{{30,40}}|CFPAT-[\w-]{{40,50}}|duffel_(?:test|live)_[\w-]{{40,50}}|shippo_(?:live"
            rf"|test)_[a-f0-9]{{40}}|FLW(?:SECK|PUBK)(?:_TEST)?-[a-hA-H0-9]{{12,32}}(?:-X)?|frameio"
            rf"|fio-u-[\w=-]{{60,70}}|dG9rO[A-Za-z0-9+/]{{40,60}}={{0,2}}|sk_[a-z]{{2,8}}_[A-Za-z0-9]{{24,80}}"
            rf"|sk_\d{{3,5}}_\d{{5,7}}_[a-f0-9]{{32}}|tkn\.v\d_[A-Za-z0-9+/=]{{60,120}}"
            rf"|prospect-access-[a-f0-9]{{32}}|storecove_\w{{30,50}}|glrt-[\w-]{{20}}|live_[A-Za-z0-9]{{28,40}}"
            rf"|access_token\$(?:production|sandbox)\$[a-z0-9]{{16}}\$[a-f0-9]{{32}}|ubdtoken_\w{{20,60}}"
            rf"|uk1?-[a-z0-9]{{30,40}}|ctp_[A-Za-z0-9]{{30,60}}|CCIPAT_\w{{20,30}}_[a-f0-9]{{40}}"
            rf"|bkua_[a-f0-9]{{40}}|ddp_[A-Za-z0-9]{{36}}|rpa_[A-Z0-9]{{40,50}}\w{{0,4}}|tfp_\w{{40,70}}"
            rf"|zpka_\w{{20,60}})"
        ),
    ),
)
"""Each begins with letters of its own, at the beginning of a word."""

_ANYWHERE: Final[tuple[tuple[str, str], ...]] = (
    ("aws_key", rf"amzn\.mws\.{_UUID}|bedrock-api-key-[A-Za-z0-9+/=]{{20,400}}"),
    (
        "webhook",
        (
            r"hooks\.slack\.com/(?:services|workflows"
            r"|triggers)/[A-Za-z0-9]{6,16}/[A-Za-z0-9]{6,20}/[A-Za-z0-9/]{12,80}"
            r"|discord(?:app)?\.com/api/webhooks/\d{16,20}/[\w-]{50,90}"
            r"|outlook\.office(?:365)?\.com/webhook/[0-9a-f-]{36}@|webhook\.office\.com/webhookb2/[0-9a-f-]{36}@"
            r"|hooks\.zapier\.com/hooks/catch/\d{4,12}/\w{6,12}"
            r"|chat\.googleapis\.com/v1/spaces/[\w-]{8,20}/messages\?key="
        ),
    ),
    (
        "azure_key",
        (
            r"(?:AccountKey|SharedAccessKey|SharedAccessSignature|Secret)=[A-Za-z0-9+/%]{40,120}={0,2}"
            r"|[?&]sig=[A-Za-z0-9%+/]{40,80}"
        ),
    ),
    (
        "password_hash",
        (
            r"\$(?:1|5|6|y|2[abxy]|argon2(?:id?|d)|7|scrypt|pbkdf2\w{0,10})\$[A-Za-z0-9./$=,+]{20,200}"
            r"|\$krb5\w{2,8}\$\d{1,2}\$"
        ),
    ),
)
"""The same, but in the middle of a word too."""

_MIDDLES: Final[tuple[tuple[str, str, str, int, int], ...]] = (
    ("mail_key", rf"{_B}[0-9a-f]{{32}}-us\d{{1,2}}{_E}", r"-us", 32, 3),
    ("mail_key", rf"{_B}[0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}{_E}", r"-[0-9a-f]{8}-", 32, 9),
    ("telegram_token", rf"{_B}\d{{8,10}}:AA[\w-]{{32,36}}{_E}", r":AA", 10, 37),
    ("discord_token", rf"{_B}[MNO][A-Za-z\d_-]{{23,27}}\.[\w-]{{6}}\.[\w-]{{27,40}}{_E}", r"\.[\w-]{6}\.", 28, 41),
    ("azure_key", rf"{_B}[a-zA-Z0-9_~.-]{{3}}\dQ~[a-zA-Z0-9_~.-]{{31,34}}", r"Q~", 4, 34),
    ("azure_key", rf"{_B}[A-Za-z0-9]{{52,80}}AZDO[A-Za-z0-9]{{4}}{_E}", r"AZDO", 80, 5),
    (
        "azure_key",
        rf"{_B}[A-Za-z0-9+/]{{30,90}}(?:\+ASt|\+AMC|\+ARm|AzFu|AzCa|ACDb|AzSe)[A-Za-z0-9+/]{{5,6}}={{0,2}}",
        r"\+(?:ASt|AMC|ARm)|A(?:z(?:Fu|Ca|Se)|CDb)",
        90,
        8,
    ),
    ("vault_token", rf"{_B}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,70}}", r"\.atlasv1\.", 14, 70),
    ("service_token", rf"{_B}[0-9a-f]{{36}}NRAL", r"NRAL", 36, 0),
)
"""Kind and pattern, the letters in the middle that tell it, and how far it may reach before and after them."""


@cache
def shapes() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Kind and pattern of each, compiled at the first use."""
    plain = (*_SHAPES, *_ANYWHERE, *(each[:2] for each in _MIDDLES))
    return tuple((kind, re.compile(source)) for kind, source in plain)


@cache
def finders() -> tuple[Anchors | Around, ...]:
    """All of it as few searches that go through a text once each."""
    beginning = [(kind, re.compile(source)) for kind, source in _SHAPES]
    anywhere = [(kind, re.compile(source)) for kind, source in _ANYWHERE]
    return (
        Anchors(beginning, before=_B),
        Anchors(anywhere),
        *(
            Around(kind, re.compile(source), re.compile(middle), before, after)
            for kind, source, middle, before, after in _MIDDLES
        ),
    )
