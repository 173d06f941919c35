"""The Diario Oficial de la Federación."""
