"""Reviews: judgements from what was known, accounts that add up, sentences, pages and commands."""
