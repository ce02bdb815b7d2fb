"""Pure formulas and decisions on plain values, without input, output or a clock."""
