"""The keys of services that hub does not broker, by what they begin with.

Owns: the table of those forms, as their makers publish them.
Must not: hold a form that a word, an id or a digest has as well, or know a structure that is nobody's own (`rules` does).
Tests: tests/hub/domain/redaction/test_rules.py
"""

from __future__ import annotations

from hub.domain.redaction.rule import ALNUM, BASE64, HEX, HEX_ANY, UPPER, URLSAFE, LetterRun, Rule, key

_ENTRA = ".~" + URLSAFE
_ENTRA_HEAD = rf"(?<=[{_ENTRA}]{{3}})(?<![{_ENTRA}]{{4}})(?<!:[0-9a-f]{{8}}\][{_ENTRA}]{{3}})"
"""Three letters stand before the version of a secret of Microsoft Entra; more, and it is part of something else."""


SERVICES: tuple[Rule, ...] = (
    *(
        key("gitlab", f"gl{kind}-", 18, 255)
        for kind in ("pat", "dt", "ft", "imt", "oas", "ptt", "rt", "soat", "agent", "cbt", "ffct", "wt")
    ),
    *(
        Rule(
            "slack",
            (f"xox{kind}-", LetterRun("0-9", 9, 16), "-", LetterRun(ALNUM + "-", 16, 255)),
            mixed=True,
        )
        for kind in "abcdeoprs"
    ),
    key("slack", "xoxd-", 60, 512, ALNUM + "%", mixed=True),
    *(
        key("slack", prefix, 40, 255, ALNUM + "-", mixed=True)
        for prefix in ("xoxe-1-", "xoxp-1-", "xoxb-1-", "xapp-")
    ),
    *(
        Rule("stripe", (f"{k}k_{mode}_", LetterRun(ALNUM, 20, 255)), boundary=True)
        for k in "sr"
        for mode in ("live", "test", "prod", "org_live", "org_test")
    ),
    key("npm", "npm_", 36, 64, ALNUM),
    key("pypi", "pypi-AgE", 50, 1024),
    key("digitalocean", "dop_v1_", 64, 64, HEX),
    key("digitalocean", "doo_v1_", 64, 64, HEX),
    key("digitalocean", "dor_v1_", 64, 64, HEX),
    key("docker", "dckr_pat_", 20, 64),
    key("shopify", "shpat_", 32, 32, "A-Fa-f0-9"),
    key("hashicorp", "hvs.", 24, 256),
    key("hashicorp", "hvb.", 24, 512),
    key("linear", "lin_api_", 32, 64, ALNUM),
    key("notion", "ntn_", 40, 64, ALNUM),
    key("atlassian", "ATATT3", 60, 512, "=" + URLSAFE),
    key("sentry", "sntrys_eyJ", 40, 512, BASE64 + "_"),
    key("supabase", "sbp_", 40, 64, HEX),
    key("planetscale", "pscale_", 32, 128, "=." + URLSAFE),
    *(
        key(name, prefix, least, 512, letters)
        for name, prefix, least, letters in (
            ("apify", "apify_api_", 30, ALNUM),
            ("brevo", "xkeysib-", 64, URLSAFE),
            ("contentful", "CFPAT-", 40, URLSAFE),
            ("doppler", "dp.pt.", 40, ALNUM),
            ("doppler", "dp.st.", 40, "." + URLSAFE),
            ("figma", "figd_", 36, URLSAFE),
            ("flutterwave", "FLWSECK_TEST-", 12, ALNUM + "-"),
            ("flutterwave", "FLWSECK-", 12, ALNUM + "-"),
            ("grafana", "glsa_", 32, ALNUM + "_"),
            ("grafana", "glc_eyJ", 32, BASE64),
            ("hubspot", "pat-na1-", 32, "a-f0-9-"),
            ("hubspot", "pat-eu1-", 32, "a-f0-9-"),
            ("langchain", "lsv2_pt_", 32, ALNUM + "_"),
            ("langchain", "lsv2_sk_", 32, ALNUM + "_"),
            ("langfuse", "sk-lf-", 30, "a-f0-9-"),
            ("newrelic", "NRAK-", 27, ALNUM),
            ("paseto", "v2.local.", 60, URLSAFE),
            ("paseto", "v4.local.", 60, URLSAFE),
            ("pinecone", "pcsk_", 40, ALNUM + "_"),
            ("postman", "PMAK-", 40, "a-f0-9-"),
            ("rubygems", "rubygems_", 40, HEX),
            ("shopify", "shpss_", 32, ALNUM),
            ("shopify", "shpca_", 32, ALNUM),
            ("shopify", "shppa_", 32, ALNUM),
            *(("sonar", f"sq{kind}_", 40, HEX) for kind in "apu"),
            ("square", "sq0csp-", 40, URLSAFE),
            ("square", "sq0atp-", 22, URLSAFE),
            ("tailscale", "tskey-auth-", 20, ALNUM + "-"),
            ("tailscale", "tskey-api-", 20, ALNUM + "-"),
            ("typeform", "tfp_", 40, "." + URLSAFE),
            ("webhook", "whsec_", 24, BASE64),
            ("alchemy", "alcht_", 28, ALNUM),
            ("amp", "sgamp_user_", 40, ALNUM + "_"),
            ("atlassian", "ATCTT3", 60, "=" + URLSAFE),
            ("axiom", "xaat-", 36, "a-f0-9-"),
            ("axiom", "xapt-", 36, "a-f0-9-"),
            ("bitbucket", "BBDC-", 40, BASE64),
            ("brevo", "xsmtpsib-", 64, URLSAFE),
            ("buildkite", "bkct_", 40, ALNUM),
            ("cal", "cal_live_", 32, HEX),
            ("cursor", "crsr_", 40, ALNUM),
            ("dbt", "dbtc_", 32, URLSAFE),
            ("dbt", "dbtu_", 32, URLSAFE),
            *(("doppler", f"dp.{kind}.", 40, ALNUM) for kind in ("sa", "ct", "scim", "audit")),
            ("browserbase", "bb_live_", 24, URLSAFE),
            ("docker", "dckr_oat_", 24, URLSAFE),
            ("e2b", "e2b_", 40, HEX),
            ("friendli", "flp_", 40, ALNUM),
            ("honeycomb", "hcaik_", 50, ALNUM),
            ("huggingface", "api_org_", 30, ALNUM),
            ("jina", "jina_", 40, URLSAFE),
            ("jumpcloud", "jca_", 32, ALNUM),
            ("kaggle", "KGAT_", 32, ALNUM),
            ("langfuse", "pk-lf-", 30, "a-f0-9-"),
            ("linear", "lin_oauth_", 40, ALNUM),
            ("linkedin", "WPL_AP1.", 16, BASE64 + "."),
            ("logfire", "pylf_v1_", 40, ALNUM + "_"),
            ("mongodb", "mdb_sa_sk_", 36, URLSAFE),
            *(("netlify", f"nf{kind}_", 36, ALNUM) for kind in "pcofu"),
            ("onesignal", "os_v2_app_", 60, "a-z0-9"),
            ("onesignal", "os_v2_org_", 60, "a-z0-9"),
            ("posthog", "phs_", 40, ALNUM),
            ("shippo", "shippo_live_", 40, HEX),
            ("snyk", "snyk_uat.", 40, ALNUM + "._-"),
            ("snyk", "snyk_sat.", 40, ALNUM + "._-"),
            ("stytch", "secret-live-", 36, "=" + URLSAFE),
            ("stytch", "secret-test-", 36, "=" + URLSAFE),
            ("supabase", "sb_secret_", 24, URLSAFE),
            *(("tailscale", f"tskey-{kind}-", 20, ALNUM + "-") for kind in ("client", "scim", "webhook")),
            ("tavily", "tvly-", 30, ALNUM + "-"),
            ("trello", "ATTA", 64, HEX),
            ("xata", "xau_", 32, ALNUM),
        )
    ),
    *(
        Rule(name, (prefix, LetterRun(letters, most, most)), boundary=True, exact=True, mixed=True)
        for name, prefix, most, letters in (
            ("alibaba", "LTAI", 20, ALNUM),
            ("databricks", "dapi", 32, HEX),
            ("notion", "secret_", 43, ALNUM),
            ("tencent", "AKID", 32, ALNUM),
            ("sourcegraph", "sgp_", 40, HEX_ANY),
            ("easypost", "EZAK", 54, ALNUM),
            ("easypost", "EZTK", 54, ALNUM),
            ("openshift", "sha256~", 43, URLSAFE),
            ("backblaze", "K00", 28, BASE64),
            ("bitbucket", "ATBB", 32, ALNUM),
            ("crates", "cio", 32, ALNUM),
            ("cursor", "key_", 64, HEX),
            ("fireworks", "fw_", 24, ALNUM),
            ("jfrog", "AKCp", 69, ALNUM),
            ("jfrog", "cmVmdGtu", 56, ALNUM),
            ("launchdarkly", "sdk-", 36, "a-f0-9-"),
            ("nuget", "oy2", 43, "a-z0-9"),
            ("yandex", "AQVN", 36, URLSAFE),
            ("razorpay", "rzp_live_", 14, ALNUM),
            ("razorpay", "rzp_test_", 14, ALNUM),
            ("firecrawl", "fc-", 32, HEX),
            ("fireworks", "fw_", 22, ALNUM),
            ("elevenlabs", "sk_", 48, HEX),
        )
    ),
    *(
        Rule(name, (prefix, LetterRun(letters, least, 512)), boundary=True, mixed=True)
        for name, prefix, least, letters in (
            ("facebook", "EAA", 100, ALNUM),
            ("instagram", "IGQV", 100, URLSAFE),
            ("intercom", "dG9rO", 54, BASE64),
            ("confluent", "cflt", 60, BASE64),
            ("dropbox", "sl.", 120, URLSAFE),
            ("dropbox", "sl.u.", 120, URLSAFE),
        )
    ),
    *(
        Rule("plaid", (f"access-{place}-", LetterRun("a-f0-9-", 36, 36)), mixed=True)
        for place in ("production", "sandbox", "development")
    ),
    Rule(
        "braintree", ("access_token$", LetterRun("a-z", 7, 10), "$", LetterRun("a-z0-9$", 40, 64)), mixed=True
    ),
    Rule(
        "resend",
        ("re_", LetterRun(ALNUM, 8, 8), "_", LetterRun(ALNUM, 24, 24)),
        boundary=True,
        exact=True,
        mixed=True,
    ),
    Rule(
        "clickup", ("pk_", LetterRun("0-9", 6, 10), "_", LetterRun(UPPER, 32, 32)), boundary=True, exact=True
    ),
    Rule("mapbox", ("sk.eyJ", LetterRun(URLSAFE, 30, 512), ".", LetterRun(URLSAFE, 20, 64)), mixed=True),
    Rule(
        "yandex",
        ("t1.", LetterRun("=" + URLSAFE, 60, 512), ".", LetterRun(URLSAFE, 86, 86)),
        boundary=True,
        mixed=True,
    ),
    Rule("dynatrace", ("dt0s16.", LetterRun(UPPER, 8, 24), ".", LetterRun(UPPER, 64, 64)), mixed=True),
    Rule(
        "1password",
        ("A3-", LetterRun(UPPER, 6, 6), "-", LetterRun(UPPER, 6, 11), "-", LetterRun(UPPER + "-", 17, 17)),
        boundary=True,
        exact=True,
        mixed=True,
    ),
    *(
        Rule("azure", (f"{version}Q~", LetterRun(_ENTRA, 31, 34)), exact=True, before=_ENTRA_HEAD)
        for version in range(10)
    ),
    Rule("azure", ("sig=", LetterRun(BASE64 + "%_-", 43, 128, secret=True)), boundary=True, mixed=True),
    Rule("sendgrid", ("SG.", LetterRun(URLSAFE, 16, 64), ".", LetterRun(URLSAFE, 16, 128))),
    Rule(
        "telegram",
        ("api.telegram.org/bot", LetterRun("0-9", 6, 16), ":", LetterRun(URLSAFE, 30, 64, secret=True)),
    ),
    Rule(
        "sourcegraph",
        ("sgp_", LetterRun(HEX_ANY, 16, 16), "_", LetterRun(HEX_ANY, 40, 40)),
        boundary=True,
        exact=True,
    ),
    Rule("sourcegraph", ("sgp_local_", LetterRun(HEX_ANY, 40, 40)), boundary=True, exact=True),
    *(
        Rule("fly", (f"fm{kind}_", LetterRun(BASE64 + ",", 80, 1024)), boundary=True)
        for kind in ("1r", "1a", "2")
    ),
    key("fly", "fo1_", 40, 64, mixed=True),
    Rule("age", ("AGE-SECRET-KEY-1", LetterRun(UPPER, 40, 58))),
)
"""Keys of other services, as far as they are common; a detection engine knows hundreds."""
