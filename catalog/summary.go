package catalog

// checkSummary refuses a stored summary of a table that has none: its rows would not be those of classes.
func (b *builder) checkSummary() {
	policy := b.publication.Policy
	switch {
	case policy.Summary == SummaryView:
	case policy.Summary != SummaryStored:
		b.problem("", policy.Summary.String()+" is no form of a summary", "choose view or stored")
	case policy.Updates.Mode != Immediate || policy.IsMirrored() || b.member:
		b.problem("", "has a stored summary, which only tables with immediate updates that are released by themselves have", "remove summary")
	case len(b.publication.Components()) > 1:
		b.problem("", "has a stored summary, but its constraints are over columns apart from others: each row shows several classes", "remove summary, or state the constraints over all quasi-identifying columns")
	}
}
