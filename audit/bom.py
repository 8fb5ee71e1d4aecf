"""What is shipped, as a bill of materials in the form of CycloneDX."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from audit.package import Package
from audit.policy import ROOT

_LICENCES = LicenseFactory()
_URL_TYPES = {"crate": "cargo", "python": "pypi"}


def bill(
    packages: Iterable[Package], python_needs: Iterable[str], engine_needs: Iterable[str]
) -> Bom:
    """Of the package and its engine: each component with version, licence, hash where known.

    ``python_needs`` and ``engine_needs`` are the keys of what the two use themselves.
    """
    shipped: dict[tuple[str, str], Package] = {
        (each.kind, each.key): each for each in packages if each.shipped
    }
    made = {key: _component(each) for key, each in shipped.items()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    whole = _own("steelyard", project["version"], project["license"])
    engine = _own("steelyard-engine", project["version"], project["license"])
    bom = Bom()
    bom.metadata.component = whole
    bom.components.update([engine, *made.values()])
    bom.register_dependency(whole, [engine, *_those(made, "python", python_needs)])
    bom.register_dependency(engine, _those(made, "crate", engine_needs))
    for (kind, key), component in made.items():
        bom.register_dependency(component, _those(made, kind, shipped[kind, key].needs))
    return bom


def written(bom: Bom, path: Path) -> None:
    """As JSON; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(JsonV1Dot6(bom).output_as_string(indent=2) + "\n")


def _those(
    made: Mapping[tuple[str, str], Component], kind: str, keys: Iterable[str]
) -> list[Component]:
    return [made[kind, key] for key in keys if (kind, key) in made]


def _component(package: Package) -> Component:
    url = PackageURL(_URL_TYPES[package.kind], name=package.name, version=package.version)
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=package.sha256)] if package.sha256 else []
    return Component(
        type=ComponentType.LIBRARY,
        name=package.name,
        version=package.version,
        bom_ref=url.to_string(),
        purl=url,
        licenses=[_LICENCES.make_from_string(package.licence)] if package.licence else [],
        hashes=hashes,
    )


def _own(name: str, version: str, licence: str) -> Component:
    return Component(
        type=ComponentType.APPLICATION,
        name=name,
        version=version,
        bom_ref=f"{name}@{version}",
        licenses=[_LICENCES.make_from_string(licence)],
    )
