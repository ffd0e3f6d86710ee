"""NSP402-404: what handlers do with payloads, secrets and failures. Precision first: what is not certain is not reported."""

from __future__ import annotations

import pytest

from nsplugin_cli.source.secret_names import looks_secret, may_name_secret
from python_sources import codes, problems, repository, text_at


def _indented(body: str) -> str:
    return "\n".join("    " + line for line in body.split("\n"))


def nextskin(body: str, before: str = "", job: str = "Job(expire)", parameters: str = "payload, ctx") -> str:
    return (
        f"import asyncio, json, logging, os\nfrom nsplugin import Job, define_plugin\n{before}\n"
        f"async def expire({parameters}):\n{_indented(body)}\n"
        f"plugin = define_plugin(capabilities=['storage.kv'], jobs={{'expire': {job}}})\n"
    )


def cogover(
    body: str, before: str = "", options: str = "max_attempts=8", parameters: str = "payload, data, jobs, log, secrets"
) -> str:
    return (
        f"import asyncio, json, os\nfrom nsplugin.cogover import define_job, RetryableError, ValidationError\n{before}\n"
        f"@define_job(key='sync', {options})\nasync def sync({parameters}):\n{_indented(body)}\n"
        "jobs = [sync]\n"
    )


UNCHECKED = {
    "await ctx.kv.delete(payload['key'])": "payload['key']",
    "await ctx.kv.delete(payload.get('key'))": "payload.get('key')",
    "key = payload['key']\nawait ctx.kv.delete(key)": "payload['key']",
    "await ctx.kv.delete(key := payload['key'])": "payload['key']",
    "await ctx.kv.delete(f'user:{payload[\"id\"]}')": 'payload["id"]',
    "await ctx.kv.set('x', {'a': payload['a'], 'b': [payload['b']]})": "payload['a']",
    "for key in payload['keys']:\n    await ctx.kv.delete(key)": "payload['keys']",
    "ctx.log.info('x', key=payload['key'])\nawait ctx.kv.get('a')": "payload['key']",
    "async def inner():\n    await ctx.kv.delete(payload['key'])\nawait inner()": "payload['key']",
    "await ctx.kv.delete(payload.key)": "payload.key",
    "await ctx.kv.delete(payload['user']['id'].strip())": "payload['user']",
    "print(payload['key'])\nawait ctx.kv.get('a')": "payload['key']",
    "name: str = payload['name']\nawait ctx.kv.get(name + '!')": "payload['name']",
    "a, b = payload['a'], payload['b']\nawait ctx.kv.get(a)": "payload['a']",
    "logging.info(payload['key'])\nawait ctx.kv.get('a')": "payload['key']",
}


@pytest.mark.parametrize(("body", "written"), list(UNCHECKED.items()))
def test_a_payload_that_nothing_looks_at_is_found_at_its_first_read(body: str, written: str) -> None:
    """spec/nextskin.md D7."""
    source = nextskin(body)
    (problem,) = problems(source)
    assert (problem.code, problem.pointer, text_at(source, problem.span)) == ("NSP402", "/jobs/expire", written)
    assert problem.message == f"{written} is used, and nothing checks what the payload holds"


CHECKED = [
    "key = Expire.model_validate(payload).key\nawait ctx.kv.delete(key)",
    "await ctx.kv.delete(Expire(**payload).key)",
    "validate(payload)\nawait ctx.kv.delete(payload['key'])",
    "jsonschema.validate(payload, SCHEMA)\nawait ctx.kv.delete(payload['key'])",
    "if not isinstance(payload, dict):\n    raise ValueError('x')\nawait ctx.kv.delete(payload['key'])",
    "key = payload['key']\nassert isinstance(key, str)\nawait ctx.kv.delete(key)",
    "key = payload.get('key')\nif not key:\n    return\nawait ctx.kv.delete(key)",
    "if payload:\n    await ctx.kv.delete(payload['key'])",
    "if 'key' in payload:\n    await ctx.kv.delete(payload['key'])",
    "assert payload['key']\nawait ctx.kv.delete(payload['key'])",
    "try:\n    key = payload['key']\nexcept (KeyError, TypeError):\n    return\nawait ctx.kv.delete(key)",
    "try:\n    await ctx.kv.delete(payload['key'])\nexcept Exception:\n    raise",
    "match payload:\n    case {'key': str(key)}:\n        await ctx.kv.delete(key)",
    "await ctx.kv.set('n', int(payload['n']))",
    "await ctx.kv.delete(clean(payload['key']))",
    "data = payload or {}\nawait ctx.kv.delete(data['key'])",
    "await ctx.kv.delete(payload['key'] if payload else 'x')",
    "while (n := payload['n']) > 0:\n    await ctx.kv.get('x')",
    "keys = [key for key in payload['keys'] if key]\nawait ctx.kv.get(keys)",
    "payload = check(payload)\nawait ctx.kv.delete(payload['key'])",
    "await ctx.kv.delete(TABLE[payload['kind']])",
    "self.key = payload['key']\nawait ctx.kv.get('a')",
    "await helper(payload, ctx)\nawait ctx.kv.get(payload['key'])",
    "await ctx.kv.get('fixed')",
    "await ctx.kv.set('last', payload)",
    "n = payload['n'] < 5\nawait ctx.kv.set('n', n)",
    "await asyncio.gather(*[ctx.kv.delete(key) for key in wanted(payload)])",
    "client = make()\nawait client.post(payload['url'])\nawait ctx.kv.get('a')",
]


