"""docs/reference/services.md is what the service files say."""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.study import catalogue
from steelyard.study.reference import service_lines

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "services.md"
NAMES = catalogue.names("services")
INTRODUCTION = """\
# Services

The servers that a study can put under test, with every setting:
`service: {use: NAME, SETTING: ...}`. `steelyard service list` and `steelyard service show NAME`
print the same; this page is made from the service files themselves (`make golden-accept`).
[A file of your own](../guide/add-a-service.md) is used like them, and
[service-file.md](service-file.md)
says its keys.

A service is started anew for each trial, in a folder of its own, listens on the address of its
system, and is ended with every process it started. Nothing of the machine's own configuration is
read: what a package puts into `/etc` plays no part, and a server of the machine's own may run
beside it.
Limits that would refuse a load are set high or off by default; each is a setting, and every setting
is in the records. So are the versions; what a program says of its version in words that are not
recognised is quoted.

Where a program is missing, the session ends before the first trial and names the packages.

Test content is made on the machine before the start, from the setting `seed`: text that repeats
after 60 KiB, the same bytes for the same number. A filesystem or a server that compresses finds it
easy.

With `tls`, openssl makes a certificate for the address of the service, and the generator verifies
it.
"""


def page() -> str:
    services = (service_lines(name, catalogue.service(name)) for name in NAMES)
    return INTRODUCTION + "".join("\n" + "\n".join(lines).rstrip() + "\n" for lines in services)


def test_the_page_is_what_the_service_files_say() -> None:
    seen = page()
    if os.environ.get("STEELYARD_ACCEPT"):
        PAGE.write_text(seen, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == seen
