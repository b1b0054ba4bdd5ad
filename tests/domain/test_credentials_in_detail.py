"""What is taken for a secret and what is not, bound by bound: shapes, blocks, named values, sentences (D4, C5).

No secret in this file opens anything: all were made up for it.
"""

from __future__ import annotations

import pytest

from minutebook.domain.checks import check_entry
from minutebook.domain.checks.credentials import find_credentials, redact_credentials, secrets
from minutebook.domain.checks.placeholders import entropy, is_cut, is_padded, is_placeholder
from minutebook.domain.checks.spots import Runs

MIXED = "x9Y8z7W6v5U4t3S2"
LONGER = "q7Wd9Kx2Lm5Tz8Rb4Vn1"
BEGIN = "-----BEGIN RSA PRIVATE KEY-----"
BODY = "MIIEowIBAAKCAQEA"
GITHUB = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def found(text: str) -> list[tuple[str, str]]:
    return [(secret.kind, text[secret.start : secret.stop]) for secret in secrets(text)]


# --- what is told and what is taken out


def test_a_finding_names_the_kind_in_words_and_the_place() -> None:
    text = f"The bot uses {GITHUB} and, at home, pw=abcde7."
    assert [(each.code, each.message, each.span) for each in find_credentials(text)] == [
        ("credential", "it looks like a secret (github token); keep it in a vault and note where it is", (13, 53)),
        ("credential", "it looks like a secret (named value); keep it in a vault and note where it is", (71, 77)),
    ]


def test_redaction_leaves_all_else_as_it_was_and_counts() -> None:
    assert redact_credentials(f"one {GITHUB} two {GITHUB}.") == (
        "one [redacted:github_token] two [redacted:github_token].",
        2,
    )
    assert redact_credentials(GITHUB) == ("[redacted:github_token]", 1)
    assert redact_credentials("nothing here") == ("nothing here", 0)
    assert redact_credentials("") == ("", 0)


def test_of_two_readings_of_one_place_the_one_that_says_more_stays() -> None:
    assert found(f"token = {GITHUB}") == [("github_token", GITHUB)]
    assert found("secret=abcde7") == [("password", "abcde7")]


def test_what_overlaps_is_one_secret_from_the_first_place_to_the_last() -> None:
    """Given a header whose value begins with a token and goes on, then the whole value is one secret."""
    text = f"Authorization: Bearer {GITHUB}.{MIXED} is sent"
    assert found(text) == [("authorization", f"{GITHUB}.{MIXED}")]
    assert found(f"{GITHUB} {GITHUB}") == [("github_token", GITHUB)] * 2
    assert found(f"https://ann:{GITHUB}@db.example.com/x") in (
        [("url_password", GITHUB)],
        [("github_token", GITHUB)],
    )


def test_of_two_that_overlap_the_first_is_taken_out_as_far_as_the_second_goes() -> None:
    """Given a password in an address that looks like a named value, then all of it is one, between its neighbours."""
    address = "https://ann:xpw=q7Wd9Kx2@db.example.com"
    assert found(address) == [("url_password", "xpw=q7Wd9Kx2@db.example.com")]
    assert found(f"{GITHUB} and {address} and {GITHUB}") == [
        ("github_token", GITHUB),
        ("url_password", "xpw=q7Wd9Kx2@db.example.com"),
        ("github_token", GITHUB),
    ]
    assert found(f"token={GITHUB}{GITHUB[4:]}, {GITHUB}")[1:] == [("github_token", GITHUB)]


def test_a_password_longer_than_its_pattern_reads_is_taken_out_whole() -> None:
    assert found(f"The password is {'hunter77' * 20} now") == [("password", "hunter77" * 20)]


def test_the_end_of_a_secret_that_is_longer_than_its_pattern_is_a_part_of_it() -> None:
    long = "glc_" + LONGER * 21  # more than the 400 that the pattern takes
    assert found(f"see {long} there") == [("grafana_token", long)]
    assert found(f"see {long}.=~_ there") == [("grafana_token", f"{long}.=~_")]
    wide = "glc_" + (LONGER * 21)[:400]
    assert found(f"see {wide} there") == [("grafana_token", wide)]
    assert found(f"see {wide}. There") == [("grafana_token", wide)]


