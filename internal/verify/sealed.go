package verify

// The server that a sealed store is on cannot read a value of it. What SQL can prove of such a table
// is what the published relation tells, and what the numbers of records do: which records are in which
// class, each once. That published values are those of the records is not asked.

// isSealed says whether the private store keeps the rows encrypted.
func (r *relations) isSealed() bool { return r.publication.IsSealed() }

// sealedPromises are those that are not asked of a sealed store.
func (r *relations) sealedPromises() []string {
	promises := []string{copiesAgree}
	if r.isGuarded() {
		promises[0] = copiesOfRecords
	}
	for _, c := range r.publication.Columns {
		if c.Generalized() {
			promises = append(promises, trueOf(c))
		}
	}
	return promises
}
