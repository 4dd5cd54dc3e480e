package provision

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/kproxy/kproxy/catalog"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

// parts are the script's files in the order in which they run, and those of them that concern the
// release or the source alone.
var (
	parts = []string{
		"header.sql", "claim.sql", "owner.sql", "replicate.sql", "roles.sql", "join.sql", "citus.sql", "installation.sql", "mirrored.sql", "schemas.sql", "protected.sql", "grants.sql", "views.sql", "calls.sql",
		"store.sql", "viewstore.sql", "functions.sql", "served.sql", "helpers.sql", "descriptions.sql", "keys.sql", "labels.sql", "heartbeat.sql", "marks.sql", "dropstandins.sql", "standins.sql", "readers.sql", "publication.sql", "leave.sql", "slot.sql", "workers.sql",
	}
	ofSource = []string{"header.sql", "claim.sql", "owner.sql", "replicate.sql", "protected.sql", "publication.sql", "slot.sql"}
	ofBoth   = []string{"header.sql", "claim.sql", "owner.sql"}
	ofCitus  = []string{"citus.sql", "workers.sql"}
)

// partsOf are the parts of one side's script.
func partsOf(side Side, distribute bool) []string {
	return slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
		if slices.Contains(ofCitus, part) && !distribute {
			return true
		}
		switch side {
		case SourceSide:
			return !slices.Contains(ofSource, part)
		case ReleaseSide:
			return !slices.Contains(ofBoth, part) && slices.Contains(ofSource, part)
		default:
			return part == "mirrored.sql"
		}
	})
}

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"identifier": catalog.QuoteIdentifier,
	"literal":    catalog.QuoteLiteral,
}).ParseFS(sqlFiles, "sql/*.sql"))

// scriptData is what the templates see.
type scriptData struct {
	Owner, Reader, Publication, Slot string
	// Source and Release say which of the two, or both, are in the database.
	Source, Release bool
	// Standby says that the log of the source is decoded on its standby.
	Standby bool
	// Further are the other reader roles, and Readers all of them.
	Further, Readers []string
	// Undecided are the readers in no audience that are not meant to read what tables says, as far as
	// they were in an audience before; Undecidedly is what to do about them.
	Undecided   []string
	Undecidedly string
	// Heads are the roles that get what readers get, as a list of identifiers: Reader, and the
	// first of each audience. HeadNames are their names, and Members are all others of Readers.
	Heads                      string
	HeadNames                  []string
	Members                    []member
	Audiences                  []audience
	Database                   string
	TemporaryTables            bool
	StoreSchema, CatalogSchema string
	HelperSchema               string
	HelperRanges               []helperRange
	Comparisons                []comparison
	// ReleasePrefix begins the names of Reader's release schemas, ReleasePattern those of all.
	ReleasePrefix  string
	ReleasePattern string
	// AudienceFormat makes of an audience's name how its schemas' names begin.
	AudienceFormat      string
	ClassesPrefix       string
	WeightColumn        string
	Protected, Readable []catalog.Name
	Functions           []catalog.Name
	claims
	// Sent are the protected tables with the columns that the policy needs of each.
	Sent             []sentTable
	ProtectedSchemas []string
	// OwnSchemas are all of kproxy's; CommonSchemas those that all Heads may look into, and
	// ReaderSchemas those that Reader alone may.
	OwnSchemas, CommonSchemas, ReaderSchemas []string
	StandIns                                 []standIn
}

// member is a role that reads by its membership in Head.
type member struct{ Role, Head string }

// audience is one that a role belongs to.
type audience struct {
	Name, Prefix, Head string
	Summaries          string // how the names of summaries of its releases begin
	Roles              []string
	Schemas            []string // those with what it sees of protected tables
}

// sentTable is a protected table and what of it the stream has to carry, but for what tells its rows
// apart.
type sentTable struct {
	Table   catalog.Name
	Columns []string
}

// standIn is a catalog.StandIn in the form the DO block reads.
type standIn struct {
	Of, Name, From, Filter string
	Replace                string // JSON object: column to expression
	Rows                   bool   // From has rows of the system relation, under the alias c
	Last                   bool   // all rows of the stand-in are those of this one and of those before
}

// Script is the complete SQL that prepares the database, or one of two, for psql -1. It can be
// run again at any time. It holds no password. The error lists all that is
// wrong with the input.
func Script(in Input) (string, error) {
	in = in.withDefaults()
	if err := in.validate(); err != nil {
		return "", fmt.Errorf("writing the set-up script: %w", err)
	}
	data, err := newScriptData(in)
	if err != nil {
		return "", fmt.Errorf("writing the set-up script: %w", err)
	}
	var script strings.Builder
	for i, part := range partsOf(in.Side, in.Distribute) {
		if i > 0 {
			script.WriteByte('\n')
		}
		if err := templates.ExecuteTemplate(&script, part, data); err != nil {
			return "", fmt.Errorf("writing the set-up script: %w", err)
		}
	}
	return script.String(), nil
}

