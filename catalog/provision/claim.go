package provision

import (
	"encoding/json"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// claims are what the script needs to tell what is this configuration's from what is another's, of
// which nothing is taken over.
type claims struct {
	// Roles are those that the script makes or changes, and Named the tables of the policy.
	Roles []string
	Named []catalog.Name
	// Besides are the databases of this configuration that are not prepared, and ReleaseDatabase is the one
	// of the release; empty where that is here.
	Besides         []string
	ReleaseDatabase string

	Place, Fingerprint string
	// Mark is the comment by which a publication tells whose it is, and MarkPrefix its beginning.
	MarkPrefix, Mark string
	// Beside is catalog's, as a sentence: it says how another configuration can be used beside that of a store.
	Beside string
	// Noted and Shown are the queries for what a store was set up for, Elsewhere compares it, and
	// InForceFirst is a sentence; all as catalog says.
	Noted, Shown, Elsewhere, InForceFirst string
}

// markPrefix begins the comment of a publication of kproxy's.
const markPrefix = "kproxy: "

func claimsOf(in Input) (claims, error) {
	c := claims{
		Place: in.Place, Fingerprint: in.Fingerprint, MarkPrefix: markPrefix, Roles: []string{in.Owner.Name}, Besides: in.Besides,
		Beside: sentence(catalog.Beside), InForceFirst: sentence(catalog.InForceFirst),
		Noted: catalog.InstallationNoted, Shown: catalog.InstallationShown, Elsewhere: catalog.InstallationElsewhere,
	}
	if in.Side == SourceSide {
		if len(in.Besides) > 0 {
			c.ReleaseDatabase = in.Besides[0]
		}
	} else {
		c.Roles = append(c.Roles, in.Reader.Name)
		for _, r := range in.Readers {
			c.Roles = append(c.Roles, r.Name)
		}
	}
	for _, t := range in.Policy.Tables {
		c.Named = append(c.Named, t.Table)
	}
	mark, err := json.Marshal(struct {
		Slot    string `json:"slot"`
		Release string `json:"release"`
		Place   string `json:"place"`
	}{in.Slot, c.ReleaseDatabase, in.Place})
	c.Mark = markPrefix + string(mark)
	return c, err
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
