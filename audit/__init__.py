"""What Steelyard depends on: licences, sources, advisories, and a bill of materials.

Not part of the package: ``make audit``, ``make licences`` and ``make sbom`` run it from a checkout.
"""
