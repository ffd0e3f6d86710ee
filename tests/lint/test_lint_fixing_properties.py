"""Mending any small plugin: never for the worse, once is enough, nothing outside literals and names changes."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from lint_world import PLUGIN
from nsplugin_cli.lint.fixing import mend
from nsplugin_cli.lint.judging import Judged, Setting, judge

FIELDS = st.sampled_from(["*", "0", "5/10", "MON", "JAN-MAR", "?", "60", "1-5", "*/0", "SUN,TUE", "L", "7", "\u00a03", "\\t1"])
TEXTS = st.one_of(
    st.sampled_from(["@daily", "@hourly", "@every 5m", "", "@reboot"]),
    st.lists(FIELDS, min_size=4, max_size=6).map(" ".join),
)
JOBS = st.sampled_from(["tidy", "tidi", "Tidy", "tidyy", "other", "1tidy", ""])
KEYS = st.sampled_from(["max_attempts", "max_attempt", "maxAttempts", "timeout", "timeout_m", "retries", "max-attempts"])
QUOTES = st.sampled_from(['"', "'", '"""'])
LITERAL = re.compile(r"""(\"\"\"|"|')(.*?)\1|\b(?:max|timeout|retries)\w*(?==)""")


def judged(data: bytes) -> Judged:
    return judge(data, "plugin.py", Setting(), None)


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, job=JOBS, key=KEYS, quote=QUOTES, ends=st.sampled_from(["\n", "\r\n"]), mark=st.sampled_from(["", "\ufeff"]))
def test_mending(text: str, job: str, key: str, quote: str, ends: str, mark: str) -> None:
    source = PLUGIN.replace('"EXPRESSION"', f"{quote}{text}{quote}").replace('job="tidy"', f"job='{job}'")
    option = f"**{{'{key}': 3}}" if "-" in key else f"{key}=3"
    source = mark + source.replace("Job(tidy)", f"Job(tidy, {option})").replace("\n", ends)
    data = source.encode()
    mended = mend("plugin.py", data, judged, lambda found: found.problems)
    before = Counter(problem.code for problem in judged(data).problems)
    if mended is None:
        return
    after = Counter(problem.code for problem in judged(mended.after).problems)
    assert after < before and mended.findings == before.total() - after.total() > 0
    assert mend("plugin.py", mended.after, judged, lambda found: found.problems) is None
    assert LITERAL.sub("x", mended.after.decode()) == LITERAL.sub("x", source)