@pytest.mark.parametrize("body", CHECKED)
def test_anything_that_may_be_a_check_counts_as_one(body: str) -> None:
    assert "NSP402" not in codes(nextskin(body, "from pydantic import BaseModel\nclass Expire(BaseModel):\n  key: str"))


@pytest.mark.parametrize(
    "job", ["Job(expire, payload=Expire)", "Job(expire, payload=elsewhere.Model)", "Job(expire, **more())"]
)
def test_a_job_with_a_model_or_unknown_options_is_left_alone(job: str) -> None:
    before = "from pydantic import BaseModel\nimport elsewhere\nclass Expire(BaseModel):\n  key: str"
    assert codes(nextskin("await ctx.kv.delete(payload.key)", before, job)) == []


def test_decorated_handlers_and_open_parameters_are_left_alone() -> None:
    source = nextskin("await ctx.kv.delete(payload['key'])")
    assert codes(source.replace("async def", "@traced\nasync def")) == []
    assert codes(nextskin("await ctx.kv.delete(payload['key'])", parameters="payload, ctx, **more")) == []


def test_an_annotation_is_no_check() -> None:
    before = "from pydantic import BaseModel\nclass Expire(BaseModel):\n  key: str"
    assert codes(nextskin("await ctx.kv.delete(payload.key)", before, parameters="payload: Expire, ctx")) == ["NSP402"]


@pytest.mark.parametrize(
    ("body", "parameters", "found"),
    [
        ("orders = data.object('order')\nawait orders.records.update(payload['id'], {})", "payload, data", "payload['id']"),
        ("await context.data.object('order').records.get(context.payload['id'])", "context", "context.payload['id']"),
        ("await data.object('order').records.get(payload.get('id'))", "payload, data", "payload.get('id')"),
    ],
)
def test_cogovers_payloads_are_input_too(body: str, parameters: str, found: str) -> None:
    """The source: treat the payload as a request's input."""
    source = cogover(body, options="timeout_ms=5000", parameters=parameters)
    assert [(problem.code, text_at(source, problem.span)) for problem in problems(source)] == [("NSP402", found)]


SECRETS = {
    "raise RuntimeError(f'refused {api_key}')": "api_key",
    "raise RuntimeError('refused ' + API_KEY)": "API_KEY",
    "raise RuntimeError('refused %s' % password)": "password",
    "raise RuntimeError('refused %s %s' % (1, ctx.password))": "ctx.password",
    "raise RuntimeError('refused {}'.format(config['db_password']))": "config['db_password']",
    "raise RuntimeError('refused', auth_token)": "auth_token",
    "raise RuntimeError(str(client_secret))": "client_secret",
    "key = await secrets.get('stripe')\nraise RuntimeError(f'refused {key}')": "key",
    "key = ctx.secrets.get('stripe')\nraise RuntimeError(f'refused {key!r}')": "key",
    "where = os.environ['DB_PASSWORD']\nraise RuntimeError(where)": "where",
    "where = os.getenv('API_KEY', '')\nraise RuntimeError(where)": "where",
    "def inner():\n    raise RuntimeError(f'refused {api_key}')\ninner()": "api_key",
    "try:\n    call()\nexcept OSError as error:\n    raise RuntimeError(f'{error} {api_key}') from error": "api_key",
}


@pytest.mark.parametrize(("body", "name"), list(SECRETS.items()))
def test_a_secret_in_an_exceptions_message_is_found(body: str, name: str) -> None:
    """spec/nextskin.md A5."""
    source = nextskin("await ctx.kv.get('a')\n" + body)
    (problem,) = problems(source)
    assert (problem.code, text_at(source, problem.span)) == ("NSP403", name)


@pytest.mark.parametrize(
    "body",
    [
        "raise RuntimeError('the password is wrong')",
        "raise RuntimeError(f'{len(password)} characters')",
        "raise RuntimeError(f'{mask(api_key)}')",
        "raise RuntimeError(f'page {next_token}')",
        "raise RuntimeError(f'{password_count} {secret_name} {api_key_id}')",
        "raise RuntimeError",
        "raise",
        "raise error",
        "ctx.log.info(f'{api_key}')",
        "import secrets\nnumber = secrets.randbelow(5)\nraise RuntimeError(number)",
        "try:\n    raise RuntimeError(api_key)\nexcept RuntimeError:\n    pass",
        "key = os.environ['HOME']\nraise RuntimeError(key)",
        "key = secrets.get('x')\nkey = 'public'\nraise RuntimeError(key)",
    ],
)
def test_what_shows_no_secret_is_left_alone(body: str) -> None:
    assert codes(nextskin("await ctx.kv.get('a')\n" + body)) == []


