package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// TestSealsFollowTheStart: whether stores are sealed, and with which keys, is decided when a process starts. Until then
// tables are no others than before on that account, those that come in are sealed as the process has it, and a
// policy that cannot be sealed is refused.
func TestSealsFollowTheStart(t *testing.T) {
	t.Parallel()
	of := func(keys string, tables ...catalog.TablePolicy) *config.Config {
		c := &config.Config{Policy: catalog.Policy{Tables: slices.Clone(tables)}}
		if keys != "" {
			c.Release.Seal = config.Seal{KeyFile: "seal.key", Keys: config.NewSecret(keys)}
		}
		config.SealPolicy(&c.Policy, keys != "")
		return c
	}
	a, b := table("a", 5), table("b", 5)
	for name, test := range map[string]struct {
		running, next *config.Config
		says          string
	}{
		"other keys": {of("1", a), of("2", a), "at the next start only: release.seal"},
		"no more":    {of("1", a), of("", a, b), "added: public.b\nat the next start only: release.seal"},
		"from now":   {of("", a), of("1", a, b), "added: public.b\nat the next start only: release.seal"},
		"as before":  {of("1", a), of("1", b, a), "added: public.b"},
	} {
		if got := Compare(test.running, test.next).String(); got != test.says {
			t.Errorf("%s: %s", name, got)
		}
		before := slices.Clone(test.next.Policy.Tables)
		effective := Takeover(test.running, test.next)
		if effective.Release.Seal.Keys.Reveal() != test.running.Release.Seal.Keys.Reveal() {
			t.Errorf("%s: the keys are taken over", name)
		}
		for i, table := range effective.Policy.Tables {
			if table.Sealed != test.running.Release.Seal.IsSet() || test.next.Policy.Tables[i].Sealed != before[i].Sealed {
				t.Errorf("%s: %s is sealed: %v", name, table.Table, table.Sealed)
			}
		}
		if err := config.CheckSealed(effective.Policy); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	guarded, subject := b, b
	guarded.Updates, subject.Subject = catalog.Updates{Mode: catalog.Guarded, Batch: 20}, "person"
	if err := config.CheckSealed(Takeover(of("1", a), of("", a, guarded)).Policy); err != nil {
		t.Errorf("a guarded table in a process that seals: %v", err)
	}
	const refused = "the private store of table public.b has a subject, and cannot be sealed yet (fix: restart kproxy without release.seal, or remove subject)"
	if err := config.CheckSealed(Takeover(of("1", a), of("", a, subject)).Policy); err == nil || err.Error() != refused {
		t.Errorf("a table with a subject in a process that seals: %v", err)
	}
	if err := config.CheckSealed(Takeover(of("", a), of("", a, subject)).Policy); err != nil {
		t.Errorf("a table with a subject in a process that does not: %v", err)
	}
	audiences := of("", a)
	audiences.Policy.Audiences = []catalog.Audience{{Name: "press"}}
	if err := config.CheckSealed(Takeover(of("1", a), audiences).Policy); err == nil || !strings.Contains(err.Error(), "audiences") {
		t.Errorf("audiences in a process that seals: %v", err)
	}
}
