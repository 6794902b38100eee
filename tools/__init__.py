"""Programs that only developers run; the wheel does not contain them."""
