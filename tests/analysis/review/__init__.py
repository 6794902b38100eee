"""Reviews: judgements, accounts of luck and skill, remarks and pages."""
