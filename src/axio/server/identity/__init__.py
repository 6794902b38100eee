"""Who somebody is: a guest with a signed cookie or token, a secret phrase, perhaps a password."""
