package views

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/rewrite"
)

// viewPlan says how a listed view over protected tables is to be published.
type viewPlan struct {
	view      catalog.View
	published rewrite.PublishedView
	// digest identifies everything that the published view depends on, or the problem.
	digest string
	// problem says why the view cannot be published, and fix how to change that, for the
	// operator. With waits, the view is published as soon as what it reads is.
	problem, fix string
	waits        bool
	// standIn says that the relation is a readable one, and the published view its stand-in.
	standIn bool
	// accepted is what the operator has accepted; see catalog.Identity. was is the stored form
	// that it is derived from.
	accepted catalog.Identity
	was      string
}

const (
	// invokerVersion is the first server_version_num with security_invoker: views can read
	// with the session's rights.
	invokerVersion = 150000
	// tablesStayVersion is the first in which no rule makes a view of a table.
	tablesStayVersion = 160000
)

// planner plans the views of one database.
type planner struct {
	// audience is the one for which views are planned, empty for the policy's own readers, and reader its
	// role.
	audience, reader string
	// seen are the protected tables that the audience sees.
	seen map[catalog.Name]bool
	// audiences have stand-ins of their own.
	audiences []catalog.Audience
	// protected and listed are the policy's tables and readable relations.
	protected, listed map[catalog.Name]bool
	// held are the relations with rows of protected tables, under whatever names.
	held      map[catalog.OID]bool
	rewritten rewritings
	// sources are the relations that views read, and the published ones of tables.
	sources map[catalog.Name]inspect.ViewSource
	version int // the server's server_version_num
	// apart says that the views are at a source in a database of its own, and away that it is not asked: what
	// was published of them stays as it is.
	apart, away bool
	// others are views there that clients cannot find, as they are not listed or their names are taken.
	others []catalog.View

	// readables are the readable relations and those under them, and stored is what was made of
	// them and of views, with what was accepted.
	readables map[catalog.Name]catalog.ReadableRelation
	stored    map[catalog.Name]storedView
	// parts are the existing parts of readable relations, including those that were served and
	// then detached.
	parts map[catalog.OID]bool

	found map[catalog.Name]catalog.View
	plans map[catalog.Name]viewPlan
}

// plan plans the stand-ins of the readable relations, and then the listed views over protected
// tables, each after those that it reads.
func (p *planner) plan(views []catalog.View) []viewPlan {
	p.found, p.plans = make(map[catalog.Name]catalog.View, len(views)), make(map[catalog.Name]viewPlan)
	for _, v := range slices.Concat(views, p.others) {
		p.found[v.Name] = v
	}
	return append(p.planReadables(), p.planViews(views)...)
}

// planViews plans the listed views over protected tables.
func (p *planner) planViews(views []catalog.View) (plans []viewPlan) {
	if p.away {
		return nil
	}
	for _, v := range catalog.Ordered(views) {
		if !v.Publishable() && (!v.Apart || !v.Listed) {
			continue
		}
		plan := p.planView(v)
		p.plans[v.Name] = plan
		plans = append(plans, plan)
	}
	return plans
}

func (p *planner) planView(v catalog.View) viewPlan {
	plan := viewPlan{view: v, accepted: catalog.Identity{OverProtected: true}}
	if changes := p.changed(v.Name, plan.accepted); len(changes) > 0 {
		return plan.doubted(p.stored[v.Name]).unaccepted(changes)
	}
	if v.Kind != catalog.KindView { // what the database of the release does not have is not looked at as readable
		plan.problem, plan.fix = "it is a materialized view, which holds copies of protected rows", "write it as a view, or take it off readable"
		return plan.digested()
	}
	if v.Unread != "" {
		return plan.unread(v.Unread)
	}
	relations := make(map[catalog.Name]rewrite.ViewRelation)
	var oids []catalog.OID
	for _, name := range v.Reads {
		relation, problem := p.relation(name)
		if problem != nil {
			plan.problem, plan.fix, plan.waits = problem.what, problem.fix, problem.waits
			return plan.digested()
		}
		if relation == nil {
			continue
		}
		relations[name] = *relation
		if _, inner := p.plans[name]; !inner { // a published view that is made anew takes along those that read it
			oids = append(oids, p.sources[relation.Target].OID)
		}
	}
	published, err := p.rewritten.rewrite(v, relations)
	if err != nil {
		plan.problem, plan.fix = err.Error(), fixRefused(err)
		return plan.digested()
	}
	plan.published = published
	return plan.digested(v.Barrier, p.version >= invokerVersion, p.reader, oids)
}

