package status

import (
	"slices"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	ksync "github.com/kproxy/kproxy/sync"
)

// Reasons why readers cannot read a relation. They reveal nothing about the data.
const (
	notGranted   = "kproxy may not read it at the moment; the operator has been told why."
	notSafe      = "It cannot be shown safely; the operator has been told why."
	outdatedHere = "The kproxy that serves this session has another policy than number %d, which is in force; the operator has been told."
	notYetForAll = "Nothing of it can be published at the moment; the operator has been told why."
	// A table that others read already.
	madeForAudience = "It is being published; try again in a moment."
	notInStep       = "Its release can no longer be kept in step with its source; the operator has been told why."
)

// Withdrawals returns the tables and readable relations that readers cannot read, with reasons
// for readers.
func Withdrawals(policy catalog.Policy, status ksync.Status, broken map[catalog.Name]inspect.Report) map[catalog.Name]string {
	withdrawn := make(map[catalog.Name]string)
	for name, c := range Conditions(policy, status, broken) {
		if c.told != "" {
			withdrawn[name] = c.told
		}
	}
	for _, name := range policy.Readable {
		if slices.ContainsFunc(broken[name], func(f inspect.Finding) bool { return f.Code == inspect.CodeReadableRaw }) {
			withdrawn[name] = notSafe
			continue
		}
		if slices.ContainsFunc(broken[name], func(f inspect.Finding) bool {
			return f.Code == inspect.CodeReadableGrant || f.Code == inspect.CodeTypeFunction
		}) {
			withdrawn[name] = notGranted // one that is gone is told of as such
		}
	}
	return withdrawn
}

// AudienceWithdrawals returns, by audience, the tables of which nothing is published for it although
// the table's own readers may read it, with reasons for readers.
func AudienceWithdrawals(policy catalog.Policy, status ksync.Status) map[string]map[catalog.Name]string {
	all := make(map[string]map[catalog.Name]string, len(policy.Audiences))
	for _, a := range policy.Audiences {
		withdrawn := make(map[catalog.Name]string)
		seen, _ := policy.For(a.Name)
		for _, t := range seen.Tables {
			of := status.Tables[t.Table]
			switch seen, known := of.Audiences[a.Name]; {
			case known && seen.Reason == "":
			case of.Preparing:
				withdrawn[t.Table] = madeForAudience
			default:
				withdrawn[t.Table] = notYetForAll
			}
		}
		all[a.Name] = withdrawn
	}
	return all
}

// Released returns the tables by the numbers of their generations, which occur in the names that
// plans show.
func Released(status ksync.Status) map[int64]catalog.Name {
	tables := make(map[int64]catalog.Name, len(status.Tables))
	for name, t := range status.Tables {
		if t.Generation != 0 {
			tables[t.Generation] = name
		}
	}
	return tables
}
