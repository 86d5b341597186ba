"""Which manifest a folder has: one, none, two, or one of a dialect that is not read."""

import pytest

from helm_cli import dialects
from helm_cli.dialects import Reading
from helm_cli.model.content import Content
from helm_cli.model.errors import HelmError
from helm_cli.model.extension import Fault

MANIFEST = b'{"id": "x", "connections": []}'


def read(**files: bytes) -> Reading:
    return dialects.read(Content({name.replace("_", "."): data for name, data in files.items()}))


def only(reading: Reading) -> Fault:
    assert reading.extension is None
    (fault,) = reading.faults
    return fault


def test_no_manifest() -> None:
    expected = "the folder has no manifest.json, and no plugin.yaml either; make a new extension with `helm plugin new`"
    assert only(read()) == Fault(".", 1, 1, "", expected)
    assert only(read(README_md=b"", **{"sub/manifest_json": MANIFEST})).message == expected


def test_a_manifest_with_another_name() -> None:
    expected = "the folder has no manifest.json, and no plugin.yaml either; {} is not read, it must be named {}"
    assert only(read(Manifest_JSON=MANIFEST)).message == expected.format("Manifest.JSON", "manifest.json")
    assert only(read(plugin_yml=b"")).message == expected.format("plugin.yml", "plugin.yaml")


@pytest.mark.contract("P1")
def test_two_manifests() -> None:
    expected = "the folder has both manifest.json and plugin.yaml; an extension has one manifest, so remove one"
    assert only(read(manifest_json=MANIFEST, plugin_yaml=b"")) == Fault("plugin.yaml", 1, 1, "", expected)


def test_an_unknown_dialect_is_a_usage_error() -> None:
    for ask in (dialects.schema_text, dialects.reference):
        with pytest.raises(HelmError) as raised:
            ask("plugin.toml")
        assert raised.value.code == "usage"
        assert raised.value.message == 'there is no dialect "plugin.toml"; helm reads manifest.json, plugin.yaml'
