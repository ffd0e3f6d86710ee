"""How long the records of attempts stay: as long as the dead letter or stored run that they belong to (spec/core.md Q6)."""

from __future__ import annotations

from engine_world import DAY, HOUR, MINUTE, Ending, World, nextskin


def kept(core: World, task: str) -> list[str]:
    return [past.outcome for past in core.store.tasks.attempts(task)]


def swept(core: World) -> None:
    while core.sweeper.run_once(core.now):
        pass


def test_records_from_before_a_retry_stay_as_long_as_the_second_dead_letter(core: World) -> None:
    """The count of attempts begins anew with the retry; the records are still there."""
    core.install(nextskin(jobs={"sync": {"maxAttempts": 1}}))
    core.hosts.script = lambda attempt: Ending("failure", "boom")
    task = core.enqueue().task_id
    core.step()
    core.clock.advance_to(core.now + 20 * DAY)
    core.store.tasks.retry([task], plugin="shop", now=core.now)
    core.step()
    core.clock.advance_to(core.now + 29 * DAY)
    swept(core)
    assert core.task(task).state == "dead"
    assert kept(core, task) == ["failure", "failure"]
    core.clock.advance_to(core.now + DAY)
    swept(core)
    assert (core.store.tasks.task(task), kept(core, task)) == (None, [])


def test_the_record_of_an_attempt_that_was_given_back_stays_with_the_dead_letter(core: World) -> None:
    core.install(nextskin(jobs={"sync": {"maxAttempts": 1}}))
    endings = [Ending("deferred"), Ending("failure", "boom")]
    core.hosts.script = lambda attempt: endings.pop(0)
    task = core.enqueue().task_id
    core.forward(HOUR, by=MINUTE)
    assert kept(core, task) == ["deferred", "failure"]
    core.clock.advance_to(core.now + 20 * DAY)
    swept(core)
    assert kept(core, task) == ["deferred", "failure"]


def test_many_dead_letters_at_once_keep_their_records_too(core: World) -> None:
    core.install(nextskin(jobs={"sync": {"maxAttempts": 1}}))
    core.hosts.script = lambda attempt: Ending("deferred" if attempt.claim == 1 else "failure", "boom")
    tasks = [core.enqueue().task_id for _ in range(3)]
    core.forward(HOUR, by=MINUTE)
    core.clock.advance_to(core.now + 20 * DAY)
    swept(core)
    assert [kept(core, task) for task in tasks] == [["deferred", "failure"]] * 3
