"""JSON Schema (draft 2020-12) for payloads: a light checker and evaluator with bounded steps, and words for people.

``nsplugin.payload_schema`` is the way in.
"""