// fixRefused says how to fix a definition that the rewriter refuses.
func fixRefused(err error) string {
	if hint := (interface{ Hint() string })(nil); errors.As(err, &hint) && hint.Hint() != "" {
		return clause(hint.Hint()) + "; or take the view off readable"
	}
	return "change its definition, or take it off readable"
}

// clause turns a sentence into the beginning of a longer one. A word in capitals stays.
func clause(sentence string) string {
	sentence = strings.TrimSuffix(sentence, ".")
	first, size := utf8.DecodeRuneInString(sentence)
	if second, _ := utf8.DecodeRuneInString(sentence[size:]); size == 0 || unicode.IsUpper(second) {
		return sentence
	}
	return string(unicode.ToLower(first)) + sentence[size:]
}

// digested returns the plan with the digest of its contents and of what else it depends on.
func (plan viewPlan) digested(on ...any) viewPlan {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %t %v", plan.problem, plan.published.SQL, plan.published.Columns, plan.published.Omitted, plan.waits, on))
	plan.digest = hex.EncodeToString(sum[:])
	return plan
}

// unreadable says why a view cannot read a relation.
type unreadable struct {
	what, fix string
	waits     bool
}

// relation returns what is read in place of a relation that a view names. It is nil for those of
// the system, which the rewriter refuses.
func (p *planner) relation(name catalog.Name) (*rewrite.ViewRelation, *unreadable) {
	published := catalog.PublishedFor(p.audience, name)
	source, target := p.sources[name], p.sources[published]
	inner, isView := p.found[name]
	switch {
	case p.protected[name] && !p.seen[name]:
		return nil, &unreadable{what: "it reads table " + name.String() + ", which the audience does not see", fix: fixUnseen}
	case p.protected[name]:
		if !target.Readable {
			return nil, &unreadable{"it reads table " + name.String() + ", which is not published now", "see what 'kproxy status' says of the table", true}
		}
		return &rewrite.ViewRelation{Target: published, Columns: source.Columns, Published: target.Columns}, nil
	case isView && inner.Apart && slices.ContainsFunc(p.others, func(v catalog.View) bool { return v.Name == name && v.Listed }):
		return nil, &unreadable{what: "it reads view " + name.String() + " of the source, and the database of the release has a relation of that name, too", fix: "drop or rename one of them"}
	case isView:
		return p.innerView(inner)
	case catalog.IsSystem(name.Schema):
		return nil, nil
	case p.apart:
		return nil, notMirrored(name)
	case p.held[source.OID]:
		return nil, &unreadable{what: "it reads " + name.String() + ", which has rows of a protected table under another name", fix: fixRaw}
	case !p.listed[name]:
		return nil, &unreadable{what: "it reads " + name.String() + ", which is not listed under readable", fix: "list " + name.String() + " under readable, if analysts may read it, and run 'kproxy setup'"}
	default:
		plan, planned := p.plans[name]
		if !planned || plan.problem != "" {
			return nil, &unreadable{"it reads " + name.String() + ", which is not served", "see the finding about that relation", plan.waits}
		}
		return &rewrite.ViewRelation{Target: published, Columns: source.Columns, Published: plan.published.Columns, Key: p.readables[name].Key}, nil
	}
}

// innerView returns what is read in place of another view over protected tables.
func (p *planner) innerView(v catalog.View) (*rewrite.ViewRelation, *unreadable) {
	switch plan := p.plans[v.Name]; {
	case v.Kind != catalog.KindView:
		return nil, &unreadable{what: "it reads materialized view " + v.Name.String() + ", which holds copies of protected rows", fix: "write that as a view, and list it under readable"}
	case !v.Listed:
		return nil, &unreadable{what: "it reads view " + v.Name.String() + ", which shows protected rows and is not listed under readable", fix: "list " + v.Name.String() + " under readable as well"}
	case plan.problem != "":
		return nil, &unreadable{"it reads view " + v.Name.String() + ", which is not published", "see the finding about that view", plan.waits}
	default:
		return &rewrite.ViewRelation{Target: catalog.PublishedFor(p.audience, v.Name), Columns: v.Columns, Published: plan.published.Columns}, nil
	}
}

// viewSources returns the names that a planner needs to know for an audience, each once.
func viewSources(audience string, views []catalog.View) []catalog.Name {
	var names []catalog.Name
	for _, v := range views {
		if v.Publishable() {
			for _, name := range v.Reads {
				names = append(names, name, catalog.PublishedFor(audience, name))
			}
		}
	}
	slices.SortFunc(names, catalog.Name.Compare)
	return slices.Compact(names)
}
