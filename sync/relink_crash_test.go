package sync

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// linksAndReaders are the links of the people's lineage, the audiences that have a view of them, and the roles that may read such a view.
func (b *bench) linksAndReaders() (links, views, readers string) {
	b.t.Helper()
	for _, l := range b.lineageOf().Links {
		links += l.Audience + "=" + l.Store + " "
	}
	const of = ` FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace`
	const where = ` WHERE relkind = 'v' AND relname = 'people' AND nspname ~ '^kproxy_audience_'`
	const audience = `split_part(nspname, '_', 3)`
	views = scanned[string](b, "SELECT coalesce(string_agg("+audience+", ' ' ORDER BY nspname), '')"+of+where)
	readers = scanned[string](b, "SELECT coalesce(string_agg("+audience+" || '<-' || split_part(r.rolname, '_', 1), ' ' ORDER BY nspname, rolname), '')"+of+
		" CROSS JOIN LATERAL aclexplode(relacl) a JOIN pg_roles r ON r.oid = a.grantee"+where+" AND a.grantee <> relowner")
	return links, views, readers
}

// TestDeathWhileAudiencesChange ends a Syncer around the commit that has a guarded table go on with other audiences. Before it all is as it was; after
// it nobody who was removed may read; and after a restart the links, the views and the grants are those of the policy.
func TestDeathWhileAudiencesChange(t *testing.T) {
	t.Parallel()
	for _, point := range []string{FailBeforeRelink, FailAfterRelink} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			b, _ := newStagesBench(t)
			b.insertPeople(rand.New(rand.NewPCG(5, 6)), 1, 200)
			b.config.Tables = b.policed("partners:12 public:36")
			l := b.start()
			l.inStep()
			l.stop()
			b.ownerGone()
			generation := b.generationOf("people")
			links, readers := "partners=partners public=public ", "partners<-partners public<-public"
			for _, c := range []struct{ stage, links, views, readers string }{
				{"public:36 late:40", "=partners public=public late=late ", "late public", "late<-late public<-public"},
				{"press:12 public:36", "press=partners public=public =late ", "press public", "press<-press public<-public"},
				{"", "=partners =public =late ", "", ""},
				{"partners:12 public:36 late:40", "partners=partners public=public late=late ", "late partners public", "late<-late partners<-partners public<-public"},
				{"press:12 public:36 late:40", "press=partners public=public late=late ", "late press public", "late<-late press<-press public<-public"},
				{"partners:12 public:36 late:40", "partners=partners public=public late=late ", "late partners public", "late<-late partners<-partners public<-public"},
			} {
				b.config.Tables = b.policed(c.stage)
				h := b.holdAt(point)
				l = b.start()
				b.awaitHeld(h)
				l.cancel()
				heldLinks, _, heldReaders := b.linksAndReaders()
				if point == FailBeforeRelink && (heldLinks != links || heldReaders != readers) || point == FailAfterRelink && (heldLinks != c.links || heldReaders != c.readers) {
					t.Errorf("to %q: at the failpoint %s read by %s", c.stage, heldLinks, heldReaders)
				}
				h.free()
				<-l.done
				b.ownerGone()
				b.config.Failpoint = nil
				l = b.start()
				l.inStep()
				l.stop()
				b.ownerGone()
				var views string
				if links, views, readers = b.linksAndReaders(); links != c.links || views != c.views || readers != c.readers {
					t.Errorf("to %q: after a restart %s, views of %s, read by %s", c.stage, links, views, readers)
				}
				if now := b.generationOf("people"); now != generation {
					t.Fatalf("to %q: a new lineage is begun", c.stage)
				}
			}
		})
	}
}

// TestAudiencesAppendedTogether: of two audiences that come at once behind what there was, the first of which is shown values alone, the second is made of the
// first one's ranges; while neither is shown anything, the store says of each why.
func TestAudiencesAppendedTogether(t *testing.T) {
	t.Parallel()
	b, keepers := newStagesBench(t)
	b.insertPeople(rand.New(rand.NewPCG(7, 8)), 1, 300)
	l := b.start()
	l.inStep()
	generation := b.generationOf("people")
	l.stop()
	b.ownerGone()
	b.config.Tables = b.policed("partners:12 public:36")
	value := catalog.FormValue
	for i := range b.config.Tables[0].Policy.Audiences {
		b.config.Tables[0].Policy.Audiences[i].Columns = []catalog.AudienceColumn{{Name: "age", Publish: &value}}
	}
	h := b.holdAt(FailAfterRelink)
	l = b.start()
	b.awaitHeld(h)
	var told map[string]AudienceStatus
	if err := json.Unmarshal([]byte(scanned[string](b, "SELECT audiences FROM kproxy_store.generation WHERE table_name = 'people'")), &told); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"partners", "public"} {
		if of, known := told[name]; !known || of.Classes != 0 || of.Reason == "" {
			t.Errorf("of %s, which is shown nothing yet, others are told %+v", name, of)
		}
	}
	h.free()
	for range 2 {
		l.eventually("both see the people", func() bool {
			s := l.Status().Tables[publicTable("people")]
			return s.State == Halted || s.State == Published && s.Audiences["partners"].Classes > 0 && s.Audiences["public"].Classes > 0
		})
		if s := l.Status().Tables[publicTable("people")]; s.State != Published {
			t.Fatalf("it is %+v", s)
		}
		l.inStep()
		keepers.look()
		if now := b.generationOf("people"); now != generation {
			t.Fatal("a new lineage is begun")
		}
		b.exec("UPDATE people SET age = age + 3 WHERE age BETWEEN 20 AND 60")
		l.inStep()
		keepers.look()
		l.stop()
		b.ownerGone()
		b.config.Failpoint = nil
		l = b.start()
	}
	l.stop()
	keepers.check()
}
