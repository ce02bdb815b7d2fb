"""The pure floor: formulas and decisions on plain values; no input, no output, no clock."""