def test_what_follows_a_short_secret_is_not_a_part_of_it() -> None:
    assert found(f"see {GITHUB}-and-more") == [("github_token", GITHUB)]
    assert found(f"{'one two ' * 20}{GITHUB}-and-more") == [("github_token", GITHUB)]


@pytest.mark.parametrize("rest", ["...", "…", "***", "##########"])
def test_a_secret_that_is_cut_is_none(rest: str) -> None:
    assert found(f"It says {GITHUB}{rest}") == []
    assert found(f"It says {GITHUB} and") == [("github_token", GITHUB)]
    assert found(f"It says {GITHUB}{rest} and {GITHUB}") == [("github_token", GITHUB)]


@pytest.mark.parametrize(
    ("rest", "cut"),
    [
        ("..", True),
        ("abcd..", True),
        ("abcde..", False),
        (".", False),
        ("…", True),
        ("***", True),
        ("**", False),
        ("[redacted]", True),
        ("<REDACTED>", True),
        ("ab(redacted)", True),
        ("", False),
        (" ...", False),
    ],
)
def test_a_value_is_cut_where_dots_or_stars_take_its_place(rest: str, cut: bool) -> None:
    assert is_cut(f"abc{rest}", 3) == cut
    assert is_cut(f"...{rest}", 3) == cut


# --- addresses


@pytest.mark.parametrize(
    ("text", "password"),
    [
        ("https://ann:q7Wd9Kx2@db.example.com/x", "q7Wd9Kx2"),
        ("amqp://ann:p@ss7w0rd@db.example.com/x", "p@ss7w0rd"),
        ("https://anne:anne@db.example.com/x", "anne"),
        ("https://:q7Wd9Kx2@db.example.com", "q7Wd9Kx2"),
        ("https://ann:q7Wd9Kx2@@db.example.com", "q7Wd9Kx2@"),
        ("https://zed:q7Wd9Kx2@localhost/x", "q7Wd9Kx2"),
        ("redis://anne:annebel7@localhost:80/x", "annebel7"),
        ("https://anne:anne@mylocalhost:80/x", "anne"),
    ],
)
def test_a_password_in_an_address_is_one(text: str, password: str) -> None:
    assert found(f"See {text} there") == [("url_password", password)]
    far = f"{'Nothing to see here, move along. ' * 10}{text}"
    assert found(far) == [("url_password", password)]


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "db", "postgres", "mysql", "redis", "rabbitmq", "mongo", "0.0.0.0", "db:5432"]
)
def test_a_name_for_a_password_on_a_machine_of_ones_own_is_a_sample(host: str) -> None:
    assert found(f"postgres://anne:anne@{host}/app") == []
    assert found(f"postgres://anne:q7Wd9Kx2@{host}/app") == [("url_password", "q7Wd9Kx2")]


def test_a_placeholder_in_an_address_is_none() -> None:
    assert found("https://ann:changeme@db.example.com/x") == []
    assert found("https://ann:your@password@db.example.com/x") == []


# --- keys of several lines, cookies


def test_a_private_key_is_taken_out_with_its_end() -> None:
    text = f"see {BEGIN}\n{BODY}\n-----END RSA PRIVATE KEY-----\nrest"
    assert found(text) == [("private_key", f"{BEGIN}\n{BODY}\n-----END")]
    assert found(f"see {BEGIN}\n{BODY}") == [("private_key", f"{BEGIN}\n{BODY}")]
    assert found(f"see {BEGIN}\n{BODY}-----END") == [("private_key", f"{BEGIN}\n{BODY}-----END")]


def test_two_private_keys_are_two_secrets_and_the_text_between_them_stays() -> None:
    one = f"{BEGIN}\n{BODY}\n-----END"
    text = f"{one} RSA PRIVATE KEY----- and {one} RSA PRIVATE KEY-----"
    assert found(text) == [("private_key", one)] * 2
    assert redact_credentials(text) == (
        "[redacted:private_key] RSA PRIVATE KEY----- and [redacted:private_key] RSA PRIVATE KEY-----",
        2,
    )


