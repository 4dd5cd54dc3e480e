package sync

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// promise is what the policy of a release says of it to readers. The store keeps that of the release
// which readers see, so that it can be held against another policy while that one's release is made.
type promise struct {
	// Form identifies what is published: the columns of the source by their numbers, as what they are
	// shown, whether updates are guarded, and whether rows are mirrored. Meaning identifies what constraints speak of: the
	// columns' roles and hierarchies, and who a record is about.
	Form, Meaning string
	// Constraints are the table's, and People those that are counted in persons of linked tables.
	Constraints []keptSpec `json:",omitempty"`
	People      []keptSpec `json:",omitempty"`
	// Audiences are what audiences see, which is made of the same classes.
	Audiences []audiencePromise `json:",omitempty"`
}

// audiencePromise is what a release promises of what an audience sees.
type audiencePromise struct {
	Name, Form  string
	Constraints []keptSpec
}

// keptSpec is a constraint as the store keeps it: in few bytes, as they are logged with each change of
// the table's figures.
type keptSpec struct {
	Model                 privacy.Model    `json:",omitempty"`
	K                     int              `json:",omitempty"`
	Over                  []string         `json:",omitempty"`
	L                     float64          `json:",omitempty"`
	C                     float64          `json:",omitempty"`
	Alpha, T, Beta, Delta float64          `json:",omitempty"`
	Enhanced              bool             `json:",omitempty"`
	Of                    string           `json:",omitempty"`
	Values                []string         `json:",omitempty"`
	Distance              privacy.Distance `json:",omitempty"`
}

func keptSpecs(specs []privacy.Spec) (kept []keptSpec) {
	for _, s := range specs {
		kept = append(kept, keptSpec(s))
	}
	return kept
}

// boundColumn is a column of the source as it is known by its number: a name can be another column's
// than it was.
type boundColumn struct {
	Name     string
	Number   int16
	Type     catalog.OID
	Modifier int32
}

// boundColumns are the stored columns of the source that are wanted.
func boundColumns(p catalog.Publication, wanted func(name string) bool) (bound []boundColumn) {
	for _, c := range p.StoredColumns() {
		if wanted(c.Name) {
			bound = append(bound, boundColumn{c.Name, c.Number, c.TypeOID, c.Modifier})
		}
	}
	return bound
}

// promiseOf is the promise of a release that is made for a publication.
func promiseOf(p catalog.Publication) (promise, error) {
	guarded := p.Policy.Updates.Mode == catalog.Guarded
	form, err := identify(struct {
		Source  catalog.OID
		Shown   []boundColumn
		Columns []catalog.PublishedColumn
		Guarded bool
		// Mirrored says that rows are published as they are.
		Mirrored bool `json:",omitempty"`
	}{p.Relation.OID, boundColumns(p, func(name string) bool {
		return slices.ContainsFunc(p.Columns, func(c catalog.PublishedColumn) bool { return c.Source == name })
	}), p.Columns, guarded, p.Policy.IsMirrored()})
	if err != nil {
		return promise{}, err
	}
	columns := slices.DeleteFunc(slices.Clone(p.Policy.Columns), func(c catalog.ColumnPolicy) bool { return c.Role == catalog.Identifying })
	slices.SortFunc(columns, func(a, b catalog.ColumnPolicy) int { return strings.Compare(a.Name, b.Name) })
	attributes := slices.Clone(p.Attributes)
	slices.SortFunc(attributes, func(a, b catalog.Attribute) int { return strings.Compare(a.Column, b.Column) })
	audiences, err := audiencePromises(p)
	if err != nil {
		return promise{}, err
	}
	of := promise{Form: form, Audiences: audiences, Constraints: keptSpecs(p.Policy.Constraints)}
	var membership *catalog.Membership
	if p.Membership != nil {
		linked := *p.Membership
		of.People, linked.People.Constraints = keptSpecs(linked.People.Constraints), nil
		membership = &linked
	}
	of.Meaning, err = identify(struct {
		Stored     []boundColumn
		Subject    string
		Columns    []catalog.ColumnPolicy
		Attributes []catalog.Attribute
		Membership *catalog.Membership
	}{boundColumns(p, func(string) bool { return true }), p.Policy.Subject, columns, attributes, membership})
	return of, err
}

func audiencePromises(p catalog.Publication) (all []audiencePromise, err error) {
	for _, of := range p.Policy.Seeing() {
		seen, _ := p.For(of.Audience)
		var shows any = seen.Columns
		if !reflect.DeepEqual(seen.Attributes, p.Attributes) { // stores of earlier versions know no limits
			shows = struct {
				Columns    []catalog.PublishedColumn
				Attributes []catalog.Attribute
			}{seen.Columns, seen.Attributes}
		}
		form, err := identify(shows)
		if err != nil {
			return nil, err
		}
		all = append(all, audiencePromise{of.Audience, form, keptSpecs(p.Policy.ConstraintsFor(of.Audience))})
	}
	return all, nil
}

