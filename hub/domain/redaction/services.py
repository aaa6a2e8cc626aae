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
    *(key("digitalocean", f"do{kind}_v1_", 64, 64, HEX) for kind in "por"),
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
        for name, prefixes, least, letters in (
            ("alchemy", "alcht_", 28, ALNUM),
            ("amazon", "amzn.mws.", 36, "a-f0-9-"),
            ("amp", "sgamp_user_", 40, ALNUM + "_"),
            ("apify", "apify_api_", 30, ALNUM),
            ("atlassian", "ATCTT3", 60, "=" + URLSAFE),
            ("axiom", "xaat- xapt-", 36, "a-f0-9-"),
            ("bitbucket", "BBDC-", 40, BASE64),
            ("brevo", "xkeysib- xsmtpsib-", 64, URLSAFE),
            ("browserbase", "bb_live_", 24, URLSAFE),
            ("buildkite", "bkct_ bkua_", 40, ALNUM),
            ("cal", "cal_live_", 32, HEX),
            ("circleci", "CCIPAT_ CCIPRJ_", 40, ALNUM + "_"),
            ("clojars", "CLOJARS_", 60, "a-z0-9"),
            ("cloudflare", "cfut_ cfat_ cfk_", 40, ALNUM),
            ("contentful", "CFPAT-", 40, URLSAFE),
            ("cursor", "crsr_", 40, ALNUM),
            ("dbt", "dbtc_ dbtu_", 32, URLSAFE),
            ("defined", "dnkey-", 60, "=" + URLSAFE),
            ("deno", "ddp_", 36, ALNUM),
            ("docker", "dckr_oat_", 24, URLSAFE),
            ("doppler", "dp.pt. dp.sa. dp.ct. dp.scim. dp.audit.", 40, ALNUM),
            ("doppler", "dp.st.", 40, "." + URLSAFE),
            ("duffel", "duffel_live_ duffel_test_", 40, "=" + URLSAFE),
            ("e2b", "e2b_", 40, HEX),
            ("figma", "figd_", 36, URLSAFE),
            ("flutterwave", "FLWSECK- FLWSECK_TEST-", 12, ALNUM + "-"),
            ("frameio", "fio-u-", 64, "=" + URLSAFE),
            ("friendli", "flp_", 40, ALNUM),
            ("grafana", "glc_eyJ", 32, BASE64),
            ("grafana", "glsa_", 32, ALNUM + "_"),
            ("heroku", "HRKU-", 36, URLSAFE),
            ("honeycomb", "hcaik_", 50, ALNUM),
            ("hubspot", "pat-na1- pat-eu1-", 32, "a-f0-9-"),
            ("huggingface", "api_org_", 30, ALNUM),
            ("intra42", "s-s4t2ud- s-s4t2af-", 64, HEX),
            ("jina", "jina_", 40, URLSAFE),
            ("jumpcloud", "jca_", 32, ALNUM),
            ("kaggle", "KGAT_", 32, ALNUM),
            ("langchain", "lsv2_pt_ lsv2_sk_", 32, ALNUM + "_"),
            ("langfuse", "sk-lf- pk-lf-", 30, "a-f0-9-"),
            ("linear", "lin_oauth_", 40, ALNUM),
            ("linkedin", "WPL_AP1.", 16, BASE64 + "."),
            ("logfire", "pylf_v1_", 40, ALNUM + "_"),
            ("mailersend", "mlsn.", 64, HEX),
            ("mongodb", "mdb_sa_sk_", 36, URLSAFE),
            ("neon", "napi_", 60, "a-z0-9"),
            ("netlify", "nfp_ nfc_ nfo_ nff_ nfu_", 36, ALNUM),
            ("newrelic", "NRAK- NRII- NRIQ-", 27, URLSAFE),
            ("onesignal", "os_v2_app_ os_v2_org_", 60, "a-z0-9"),
            ("paseto", "v2.local. v4.local.", 60, URLSAFE),
            ("pinecone", "pcsk_", 40, ALNUM + "_"),
            ("posthog", "phs_ phx_", 40, ALNUM),
            ("postman", "PMAK-", 40, "a-f0-9-"),
            ("prefect", "pnu_ pnb_", 36, ALNUM),
            ("readme", "rdme_", 70, "a-z0-9"),
            ("rubygems", "rubygems_", 40, HEX),
            ("shippo", "shippo_live_ shippo_test_", 40, HEX),
            ("shopify", "shpss_ shpca_ shppa_", 32, ALNUM),
            ("snyk", "snyk_uat. snyk_sat.", 40, ALNUM + "._-"),
            ("sonar", "sqa_ sqp_ squ_", 40, HEX),
            ("square", "sq0atp-", 22, URLSAFE),
            ("square", "sq0csp-", 40, URLSAFE),
            ("stytch", "secret-live- secret-test-", 36, "=" + URLSAFE),
            ("supabase", "sb_secret_", 24, URLSAFE),
            ("tailscale", "tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-", 20, ALNUM + "-"),
            ("tavily", "tvly-", 30, ALNUM + "-"),
            ("together", "tgp_v1_", 40, URLSAFE),
            ("trello", "ATTA", 64, HEX),
            ("typeform", "tfp_", 40, "." + URLSAFE),
            ("vercel", "vercel_blob_rw_", 40, ALNUM + "_"),
            ("vercel", "vcp_ vci_ vca_ vcr_ vck_", 40, ALNUM),
            ("wandb", "wandb_v1_", 60, URLSAFE),
            ("webhook", "whsec_", 24, BASE64),
            ("xata", "xau_", 32, ALNUM),
        )
        for prefix in prefixes.split()
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
            *(("yandex", "AQVN", size, URLSAFE) for size in (35, 36, 37, 38)),
            ("razorpay", "rzp_live_", 14, ALNUM),
            ("razorpay", "rzp_test_", 14, ALNUM),
            ("firecrawl", "fc-", 32, HEX),
            ("fireworks", "fw_", 22, ALNUM),
            ("elevenlabs", "sk_", 48, HEX),
            ("aws", "A3T", 17, UPPER),
            ("gitlab", "GR1348941", 20, URLSAFE),
            ("newrelic", "NRJS-", 19, HEX),
            ("octopus", "API-", 26, UPPER),
            ("pulumi", "pul-", 40, HEX),
            ("render", "rnd_", 28, ALNUM),
            ("sentry", "sntryu_", 64, HEX),
            *(("settlemint", f"sm_{kind}_", 16, ALNUM) for kind in ("aat", "pat", "sat")),
        )
    ),
    *(
        Rule(name, (prefix, LetterRun(letters, least, 512)), boundary=True, mixed=True)
        for name, prefix, least, letters in (
            ("facebook", "EAA", 100, ALNUM),
            ("instagram", "IGQV", 100, URLSAFE),
            ("intercom", "dG9rO", 54, BASE64),
            ("grafana", "eyJrIjoi", 70, BASE64),
            ("1password", "ops_eyJ", 200, BASE64 + "_-"),
            ("adobe", "p8e-", 32, ALNUM),
            ("discord", "mfa.", 80, URLSAFE),
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
    *(
        Rule("dynatrace", (f"dt0{kind}.", LetterRun(UPPER, 8, 24), ".", LetterRun(UPPER, 64, 64)), mixed=True)
        for kind in ("c01", "s16")
    ),
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
