package config

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// Release is how the database of store and release is kept.
type Release struct {
	Seal       Seal       `json:",omitzero" yaml:"seal" section:"optional" doc:"Keys that encrypt the private store, where the source is in another database; without the section it holds rows as they are."`
	Distribute Distribute `yaml:"distribute" choices:"none citus" default:"none" doc:"Over which servers the rows of releases are spread: none but the owner's, or the workers of Citus, whose coordinator the owner connects to."`
}

// Distribute says over which servers the rows of releases are spread.
type Distribute string

// The choices.
const (
	DistributeNone  Distribute = "none"
	DistributeCitus Distribute = "citus"
)

// Distributes reports whether the rows of releases are spread over the workers of Citus.
func (c *Config) Distributes() bool { return c.Release.Distribute == DistributeCitus }

// compareDistribute refuses what is not spread over workers.
func (c *Config) compareDistribute(d *decoder) {
	if !c.Distributes() {
		return
	}
	at := d.at(&c.Release.Distribute)
	refuse := func(what, fix string) {
		d.wrong(at, "with distribute: citus, "+what, fix+", or remove distribute; docs/distributed.md says what is distributed")
	}
	if !c.IsApart() {
		refuse("the protected tables are in another database than the release, which is on the coordinator", "write a source section")
	}
	if len(c.Upstream.Reader.Servers()) > 1 {
		refuse("readers connect to the coordinator alone", "write one host for upstream.reader")
	}
	if c.TemporaryTables == TemporaryAllow {
		refuse("sessions make no temporary tables", "write temporary_tables: refuse")
	}
	// The coordinator commits before the workers do: what is read between is older than position and marks say.
	if c.Answers.Size > 0 {
		refuse("answers are not kept", "remove answers.size")
	}
	if c.Upstream.MaxStaleness > 0 {
		refuse("max_staleness cannot be promised", "remove upstream.reader.max_staleness")
	}
	if c.Release.Seal.IsSet() {
		refuse("the private store is not sealed", "remove seal")
	}
	if len(c.Policy.People) > 0 {
		refuse("tables are not released together", "remove people")
	}
	if len(c.Policy.Audiences) > 0 {
		refuse("there is one release for all readers", "remove audiences")
	}
	for _, t := range c.Policy.Tables {
		switch {
		case t.Updates.Mode == catalog.Guarded:
			refuse(fmt.Sprintf("table %s has guarded updates, which are not distributed", t.Table), "write updates: immediate")
		case t.Subject != "":
			refuse(fmt.Sprintf("table %s counts persons by a subject, which kproxy verify cannot do on workers", t.Table), "remove subject")
		case t.Summary == catalog.SummaryStored:
			refuse(fmt.Sprintf("table %s has a stored summary, which is not distributed", t.Table), "remove summary")
		case overSome(t.Constraints):
			refuse(fmt.Sprintf("table %s has a constraint over some of its quasi-identifying columns", t.Table), "leave out over, so that it is over all")
		}
	}
}

// overSome reports whether a constraint is over some columns alone, so that classes can be of several parts.
func overSome(constraints []privacy.Spec) bool {
	for _, s := range constraints {
		if len(s.Over) > 0 {
			return true
		}
	}
	return false
}