@pytest.mark.parametrize(
    "text",
    [
        BEGIN,
        f"{BEGIN}\n{BODY[:15]}\n-----END RSA PRIVATE KEY-----",
        f"{BEGIN}\n-----END RSA PRIVATE KEY-----\n{BODY}",
        f"{BEGIN}{' ' * 1985}{BODY}",
        f"{' ' * 1969}{BEGIN}\n-----END RSA PRIVATE KEY-----\n{BODY}",
        f"{BEGIN}{' ' * 1985}{BODY}-----END",
        f"{BEGIN}{BODY}{' ' * (20_001 - 16)}-----END",
        "-----BEGIN PUBLIC KEY-----\nMIIEowIBAAKCAQEA\n-----END PUBLIC KEY-----",
    ],
)
def test_the_lines_around_a_key_alone_stand_in_every_manual(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("text", [f"{BEGIN}{' ' * 1984}{BODY}", f"{BEGIN}{BODY}{' ' * (20_000 - 16)}-----END"])
def test_a_key_may_begin_late_and_be_long(text: str) -> None:
    assert found(text) == [("private_key", text)]
    assert found(f"{' ' * 32_730}{BEGIN}\n{BODY}\n-----END") == [("private_key", f"{BEGIN}\n{BODY}\n-----END")]


def test_beginnings_without_a_key_do_not_hide_the_key_after_them() -> None:
    key = f"{BEGIN}\n{BODY}\n-----END"
    manual = f"{BEGIN}\n...\n-----END RSA PRIVATE KEY-----"
    assert found(f"{manual}\n{key} RSA PRIVATE KEY-----") == [("private_key", key)]
    assert found(f"{BEGIN} and {key}") == [("private_key", f"{BEGIN} and {key}")] or found(f"{BEGIN} and {key}") == [
        ("private_key", key)
    ]
    assert found(f"{manual}\n{manual}\n{key}") == [("private_key", key)]


def test_keys_of_one_line_are_keys_too() -> None:
    age = "AGE-SECRET-KEY-1" + "QZ7" * 19 + "A"
    assert found(f"the file holds {age} alone") == [("private_key", age)]
    assert found("PuTTY-User-Key-File-3: ssh-rsa") == [("private_key", "PuTTY-User-Key-File-3:")]
    assert found(f"PuTTY-User-Key-File-2: x, {age}") == [
        ("private_key", "PuTTY-User-Key-File-2:"),
        ("private_key", age),
    ]


def test_a_cookie_of_a_session_is_a_secret_and_a_drawn_one_is_not() -> None:
    text = "It sent Cookie: a=b; sessionid=q7Wd9Kx2Lm5Tz8Rb back"
    assert found(text) == [("session_cookie", "Cookie: a=b; sessionid=q7Wd9Kx2Lm5Tz8Rb")]
    assert found("It sent Cookie: sessionid=xxxxxxxxxxxxxxxxxxxx back") == []


# --- drawings of tokens


@pytest.mark.parametrize(
    "token",
    [
        "ghp_" + "x" * 36,
        "ghp_" + "A" * 36,
        "ghp_" + "yourtokenhere" * 3,
        "glpat-" + "your-token-goes-here",
        "glpat-" + "ab" * 10,
        "ghp_" + "aab" * 11 + "aac",
        "glpat-" + "q7Wd9Kx2Lm5Tz_aaaaabab",
        "ghp_" + "A1b2C3xxxxxxD3e4F5g6H7i8J9k0L1m2N3o4"[:36],
        "AKIA" + "IOSFODNN7EXAMPLE",
    ],
)
def test_a_drawing_of_a_token_is_none(token: str) -> None:
    assert found(f"Say {token} here") == []


@pytest.mark.parametrize(
    ("kind", "token"),
    [
        ("gitlab_token", "glpat-" + LONGER),
        ("gitlab_token", "glpat-" + "q7Wd9Kx2Lm5Tz8_aaaabab"),
        ("github_token", "ghp_" + "abcd" * 9),
        ("aws_key", "AKIA" + "QZ7WD9KX2LM5TZ8R"),
        ("stripe_key", "sk_live_" + LONGER),
        ("sendgrid_key", f"SG.{LONGER}.{LONGER}{LONGER}"),
        ("telegram_token", "123456789:AA" + "q7Wd9Kx2Lm5Tz8Rb4Vn1q7Wd9Kx2Lm5Tz"),
    ],
)
def test_a_token_is_found_wherever_it_stands(kind: str, token: str) -> None:
    padding = "Nothing to see here, move along. "
    for text in (token, f"It is {token}", f"It is {token}, see", f"{padding * 5}\n{token}\n{padding}", f"x{token}"):
        expected = [] if text == f"x{token}" and kind != "telegram_token" else [(kind, token)]
        if text != f"x{token}":
            assert found(text) == expected


@pytest.mark.parametrize(
    ("token", "padded"),
    [
        ("a" * 8, True),
        ("a" * 7, False),
        ("ghp_aaaaaaaa", True),
        ("abcdefghijklmnop" + "z" * 8, False),
        ("abcdef" + "z" * 8, True),
        ("abcd" + "z" * 8, True),
        ("1111222233334444", False),
    ],
)
def test_one_character_over_and_over_is_a_drawing(token: str, padded: bool) -> None:
    assert is_padded(token) == padded


def test_entropy_is_counted_in_bits_for_each_character() -> None:
    assert entropy("") == 0.0
    assert entropy("aaaa") == 0.0
    assert entropy("abab") == 1.0
    assert entropy("abcd") == 2.0
    assert entropy("abcdefgh") == 3.0
    assert round(entropy("aab"), 3) == 0.918


# --- placeholders

PLACEHOLDERS = [
    "",
    '""',
    "-",
    "aa--bb",
    "AbBa",
    "1x1x",
    "yourkey",
    "mypwis",
    "some token",
    "your-key",
    "<whatever>",
    "$API_KEY",
    "${X9}",
    "{{ x9 }}",
    "%X9%",
    "os.environ['X9']",
    "process.env.X9",
    "vault:x9/y8",
    "op://x9/y8",
    "SOME_NAME9",
    "get_secret9(x",
    "settings.x9",
    "a.b",
    "./x9/y8",
    "https://x9.example",
    "n/a",
    "NONE",
    "tbd",
    "******",
    "change_me9",
    "put-your-9",
    "my-token-here-9",
    "xxxxxxxx9",
    "postgres://host9/db9",
    "team/app9/db",
    "passphrase",
    "placeholder",
    "credentials",
    "your.",
    "'your'",
    " your ",
    "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
    "'sk_test_4eC39HqLyjWDarjtT1zdp7dc';",
    "your" * 50,
]
VALUES = [
    "abc",
    "abcab",
    "value12",
    "userkeyx",
    "xuserkey",
    "hunter77",
    "correcthorse",
    MIXED,
    "your" * 51,
    "userkey1",
    "ab-c",
]


@pytest.mark.parametrize("value", PLACEHOLDERS)
def test_what_a_template_says_in_place_of_a_value_is_none(value: str) -> None:
    assert is_placeholder(value)
    assert found(f'password: "{value}"') == [] or value in ("sk_test_4eC39HqLyjWDarjtT1zdp7dc",)


@pytest.mark.parametrize("value", VALUES)
def test_what_is_a_value_is_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)


