"""The wallet's entries: every figure by its name on the wire, and none made up."""

from hub.actors.quota import wallet
from hub.api.convert import unstructure
from hub.domain.quota.burn import begin, observe
from hub.domain.quota.spending import DAY, NOTHING, Spender, Spending, spend
from hub.domain.quota.wallet import prospect
from hub.domain.quota.window import QuotaReading
from tests.hub.domain.quota.test_wallet import NOW, seen, soon


def entry(provider, account, prospects, now, spending=NOTHING):
    return unstructure(wallet.entry(provider, account, prospects, now, spending))


def test_an_entry_tells_every_figure_with_its_source_and_age():
    """Spec: remaining, total, fractionUsed, resetsAt, source, burnPerMin, etaMinutes."""
    found = entry("claude", "work", [seen(425, found=soon(115))], NOW)
    owner = ("provider", "account", "tokensToday", "tokensElsewhere")
    [window] = found.pop("windows")
    assert (window.pop("rises"), window.pop("burned")) == ([], [])
    assert window.pop("burnedSince") == found["readAt"]
    assert window == {k: v for k, v in found.items() if k not in owner}
    assert found == {
        "provider": "claude", "account": "work", "tokensToday": 0, "tokensElsewhere": 0,
        "window": "five_hour", "remaining": 57, "total": 100,
        "unit": "percent", "fractionUsed": 0.425, "resetsAt": "2026-11-18T12:06:40.000Z", "source": "stream",
        "readAt": "2026-11-18T11:06:35.000Z", "ageSeconds": 5, "burnPerMin": 0.5, "etaMinutes": 115,
        "etaLowMinutes": 57.5, "etaHighMinutes": 230, "forecast": "ready",
    }  # fmt: skip


def test_a_known_whole_is_told_in_tokens():
    found = entry("gemini", "a", [seen(250, "day", cap=2_000_000, source="declared", found=soon(10))], NOW)
    assert (found["remaining"], found["total"], found["unit"]) == (1_500_000, 2_000_000, "tokens")
    assert found["burnPerMin"] == 10_000


def test_nothing_left_is_nothing_and_not_less():
    assert entry("claude", "work", [seen(1100)], NOW)["remaining"] == 0


def test_what_nobody_told_is_null():
    """An account of which nothing is known has no figures, not zeros."""
    found = entry("claude", "work", [], NOW)
    assert (found["source"], found["forecast"], found["windows"]) == ("none", "accumulating", [])
    assert {found[name] for name in ("remaining", "total", "fractionUsed", "resetsAt", "etaMinutes")} == {
        None
    }
    assert found.keys() == entry("claude", "work", [seen(1)], NOW).keys()
    bare = entry("claude", "work", [seen(100, resets_in=None)], NOW)
    assert (bare["resetsAt"], bare["burnPerMin"], bare["etaMinutes"]) == (None, None, None)


def test_todays_tokens_are_told_and_how_many_of_them_were_spent_without_hub():
    spending = Spending(int(NOW // DAY), 1200, NOW, elsewhere=200)
    for prospects in ([], [seen(100)]):
        found = entry("claude", "work", prospects, NOW, spending)
        assert (found["tokensToday"], found["tokensElsewhere"]) == (1200, 200)
        later = entry("claude", "work", prospects, NOW + DAY, spending)
        assert (later["tokensToday"], later["tokensElsewhere"]) == (0, 0)


def test_a_window_tells_how_its_meter_came_to_stand_there():
    """From the first reading on; of many rises the newest."""
    burn = begin(QuotaReading("claude", "work", "five_hour", 100, None, "stream", NOW - 900))
    for at, used in enumerate(range(110, 900, 10)):
        burn = observe(
            burn, QuotaReading("claude", "work", "five_hour", used, None, "stream", NOW - 800 + at)
        )
        if used == 120:
            [window] = entry("claude", "work", [prospect(burn, NOW)], NOW)["windows"]
            assert [rise["fractionUsed"] for rise in window["rises"]] == [0.1, 0.11, 0.12]
            assert window["rises"][0]["at"] == "2026-11-18T10:51:40.000Z"
    [window] = entry("claude", "work", [prospect(burn, NOW)], NOW)["windows"]
    assert (len(window["rises"]), window["rises"][-1]["fractionUsed"]) == (64, 0.89)


def test_each_window_tells_who_spent_what_since_it_began():
    """The short window what came after its first reading, a declared day all since midnight UTC."""
    midnight = NOW // DAY * DAY
    spending = spend(NOTHING, 1000, midnight + 60, by=Spender("s-early", "m"))
    spending = spend(spending, 50, NOW - 60, by=Spender("s-late"))
    burn = begin(QuotaReading("claude", "work", "five_hour", 100, None, "stream", NOW - 900))
    windows = [prospect(burn, NOW), seen(250, "day", midnight + DAY - NOW, cap=4000, source="declared")]
    day, hours = entry("claude", "work", windows, NOW, spending)["windows"]
    late = {"sessionId": "s-late", "model": "", "tokens": 50}
    assert day["burned"] == [{"sessionId": "s-early", "model": "m", "tokens": 1000}, late]
    assert day["burnedSince"] == "2026-11-18T00:00:00.000Z"
    assert (hours["burned"], hours["burnedSince"]) == ([late], hours["rises"][0]["at"])
