package sync

// sourceTable reads the source of a table: what the catalogs say of it, compared with the
// policy and with what the operator accepted.
type sourceTable struct{ layout *layout }

func (t *layout) source() sourceTable { return sourceTable{t} }
