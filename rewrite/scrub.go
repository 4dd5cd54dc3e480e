package rewrite

import (
	"regexp"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// scrubber puts kproxy's schema names into the client's words. Published
// relations keep their table's name and stand-ins that of their system relation,
// so that only schemas differ; this holds for quoted names too, since the prefix
// of a schema's name stands inside the quotes.
var scrubber = strings.NewReplacer(
	catalog.CatalogSchema+".information_schema_", "information_schema.",
	`"`+catalog.CatalogSchema+`"."information_schema_`, `"information_schema"."`,
	catalog.CatalogSchema+`."information_schema_`, `information_schema."`,
	"information_schema_", "information_schema.",
	catalog.CatalogSchema, "pg_catalog",
	catalog.StoreSchema, "pg_toast",
	// Functions and types are sent under their full names, whatever the client wrote,
	// and what lies in public is on the client's path, but not on the session's.
	"function pg_catalog.", "function ",
	"aggregate pg_catalog.", "aggregate ",
	"type pg_catalog.", "type ",
	"type public.", "type ",
	"enum public.", "enum ",
	"domain public.", "domain ",
)

// releasePrefixes begin the names of release schemas, also of audiences.
var releasePrefixes = regexp.MustCompile(catalog.ReleaseSchemaPattern)

// summaryNames are those of summaries of classes, also of audiences, with their schema or without.
var summaryNames = regexp.MustCompile(`(\b` + catalog.CatalogSchema + `\.)?\b` + catalog.ClassesPrefix + `([a-z][a-z0-9]*_)?[0-9a-f]{16}\b`)

// summedUp is the name of the table whose summary has a name; that name if there is none.
func (r *Rewriter) summedUp(name string) string {
	relation, qualified := strings.CutPrefix(name, catalog.CatalogSchema+".")
	for _, source := range r.current.Load().snapshot.PublishedNames() {
		switch {
		case !catalog.AreClassesOf(source, relation):
		case qualified:
			return source.String()
		default:
			return source.Relation
		}
	}
	return name
}

// ScrubMessage replaces the names of kproxy's own schemas in a message of the
// database by those the client knows.
func (r *Rewriter) ScrubMessage(text string) string {
	if strings.Contains(text, catalog.ClassesPrefix) {
		text = summaryNames.ReplaceAllStringFunc(text, r.summedUp)
	}
	if strings.Contains(text, "kproxy_") {
		text = releasePrefixes.ReplaceAllLiteralString(text, "")
	}
	// "pg_catalog.sum is not an ordered-set aggregate ..."
	return strings.TrimPrefix(scrubber.Replace(text), "pg_catalog.")
}
