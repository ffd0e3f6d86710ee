"""What the administration page does, over HTTP."""

from __future__ import annotations

import httpx
import pytest

from admin_world import Site, post, text_of
from engine_world import SECOND, Ending, nextskin

SHOP = "/admin/plugins/shop"
LETTERS = f"{SHOP}/dead-letters"


def stored(page: Site, ids: list[str]) -> list[str | None]:
    tasks = [page.core.store.tasks.task(each) for each in ids]
    return [task and task.state for task in tasks]


def test_one_dead_letter_is_retried_from_0_attempts(page: Site, client: httpx.Client) -> None:
    """spec/nextskin.md A1, A2"""
    ids = page.bury(3)
    answer = post(client, f"{LETTERS}/retry", one=ids[1], task=[ids[0]])
    assert "1 dead letter was queued again." in text_of(answer.text)
    assert str(answer.url).endswith("/admin/plugins/shop")
    assert stored(page, ids) == ["dead", "queued", "dead"]
    assert page.core.task(ids[1]).attempt == 0


def test_selected_dead_letters_are_retried(page: Site, client: httpx.Client) -> None:
    ids = page.bury(3)
    answer = post(client, f"{LETTERS}/retry", task=[ids[0], ids[2], ids[0], "TSKNONE"])
    text = text_of(answer.text)
    assert "2 dead letters were queued again. 1 was not there any more: retried or deleted meanwhile." in text
    assert stored(page, ids) == ["queued", "dead", "queued"]


def test_a_dead_letter_whose_key_is_taken_is_dropped(page: Site, client: httpx.Client) -> None:
    """spec/nextskin.md A2"""
    ids = page.bury(1, dedupeKey="k")
    page.core.enqueue(payload=None, dedupeKey="k", delaySec=60)
    answer = post(client, f"{LETTERS}/retry", one=ids[0])
    assert "1 dead letter was dropped, because an unfinished task has the same key." in text_of(answer.text)
    assert stored(page, ids) == [None]


def test_all_are_retried_once_that_is_confirmed(page: Site, client: httpx.Client) -> None:
    ids = page.bury(4)
    asked = post(client, f"{LETTERS}/retry-all")
    assert "Retry 4 dead letters?" in text_of(asked.text)
    assert stored(page, ids) == ["dead"] * 4
    done = post(client, f"{LETTERS}/retry-all", confirmed="yes")
    assert "4 dead letters were queued again." in text_of(done.text)
    assert stored(page, ids) == ["queued"] * 4
    assert "There are no dead letters any more." in text_of(post(client, f"{LETTERS}/retry-all").text)


def test_dead_letters_are_deleted_once_that_is_confirmed(page: Site, client: httpx.Client) -> None:
    """spec/nextskin.md A1"""
    ids = page.bury(3)
    asked = text_of(post(client, f"{LETTERS}/delete", one=ids[0]).text)
    assert f"Delete 1 dead letter? Its payload and error are gone then, and nothing brings them back. {ids[0]} sync:" in asked
    assert stored(page, ids) == ["dead"] * 3
    done = post(client, f"{LETTERS}/delete", task=[ids[0]], confirmed="yes")
    assert "1 dead letter was deleted." in text_of(done.text)
    assert stored(page, ids) == [None, "dead", "dead"]
    again = post(client, f"{LETTERS}/delete", task=ids, confirmed="yes")
    assert "2 dead letters were deleted. 1 was not there any more" in text_of(again.text)


def test_many_are_named_shortly_before_they_are_deleted(page: Site, client: httpx.Client) -> None:
    ids = page.bury(13)
    asked = post(client, f"{LETTERS}/delete", task=ids)
    assert "Delete 13 dead letters?" in text_of(asked.text) and "and 3 more" in text_of(asked.text)
    assert [asked.text.count(f'value="{each}"') for each in ids] == [1] * 13


def test_all_of_a_job_are_deleted_and_no_others(page: Site, client: httpx.Client) -> None:
    page.core.install(nextskin("shop", jobs={"sync": {"maxAttempts": 1}, "mail": {"maxAttempts": 1}}))
    sync, mail = page.bury(2), page.bury(2, job="mail")
    asked = post(client, f"{LETTERS}/delete-all", job="mail")
    assert "Delete 2 dead letters?" in text_of(asked.text) and "all of the job mail" in text_of(asked.text)
    done = post(client, f"{LETTERS}/delete-all", job="mail", confirmed="yes")
    assert str(done.url).endswith("/admin/plugins/shop?job=mail")
    assert stored(page, sync + mail) == ["dead", "dead", None, None]


@pytest.mark.parametrize("action", ["retry", "delete"])
def test_nothing_selected_does_nothing(page: Site, client: httpx.Client, action: str) -> None:
    ids = page.bury(1)
    answer = post(client, f"{LETTERS}/{action}")
    assert "Nothing was selected: tick the dead letters that you mean first." in text_of(answer.text)
    assert stored(page, ids) == ["dead"]


