package sync

// A generation's tables can be spread over servers that each hold a share of their rows, by
// the hash of one column (Citus, "Choosing Distribution Column"). What shows a class is
// spread by its number, so that a class is on one server and changes there as a whole: a
// reader who sees one server's commit before another's sees no class that was never
// published. What is known of a record is spread by its number, as a record moves from
// class to class. docs/distributed.md lists the tables, with reasons.
//
// Servers that are spread over ask of tables and statements what hash partitions ask, and
// more: a unique key has the column, no UPDATE names it, and a statement that is to reach
// some rows only compares it with their values.

// spreading are the statements that spread a table, which is there and empty, by a column.
type spreading func(table, column string) []string

// spreadRecords spreads the table of the records.
func (p *publisher) spreadRecords() []string { return p.spread(p.recordsTable(), recordColumn) }

// spreadRelease spreads the rows of the release. A row of several parts shows a class of
// each, which cannot all lie together, and stays where it is.
func (p *publisher) spreadRelease() []string {
	if len(p.parts) > 1 {
		return nil
	}
	return p.spread(p.releaseRows(), p.parts[0].column)
}

func (p *publisher) spread(table, column string) []string {
	if p.session.spreading == nil {
		return nil
	}
	return p.session.spreading(table, column)
}
