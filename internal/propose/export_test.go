package propose

// Choose proposes a role for a column of a table whose records are each about another
// person, to be published with a k of 5.
func Choose(c Column) Choice { return choose(c, count(c.Values, nil), defaultK) }