# --- commands and headers


@pytest.mark.parametrize(
    ("text", "kind", "secret"),
    [
        (f"curl -u ann:{MIXED} https://x.example", "basic_auth", MIXED),
        ("curl --user ann:hunter77 https://x.example", "basic_auth", "hunter77"),
        ("machine h login ann password hunter77", "password", "hunter77"),
        ("MySQL host/db/anne/anne123", "password", "anne123"),
        ("psexec -u ann -p hunter77", "password", "hunter77"),
        ("Authorization: Bearer q7Wd9Kx2Lm5Tz8R", "authorization", "q7Wd9Kx2Lm5Tz8R"),
        ("X-Api-Key: q7Wd9Kx2Lm5T", "authorization", "q7Wd9Kx2Lm5T"),
        (f"bearer {MIXED}", "authorization", MIXED),
    ],
)
def test_a_password_in_a_command_or_a_header_is_one(text: str, kind: str, secret: str) -> None:
    assert found(text) == [(kind, secret)]
    assert found(f"We run this:\n{text}") == [(kind, secret)]


@pytest.mark.parametrize(
    "text",
    [
        "curl -u ann:changeme https://x.example",
        "machine h login ann password changeme",
        "MySQL host/db/anne/bob123",
        "psexec -u ann -p $PASSWORD",
        "Authorization: Bearer abcdefghijklmnop",
        "Authorization: Bearer 1234567890123456",
        "X-Api-Key: q7Wd9Kx2Lm5",
        "bearer abcdefghijklmnopqrst",
    ],
)
def test_a_command_or_a_header_without_a_value_is_none(text: str) -> None:
    assert found(text) == []


