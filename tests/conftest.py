"""What holds for all tests."""

import signal

# A shell starts what is in the background deaf to Ctrl-C, and so would be all that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