func newScriptData(in Input) (scriptData, error) {
	data := scriptData{
		Owner: in.Owner.Name, Reader: in.Reader.Name, Publication: in.Publication, Slot: in.Slot,
		Database: in.Database, TemporaryTables: in.TemporaryTables,
		StoreSchema: catalog.StoreSchema, CatalogSchema: catalog.CatalogSchema,
		HelperSchema: catalog.HelperSchema, HelperRanges: helperRanges, Comparisons: comparisons,
		ReleasePrefix: catalog.ReleaseSchema(""), ReleasePattern: catalog.ReleaseSchemaPattern, ClassesPrefix: catalog.ClassesPrefix, WeightColumn: catalog.WeightColumn,
		Protected: protectedTables(in.Policy), Readable: in.Policy.Readable,
		ProtectedSchemas: schemasOf(protectedTables(in.Policy)),
		Functions:        in.Policy.Functions,
	}
	for _, t := range in.Policy.Tables {
		data.Sent = append(data.Sent, sentTable{t.Table, in.Policy.NeededColumns(t)})
	}
	data.Standby = in.Standby && in.Side == SourceSide
	data.Source, data.Release = in.Side != ReleaseSide, in.Side != SourceSide
	var err error
	if data.claims, err = claimsOf(in); err != nil {
		return scriptData{}, err
	}
	if !data.Source {
		data.Protected = nil // they are somewhere else, as listed views over them may be
		data.ProtectedSchemas = data.schemasOf(in.Policy)
	}
	if data.Release {
		data.addReaders(in)
	}
	data.CommonSchemas = []string{catalog.CatalogSchema, catalog.HelperSchema}
	for _, schema := range data.ProtectedSchemas {
		data.ReaderSchemas = append(data.ReaderSchemas, catalog.ReleaseSchema(schema))
	}
	data.OwnSchemas = slices.Concat([]string{catalog.StoreSchema}, data.CommonSchemas, data.ReaderSchemas)
	for _, a := range data.Audiences {
		data.OwnSchemas = append(data.OwnSchemas, a.Schemas...)
	}
	for _, s := range catalog.StandIns() {
		first := catalog.Addition{From: s.From, Filter: s.Filter, Rows: s.From == "", Replace: s.Replace}
		for i, a := range append([]catalog.Addition{first}, s.Added...) {
			replace, err := readableJSON(a.Replace)
			if err != nil {
				return scriptData{}, fmt.Errorf("stand-in for %s: %w", s.Of, err)
			}
			data.StandIns = append(data.StandIns, standIn{
				Of: s.Of.SQL(), Name: s.Name().SQL(), From: a.From, Filter: a.Filter, Replace: replace, Rows: a.Rows, Last: i == len(s.Added),
			})
		}
	}
	return data, nil
}

// schemasOf are the schemas with tables that a policy protects. Where these are in another database, listed views
// may be there, too.
func (data *scriptData) schemasOf(policy catalog.Policy) []string {
	if data.Source {
		return schemasOf(protectedTables(policy))
	}
	return schemasOf(slices.Concat(protectedTables(policy), policy.Readable))
}

// addReaders divides the reader roles by audiences.
func (data *scriptData) addReaders(in Input) {
	data.HeadNames = []string{in.Reader.Name}
	data.Undecidedly, data.AudienceFormat = catalog.Undecided, catalog.ReleaseSchemaFor("%s", "")
	for _, a := range in.Policy.Audiences {
		if len(a.Roles) == 0 {
			continue // nobody belongs to it so far
		}
		of := audience{Name: a.Name, Prefix: catalog.ReleaseSchemaFor(a.Name, ""), Summaries: catalog.ClassesPrefix + a.Name + "_", Head: a.Roles[0], Roles: a.Roles}
		seen, _ := in.Policy.For(a.Name)
		for _, schema := range data.schemasOf(seen) {
			of.Schemas = append(of.Schemas, catalog.ReleaseSchemaFor(a.Name, schema))
		}
		data.Audiences, data.HeadNames = append(data.Audiences, of), append(data.HeadNames, of.Head)
	}
	for _, reader := range in.Readers {
		data.Further = append(data.Further, reader.Name)
		if in.Policy.AudienceOf(reader.Name) == "" && !slices.Contains(in.Finest, reader.Name) {
			data.Undecided = append(data.Undecided, reader.Name)
		}
		if slices.Contains(data.HeadNames, reader.Name) {
			continue
		}
		of := member{Role: reader.Name, Head: in.Reader.Name}
		for _, a := range data.Audiences {
			if slices.Contains(a.Roles, reader.Name) {
				of.Head = a.Head
			}
		}
		data.Members = append(data.Members, of)
	}
	data.Readers = append([]string{in.Reader.Name}, data.Further...)
	quoted := make([]string, len(data.HeadNames))
	for i, name := range data.HeadNames {
		quoted[i] = catalog.QuoteIdentifier(name)
	}
	data.Heads = strings.Join(quoted, ", ")
}

// readableJSON leaves <, > and & as they are, since the script is read by people.
func readableJSON(replace map[string]string) (string, error) {
	if len(replace) == 0 {
		return "{}", nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(replace); err != nil {
		return "", err
	}
	return strings.TrimSpace(text.String()), nil
}