def test_helpers_that_a_handler_calls_are_looked_at() -> None:
    before = (
        "def call(api_key):\n    raise RuntimeError(f'refused {api_key}')\n"
        "def unused(api_key):\n    raise RuntimeError(api_key)"
    )
    source = nextskin("await ctx.kv.get('a')\ncall(1)", before)
    (problem,) = problems(source)
    assert (problem.code, problem.span and problem.span.line) == ("NSP403", 4)
    helper = "def call(api_key):\n    raise RuntimeError(f'refused {api_key}')\n"
    (problem,) = problems(nextskin("await ctx.kv.get('a')\nhelper.call(1)", "import helper"), repository({"helper.py": helper}))
    assert (problem.code, problem.path) == ("NSP403", "helper.py")


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("password", True),
        ("DB_PASSWORD", True),
        ("userPassword", True),
        ("apiKey", True),
        ("api_keys", True),
        ("clientSecret", True),
        ("ACCESS_TOKEN", True),
        ("credentials", True),
        ("private_key", True),
        ("APIKey", True),
        ("token", False),
        ("next_token", False),
        ("key", False),
        ("primary_key", False),
        ("secret_name", False),
        ("passwords_seen", False),
        ("monkey", False),
        ("", False),
        ("_", False),
    ],
)
def test_names_that_say_they_hold_secrets(name: str, secret: bool) -> None:
    assert looks_secret(name) is secret
    assert may_name_secret(f"raise Failed({name})") or not secret


HELPERS = """
class Failed(RuntimeError): ...
class Passing(RetryableError): ...
def call(): raise ConnectionError('down')
def again(): raise RetryableError('later')
def refuse(x):
    if not x: raise ValueError('bad')
"""
NEVER = [
    "raise RuntimeError('down')",
    "raise ConnectionError",
    "raise Failed('down')",
    "try:\n    await data.object('order').records.list()\n"
    "except ConnectionError as error:\n    raise RuntimeError('x') from error",
    "try:\n    await data.object('order').records.list()\nexcept Exception:\n    log.info('failed')\n    raise",
    "call()",
    "if not payload:\n    raise ValueError('bad')\nraise TimeoutError('slow')",
    "raise OSError(json.dumps({'a': 1}))",
]
PERHAPS = [
    "raise RetryableError('later')",
    "try:\n    call()\nexcept ConnectionError as error:\n    raise RetryableError('later') from error",
    "again()",
    "raise Passing('later')",
    "await elsewhere.call()\nraise RuntimeError('x')",
    "await unknown()\nraise RuntimeError('x')",
    "errors.get('x')\nraise RuntimeError('x')",
    "error = RetryableError\nraise error('x')",
    "raise nsplugin.cogover.RetryableError('x')",
    "import importlib\nimportlib.import_module('x').run()\nraise RuntimeError('x')",
    "eval('x')\nraise RuntimeError('x')",
    "await data.object('order').records.list()",
    "pass",
    "refuse(payload)",
    "if not payload:\n    raise ValueError('bad')",
    "if not payload:\n    raise ValidationError('bad')",
    "try:\n    json.loads('x')\nexcept ValueError:\n    raise",
    "try:\n    raise RuntimeError('x')\nexcept RuntimeError:\n    pass",
]


@pytest.mark.parametrize("body", NEVER)
def test_a_failure_that_nothing_makes_retryable_is_found_where_attempts_are_asked_for(body: str) -> None:
    """spec/cogover.md X4."""
    source = cogover(body, HELPERS)
    (problem,) = problems(source)
    assert (problem.code, problem.pointer, text_at(source, problem.span)) == ("NSP404", "/jobs/0/maxAttempts", "8")


@pytest.mark.parametrize("body", PERHAPS)
def test_a_handler_that_may_retry_or_never_fails_for_now_is_left_alone(body: str) -> None:
    before = HELPERS + "import elsewhere\nimport nsplugin.cogover\nerrors = make()"
    assert codes(cogover(body, before)) == []


@pytest.mark.parametrize("options", ["timeout_ms=5000", "max_attempts=1", "max_attempts=attempts()", "**more()"])
def test_only_attempts_that_were_asked_for_count(options: str) -> None:
    assert codes(cogover("raise RuntimeError('x')", options=options)) == []


def test_attempts_out_of_range_are_one_finding() -> None:
    assert codes(cogover("raise RuntimeError('x')", options="max_attempts=11")) == ["NSP104"]


def test_a_decorated_handler_may_do_anything() -> None:
    source = cogover("raise RuntimeError('x')").replace("async def", "@retrying\nasync def")
    assert codes(source) == []


def test_nextskin_retries_every_failure() -> None:
    source = nextskin("await ctx.kv.get('a')\nraise RuntimeError('x')", job="Job(expire, max_attempts=8)")
    assert codes(source) == []
