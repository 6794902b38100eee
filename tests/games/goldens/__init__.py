"""What every game printed when it was last looked at: a change here is a change of the rules or of the deal.

`python -m tests.goldens.make` writes the files anew; look at the difference before you commit it.
"""
