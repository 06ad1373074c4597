"""The contract kit: inherit a class, fill in samples, run pytest. Public.

Import the parts you need from the modules of this package, for example
``from localdb_core.testing.parser import ParserContract, Sample``.
"""
