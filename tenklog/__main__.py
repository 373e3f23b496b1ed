"""Main: this module runs the command line as `python -m tenklog`."""

from tenklog.cli import main

main()
