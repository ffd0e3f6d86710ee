"""Signed cookies of the administration page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsplugin_core.admin.sessions import FLASH_S, SESSION_S, Sessions, is_token


class Time:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_session_is_read_back_until_it_runs_out() -> None:
    time = Time()
    sessions = Sessions(time)
    session = sessions.start("token")
    cookie = sessions.cookie(session)
    assert sessions.read(cookie) == session
    time.now += SESSION_S - 1
    assert sessions.read(cookie) == session
    time.now += 1
    assert sessions.read(cookie) is None


def test_a_session_that_was_ended_is_over_though_its_cookie_is_kept() -> None:
    sessions = Sessions(Time())
    session, other = sessions.start("token"), sessions.start("token")
    sessions.end(session)
    assert sessions.read(sessions.cookie(session)) is None
    assert sessions.read(sessions.cookie(other)) == other


@given(st.text(max_size=80), st.integers(0, 200))
def test_no_cookie_but_ours_is_a_session(text: str, place: int) -> None:
    sessions = Sessions(Time())
    cookie = sessions.cookie(sessions.start("open"))
    changed = cookie[:place] + text + cookie[place + 1 :]
    for forged in (text, f"{text}.{text}", *([changed] if changed != cookie else [])):
        assert sessions.read(forged) is None
        assert sessions.read_flash(forged) is None


def test_one_purpose_s_signature_is_no_other_s() -> None:
    sessions = Sessions(Time())
    assert sessions.read(sessions.flash("done", "token.1.x")) is None
    assert sessions.read_flash(sessions.cookie(sessions.start("token"))) is None
    assert Sessions(Time()).read(sessions.cookie(sessions.start("token"))) is None


def test_a_form_s_token_is_of_one_session_and_one_user() -> None:
    sessions = Sessions(Time())
    session = sessions.start("open")
    token = sessions.form_token(session, "ada")
    assert sessions.is_form_token(session, "ada", token)
    assert not sessions.is_form_token(session, "bob", token)
    assert not sessions.is_form_token(sessions.start("open"), "ada", token)
    assert not sessions.is_form_token(session, "ada", "")


def test_a_message_is_for_the_next_page_only() -> None:
    time = Time()
    sessions = Sessions(time)
    cookie = sessions.flash("failed", "Nothing. Was. Done – ổn")
    assert sessions.read_flash(cookie) == ("failed", "Nothing. Was. Done – ổn")
    time.now += FLASH_S
    assert sessions.read_flash(cookie) is None
    long = sessions.read_flash(sessions.flash("done", "ồ" * 5000))
    assert long is not None and len(long[1]) == 600 and long[1].endswith("…")


@pytest.mark.parametrize("given_token", ["", "secret-secret-secret ", "Secret-secret-secret", "\ud800", "ü" * 20])
def test_only_the_token_is_the_token(given_token: str) -> None:
    assert not is_token("secret-secret-secret", given_token)
    assert is_token("secret-secret-secret", "secret-secret-secret")