# --- sentences


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The password is hunter77.", "hunter77"),
        ("The password is hunter77,", "hunter77"),
        ("The password is abcde7", "abcde7"),
        ('The password is "correcthorse".', "correcthorse"),
        ('The password is "Abcde"', "Abcde"),
        ('The password is "abcde7"', "abcde7"),
        ('The password is "abcd-"', "abcd-"),
        ("The passphrase for the vault is now hunter77", "hunter77"),
        ("Das Passwort ist hunter77", "hunter77"),
        ("password: a/bc7de-77", None),
        ("password: Ab/c7de", "Ab/c7de"),
    ],
)
def test_what_a_sentence_calls_a_password_is_one(text: str, secret: str | None) -> None:
    assert found(text) == ([("password", secret)] if secret else [])
    assert found(f"Note. {text}") == ([("password", secret)] if secret else [])


@pytest.mark.parametrize(
    "text",
    [
        'The password is "abcd"',
        'The password is "Abc7"',
        'The password is "abcde"',
        'The password is "abcdefg"',
        "The password is abcd7",
        "The password is abcdefgh",
        "The password is 1234567",
        "The password is 在第3页的表格里",
        "The password is -1234567",
        "The password is ABCDEFG",
        "The password is Abcdefgh",
        "The password is ;abcde77",
        "password: /abc7de",
        "password: x/abc7de",
        "password: sha256abc",
        "password: abcde77?",
        "password: get_pass77()",
        "password: changeme",
        "password: 90-day-rule7",
    ],
)
def test_a_word_of_prose_is_no_password(text: str) -> None:
    assert found(text) == []


# --- named values


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"token = {MIXED}", MIXED),
        (f"token = {MIXED}.", MIXED),
        (f"token = {MIXED}]}}", MIXED),
        (f'"token": "{MIXED}"', MIXED),
        ("pw=abcde7", "abcde7"),
        ("token = Ab/c/d/e1.fghijkl0mnop", "Ab/c/d/e1.fghijkl0mnop"),
        (f"TOKEN = {MIXED}", MIXED),
        ('client_secret: "correcthorse"', "correcthorse"),
        (f"password_policy = {MIXED}", MIXED),
        (f"webhook={MIXED}", MIXED),
        (f"the key {MIXED}", MIXED),
        (f"the key {MIXED}.", MIXED),
        (f"the private key {MIXED}", MIXED),
        (f"use api key {MIXED}", MIXED),
        (f"deploy_key = {LONGER}", LONGER),
        (f"deploy_key = {LONGER}.", LONGER),
        ("token = " + "abcdefgh1234ijkl", "abcdefgh1234ijkl"),
    ],
)
def test_a_random_value_beside_a_name_that_says_so_is_a_secret(text: str, secret: str) -> None:
    assert [value for _, value in found(text)] == [secret]
    assert [value for _, value in found(f"Note that {text}")] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        f"token = {MIXED[:15]}",
        "token=abcde7",
        "auth=hunter77",
        "pw=correcthorse",
        "token = A/b/c/d/e1.fghijkl0mnop",
        "token = abcdefghijklmnopqrst",
        "token = 12345678901234567890",
        "token = aaaabbbb1111aaaa",
        "token = some-plain-words-in-the-row1",
        "token = a/b/c/d/e1.fghijkl0mnop",
        f"token[{MIXED}]",
        f"secret({MIXED})",
        "password_policy = abcde7",
        "password_file = abcde7",
        "passwords.length=abcde7",
        "secret = v2-abcde7",
        f"public key {MIXED}",
        f"access {MIXED}",
        f"private {MIXED}",
        f"the key {MIXED[:15]}",
        f"sha256 key {MIXED}",
        f"the token md5: {MIXED}",
        f"public_key = {LONGER}",
        f"deploy_id = {LONGER}",
        f"deploy_key = {LONGER[:19]}",
        f"commit hash = {LONGER}",
        "deploy_key = your-key-goes-here-9-your-token",
    ],
)
def test_a_value_that_is_not_random_or_not_secret_is_none(text: str) -> None:
    assert found(text) == []


