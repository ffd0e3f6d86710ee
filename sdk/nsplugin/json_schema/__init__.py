"""JSON Schema (draft 2020-12) for payloads: a light checker and evaluator with bounded steps, and words for people.

``nsplugin.payload_schema`` is the way in; it alone reaches for the jsonschema library, for the two keywords that stand outside.
"""
