"""The nouns of the contract: records without input, output or third-party code."""