@pytest.mark.parametrize("action", ["retry", "delete"])
def test_what_is_no_dead_letter_is_left_alone(page: Site, client: httpx.Client, action: str) -> None:
    waiting = page.core.enqueue(payload=None, delaySec=60).task_id
    answer = post(client, f"{LETTERS}/{action}", task=[waiting, "\0", "<b>"], confirmed="yes")
    assert "3 were not there any more" in text_of(answer.text)
    assert stored(page, [waiting]) == ["queued"]


def test_a_retry_on_a_task_s_own_page_leads_back_to_it(page: Site, client: httpx.Client) -> None:
    (task,) = page.bury(1)
    answer = post(client, f"{LETTERS}/retry", one=task, **{"from": "task"})
    assert str(answer.url).endswith(f"/admin/plugins/shop/tasks/{task}")
    assert "sync queued" in text_of(answer.text)


def test_disabling_keeps_tasks_and_enabling_goes_on(page: Site, client: httpx.Client) -> None:
    """spec/nextskin.md A4"""
    waiting = page.core.enqueue(payload=None).task_id
    answer = post(client, f"{SHOP}/disable")
    assert "shop is disabled. Its tasks are kept; none starts until it is enabled." in text_of(answer.text)
    page.core.step()
    assert stored(page, [waiting]) == ["queued"]
    assert "shop was disabled already." in text_of(post(client, f"{SHOP}/disable").text)
    answer = post(client, f"{SHOP}/enable")
    assert "shop is enabled. Its waiting tasks start when they are due." in text_of(answer.text)
    page.core.step()
    assert stored(page, [waiting]) == [None]


@pytest.mark.parametrize("typed", ["", "Shop", "sho", "shop.", "yes"])
def test_uninstalling_needs_the_id(page: Site, client: httpx.Client, typed: str) -> None:
    answer = post(client, f"{SHOP}/uninstall", typed=typed)
    assert "Nothing was removed: what was typed is not the plugin's id, shop." in text_of(answer.text)
    assert page.core.store.registry.installed("shop") is not None


def test_uninstalling_removes_everything(page: Site, client: httpx.Client) -> None:
    """spec/nextskin.md A4"""
    ids = page.bury(2)
    assert "2 dead letters, 2 schedules, and everything that the plugin has stored." in text_of(
        client.get(f"{SHOP}/uninstall").text
    )
    answer = post(client, f"{SHOP}/uninstall", typed=" shop ")
    assert "shop is uninstalled, and 2 tasks with it." in text_of(answer.text)
    assert page.core.store.registry.installed("shop") is None and stored(page, ids) == [None, None]
    assert client.get(SHOP).status_code == 404


def test_a_message_is_shown_once(page: Site, client: httpx.Client) -> None:
    assert "shop is disabled." in post(client, f"{SHOP}/disable").text
    assert "shop is disabled." not in client.get(SHOP).text


def test_a_message_waits_for_a_whole_page(page: Site, client: httpx.Client) -> None:
    post(client, f"{SHOP}/disable", start=f"{SHOP}/uninstall")
    post_only = client.get(SHOP)
    assert post_only.status_code == 200
    answer = client.post(f"{SHOP}/enable", data={"token": post_only.text.partition('name="token" value="')[2][:64]})
    assert answer.status_code == 303
    fragment = client.get(SHOP, headers={"X-Nsplugin-Fragment": "1"})
    assert "shop is enabled." not in fragment.text
    assert "shop is enabled." in client.get(SHOP).text


@pytest.mark.parametrize("action", ["enable", "disable", "uninstall", "dead-letters/retry", "dead-letters/delete-all"])
def test_nothing_is_done_by_a_link(page: Site, client: httpx.Client, action: str) -> None:
    page.bury(1)
    before = client.get(SHOP).text
    client.get(f"{SHOP}/{action}", params={"confirmed": "yes", "typed": "shop"})
    page.core.clock.advance_to(page.core.now)
    assert text_of(client.get(SHOP).text) == text_of(before)


@pytest.mark.parametrize("action", ["enable", "disable", "uninstall", "dead-letters/retry", "dead-letters/delete-all"])
def test_a_plugin_that_is_gone_is_said_to_be(page: Site, client: httpx.Client, action: str) -> None:
    answer = post(client, f"/admin/plugins/gone/{action}", typed="gone", confirmed="yes")
    assert answer.status_code == 404 and "No plugin 'gone' is installed here" in text_of(answer.text)


def test_what_was_retried_runs(page: Site, client: httpx.Client) -> None:
    ids = page.bury(2)
    page.core.hosts.script = lambda attempt: Ending()
    post(client, f"{LETTERS}/retry-all", confirmed="yes")
    page.core.step()
    page.core.forward(SECOND)
    assert stored(page, ids) == [None, None]
    assert "Dead letters None." in text_of(client.get(SHOP).text)
