"""The background process that keeps connections warm and makes whole calls for others."""
