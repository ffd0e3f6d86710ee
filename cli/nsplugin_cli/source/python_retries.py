"""Whether a handler can ever raise ``RetryableError`` (spec/cogover.md X4)."""

from __future__ import annotations

from nsplugin_cli.source.python_evaluate import Evaluator
from nsplugin_cli.source.python_reach import Reacher
from nsplugin_cli.source.python_values import Function

_RETRYABLE = "RetryableError"


def never_retryable(evaluator: Evaluator, handler: Function) -> bool:
    """Whether all that a handler can run was read, and nothing of it names ``RetryableError``.

    Code that was not read (a module from elsewhere, a decorator, a value that was not evaluated) might raise it, so the
    answer is then no. The context's own services are taken to raise what their documentation says, which it is not.
    """
    reach = Reacher(evaluator).of(handler)
    named = any(name.rpartition(".")[2] == _RETRYABLE for name in reach.externals)
    whole_sdk = any(name.partition(".")[0] == "nsplugin" and name.rpartition(".")[2].islower() for name in reach.externals)
    return reach.complete and not named and not whole_sdk
