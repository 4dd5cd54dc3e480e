package rewrite

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// ScrubPlan puts a row of EXPLAIN's output into the client's words: a line of text, or
// a document in JSON, XML or YAML. Plans name what a published relation stands on.
//
// What the client wrote between apostrophes stays as it is. A line of text may begin
// inside of such a literal, if that has line breaks, so that what looks like one may be
// none: there, names that qualify a column are replaced in literals as well.
func (r *Rewriter) ScrubPlan(text string) string {
	text = withoutServerOwn(text)
	if !mayNameInternals(text) {
		return text
	}
	p := planScrubber{snapshot: r.current.Load().snapshot, in: text, form: formOf(text)}
	p.scrub()
	return p.out.String()
}

// storePrefixes begin the names of the private store's relations.
var storePrefixes = []string{"packed", "release", "cellweight", "records", "stored", "copied", "summary"}

// mayNameInternals says whether a plan needs to be looked at.
func mayNameInternals(text string) bool {
	if strings.Contains(text, "kproxy_") || strings.Contains(text, "information_schema_") {
		return true
	}
	for _, kind := range storePrefixes {
		if strings.Contains(text, kind+"_") {
			return true
		}
	}
	return false
}

// planForm is how a plan is written (PostgreSQL, EXPLAIN; commands/explain.c).
type planForm int

const (
	planText planForm = iota // a line
	planJSON                 // values in quotation marks, with escapes; YAML has the same
	planXML
)

// formOf distinguishes documents, which have line breaks, from lines, which may begin with
// anything: the client's text between apostrophes can span lines.
func formOf(text string) planForm {
	switch {
	case !strings.Contains(text, "\n"):
		return planText
	case strings.HasPrefix(text, "<explain"):
		return planXML
	case strings.HasPrefix(text, "["), strings.HasPrefix(text, "- "):
		return planJSON
	}
	return planText
}

// planScrubber reads a plan once, from its beginning to its end.
type planScrubber struct {
	snapshot *catalog.Snapshot
	in       string
	form     planForm
	out      strings.Builder
	// literal and quoted say that what follows is inside of apostrophes, or of an
	// identifier's quotation marks.
	literal, quoted bool
}

func (p *planScrubber) scrub() {
	for i := 0; i < len(p.in); {
		if inWord(p.in[i]) {
			end := i + 1
			for end < len(p.in) && inWord(p.in[end]) {
				end++
			}
			p.word(i, end)
			i = end
			continue
		}
		i += p.mark(i)
	}
}

func inWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// mark copies what is no word and notes what begins or ends there. It returns how many
// bytes that are.
func (p *planScrubber) mark(i int) int {
	n := 1
	switch c := p.in[i]; {
	case p.form == planJSON && c == '"', p.form == planXML && c == '<':
		p.literal, p.quoted = false, false // a value begins or ends, whatever was in it
	case p.form == planJSON && c == '\\' && i+1 < len(p.in):
		n = 2
		if p.in[i+1] == '"' && !p.literal {
			p.quoted = !p.quoted
		}
	case c == '"' && !p.literal:
		p.quoted = !p.quoted
	case c == '\'' && !p.quoted:
		p.literal = !p.literal
	}
	p.out.WriteString(p.in[i : i+n])
	return n
}

// word copies a word, or what the client knows in its place.
func (p *planScrubber) word(i, end int) {
	word := p.in[i:end]
	qualifies := end+1 < len(p.in) && p.in[end] == '.' && (inWord(p.in[end+1]) || p.in[end+1] == '"' || p.in[end+1] == '*')
	qualified := i > 0 && p.in[i-1] == '.'
	if p.literal && (p.form != planText || !qualifies && !qualified) {
		p.out.WriteString(word)
		return
	}
	name, own := p.known(word)
	if !own || plainName.MatchString(name) || strings.Contains(name, ".") && !p.quoted {
		p.out.WriteString(name)
		return
	}
	p.out.WriteString(p.quote(name, p.isValue(i, end)))
}

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// isValue says whether a word is all of a value: a name stands there as it is.
func (p *planScrubber) isValue(i, end int) bool {
	if i == 0 || end == len(p.in) {
		return false
	}
	switch p.form {
	case planJSON:
		return p.in[i-1] == '"' && p.in[end] == '"' && (i < 2 || p.in[i-2] != '\\')
	case planXML:
		return p.in[i-1] == '>' && p.in[end] == '<'
	}
	return false
}

// quote quotes a name that needs it, unless it is quoted already.
func (p *planScrubber) quote(name string, value bool) string {
	if !value {
		name = strings.ReplaceAll(name, `"`, `""`)
		if !p.quoted {
			name = `"` + name + `"`
		}
	}
	switch p.form {
	case planJSON:
		return inJSON(name)
	case planXML:
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(name)
	}
	return name
}

// inJSON is a text inside of a JSON string.
func inJSON(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // as PostgreSQL does
	if e.Encode(text) != nil {
		return "" // texts have a form in JSON
	}
	return strings.TrimSuffix(b.String(), "\n")[1 : b.Len()-2]
}

// releasePrefix begins the names of release schemas.
var releasePrefix = regexp.MustCompile(`^` + catalog.ReleaseSchemaPattern)

// ofStore are the relations of the private store, by the audience that they are of, if any, and the
// number of their generation, with what PostgreSQL appends: a number where an alias is taken already, or an index's
// columns.
var ofStore = regexp.MustCompile(`^(` + strings.Join(storePrefixes, "|") + `)_(?:[a-z][a-z0-9]*_)?(\d{1,18})(_.*)?$`)

// known is what the client knows in place of a word, and whether that is the name of a
// relation.
func (p *planScrubber) known(word string) (name string, relation bool) {
	switch {
	case word == catalog.ClassColumn(0), word == catalog.WeightColumn:
		return word, false // published
	case word == catalog.CatalogSchema:
		return "pg_catalog", false
	case word == catalog.StoreSchema:
		return "pg_toast", false
	case releasePrefix.MatchString(word):
		return releasePrefix.ReplaceAllLiteralString(word, ""), true
	case strings.HasPrefix(word, "kproxy_"):
		return strings.TrimPrefix(word, "kproxy_"), false
	case strings.HasPrefix(word, "information_schema_"):
		return "information_schema." + strings.TrimPrefix(word, "information_schema_"), false
	}
	parts := ofStore.FindStringSubmatch(word)
	if parts == nil {
		return word, false
	}
	number, _ := strconv.ParseInt(parts[2], 10, 64) // no more digits than fit
	suffix := strings.ReplaceAll(parts[3], "kproxy_", "")
	table, ok := p.snapshot.Released(number)
	if !ok {
		// Made a moment ago, or dropped.
		return "release" + suffix, true
	}
	return table.Relation + suffix, true
}