// identify is a digest of what a value has.
func identify(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return base64.RawStdEncoding.EncodeToString(sum[:16]), nil
}

// readPromise reads a promise from the store; false where it has none that is understood.
func readPromise(text string) (p promise, ok bool) {
	err := json.Unmarshal([]byte(text), &p)
	return p, err == nil && p.Form != "" && p.Meaning != ""
}

// text is what the store has of a promise.
func (p promise) text() (string, error) {
	text, err := json.Marshal(p)
	return string(text), err
}

// covers reports whether a release with the promise keeps a wanted one as well.
func (p promise) covers(wanted promise) bool {
	return p.Form == wanted.Form && p.Meaning == wanted.Meaning &&
		imply(p.Constraints, wanted.Constraints) && imply(p.People, wanted.People)
}

// standing are the audiences that may go on reading what they have of the release: they see the same columns and, unless
// any release may stand, what it has promises as much to them. Others read nothing until what is wanted is ready.
func (p promise) standing(wanted promise, by Superseded) (names []string) {
	for _, kept := range p.Audiences {
		if slices.ContainsFunc(wanted.Audiences, func(w audiencePromise) bool {
			return w.Name == kept.Name && w.Form == kept.Form && (by == KeepAny || imply(kept.Constraints, w.Constraints))
		}) {
			names = append(names, kept.Name)
		}
	}
	return names
}

// overtaken are the audiences that are shown something of the release, and may not go on reading it.
func (p promise) overtaken(wanted promise, by Superseded) (names []string) {
	standing := p.standing(wanted, by)
	for _, kept := range p.Audiences {
		if !slices.Contains(standing, kept.Name) {
			names = append(names, kept.Name)
		}
	}
	return names
}

// mayStand reports the same as promise.mayStand of the releases of two publications, and which audiences read on.
func mayStand(before, wanted catalog.Publication, by Superseded) (stands bool, audiences []string) {
	kept, err := promiseOf(before)
	if err != nil || before.Relation.OID == 0 || wanted.Relation.OID == 0 {
		return false, nil
	}
	next, err := promiseOf(wanted)
	if err != nil || !kept.mayStand(next, by) {
		return false, nil
	}
	return true, kept.standing(next, by)
}

// only leaves those of some audiences.
func only(of map[string]AudienceStatus, audiences []string) map[string]AudienceStatus {
	left := maps.Clone(of) // who reads the status has the one before
	maps.DeleteFunc(left, func(name string, _ AudienceStatus) bool { return !slices.Contains(audiences, name) })
	return left
}

// visible reports whether readers may have what the store shows of the table: the generation, which was
// made for the policy as it is, or a release before it that may stand until that is ready.
func (t *layout) visible(g generation, by Superseded) bool {
	if g.isMark() || g.shows != 0 && g.previous == 0 {
		return false
	}
	shown, known := readPromise(g.promise)
	fits := t.fits(g)
	if !known || g.shows == 0 && fits {
		return fits
	}
	return shown.mayStand(t.promise, t.judgedBy(g, by))
}

// judgedBy is by what the release that readers see is held against the policy.
func (t *layout) judgedBy(g generation, by Superseded) Superseded {
	if by == KeepNone && t.fits(g) {
		return KeepStrong // who joined has decided, and a rebuild supersedes no policy
	}
	return by
}

// overtaken are the audiences that may no longer read what the store shows of the table, which others may.
func (t *layout) overtaken(g generation, by Superseded) []string {
	shown, known := readPromise(g.promise)
	if !known || g.shows == 0 && t.fits(g) {
		return nil
	}
	return shown.overtaken(t.promise, t.judgedBy(g, by))
}

// stored is the status of the table by its row in the store.
func (t *layout) stored(g generation, by Superseded) TableStatus {
	fits := t.fits(g)
	status := g.status(t.visible(g, by), fits)
	for _, audience := range t.overtaken(g, by) {
		delete(status.Audiences, audience)
	}
	own, _ := t.promise.text() // it was written before
	status.Superseded = status.State == Published && (!fits || g.shows != 0 && g.promise != "" && g.promise != own)
	return status
}

// imply reports whether each wanted constraint follows from one that is kept.
func imply(kept, wanted []keptSpec) bool {
	return !slices.ContainsFunc(wanted, func(w keptSpec) bool {
		return !slices.ContainsFunc(kept, func(k keptSpec) bool { return privacy.Spec(k).Implies(privacy.Spec(w)) })
	})
}

// mayStand reports whether readers may go on reading a release with the promise until the one that
// is wanted is ready: the table's own, and of audiences those that are standing.
func (p promise) mayStand(wanted promise, by Superseded) bool {
	switch by {
	case KeepNone:
		return false
	case KeepAny:
		return p.Form == wanted.Form
	default:
		return p.covers(wanted)
	}
}
