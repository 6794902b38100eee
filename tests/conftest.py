"""What all tests need."""

from __future__ import annotations

import signal

# Started in the background, a test run may have been told to ignore Ctrl-C, and would hand that on to the
# programs whose interruption it tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