def test_the_length_of_a_value_says_how_mixed_it_has_to_be() -> None:
    """Given up to 19 characters, 2.8 bits for each are enough; from 20 on it takes 3."""
    eight = "abcdefg1" * 3
    for length, is_secret in ((16, True), (19, True), (20, False), (23, False), (24, True)):
        assert bool(found(f"token = {eight[:length]}")) == is_secret, length
    assert found(f"token = {('abcdef1' * 3)[:17]}") == []  # 2.79 bits


# --- where in a long text a token can stand


def test_a_short_text_is_taken_as_it_is_and_of_a_long_one_what_is_long_enough() -> None:
    short = f"a b {LONGER} c".ljust(120)
    assert Runs(short).text == short
    assert Runs(f"{short} ").text == f"\n{LONGER}"
    long = f"short {'x' * 14} {'y' * 13} {'z' * 15} " + "a " * 60
    assert Runs(long).text == f"\n{'x' * 14}\n{'z' * 15}"


def test_every_place_of_the_runs_leads_back_to_its_place_in_the_text() -> None:
    long = f"{'n o ' * 20}{LONGER} {'no ' * 20}{MIXED}\n{'q' * 20_001}{LONGER} {MIXED}"
    runs = Runs(long)
    assert runs.text == f"\n{LONGER}\n{MIXED}\n{'q' * 20_001}{LONGER}\n{MIXED}"
    for at, char in enumerate(runs.text):
        assert char in ("\n", long[at + runs.shift(at)])
    assert [Runs("abc").shift(at) for at in (0, 1, 2)] == [0, 0, 0]


# --- cards


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("The card 4012888888881881 expires 12/29", "4012888888881881"),
        ("The card 4012-8888-8888-1881 expires 12/29", "4012-8888-8888-1881"),
        ("amex 371449635398431", "371449635398431"),
        ("card 4444444444444448", "4444444444444448"),
        ("card 4556737586899855", "4556737586899855"),
        ("4012 8888 8888 1881 is our visa", "4012 8888 8888 1881"),
        (f"card{' ' * 86}4012888888881881", None),
        (f"card{' ' * 70}4012888888881881", "4012888888881881"),
        (f"card{' ' * 71}4012888888881881", None),
        (f"4012888888881881{' ' * 74}card", "4012888888881881"),
        (f"4012888888881881{' ' * 75}card", None),
    ],
)
def test_a_card_stands_near_a_word_that_speaks_of_one(text: str, card: str | None) -> None:
    assert found(text) == ([("payment_card", card)] if card else [])


@pytest.mark.parametrize(
    "number",
    ["4012888888881882", "4242424242424242", "0000000000000000", "4012888888881871", "5555555555554444"],
)
def test_a_number_that_does_not_add_up_or_stands_in_a_manual_is_no_card(number: str) -> None:
    assert found(f"The card {number} expires 12/29") == []


def test_two_cards_are_two_and_a_card_with_two_words_beside_it_is_one() -> None:
    text = "visa card 4012888888881881 exp 12/29 cvv 123, amex card 371449635398431 cvc 99"
    assert found(text) == [("payment_card", "4012888888881881"), ("payment_card", "371449635398431")]


# --- in whatever dress


def test_a_secret_with_its_letters_set_apart_is_found_and_has_no_place() -> None:
    spaced = " ".join(GITHUB)
    found_in = [finding for finding in check_entry(f"It is {spaced}") if finding.code == "credential"]
    assert [(each.span, "github token" in each.message) for each in found_in] == [(None, True)]


def test_a_secret_in_an_encoding_is_found_at_the_place_of_the_encoding() -> None:
    import base64

    wrapped = base64.b64encode(f"the token is {GITHUB} and {GITHUB}".encode()).decode()
    found_in = [finding for finding in check_entry(f"It is {wrapped} ok") if finding.code == "credential"]
    assert [(each.span, "github token" in each.message) for each in found_in] == [((6, 6 + len(wrapped)), True)]


def test_a_secret_in_the_open_is_told_once() -> None:
    found_in = [finding for finding in check_entry(f"It is {GITHUB} b y t h e w a y") if finding.code == "credential"]
    assert [each.span for each in found_in] == [(6, 46)]
