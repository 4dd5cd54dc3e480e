package rewrite

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// The checker of this file shares nothing with the walker: it reads the parser's
// JSON and looks for names wherever they are.

type found struct {
	relations [][2]string // schema, relation
	ctes      map[string]bool
	functions [][]string
	types     [][]string
	// objects are expressions whose value PostgreSQL prints as the name of any object.
	objects []string
}

// object notes an expression that has a type of objects, or of arrays of them, unless it
// is a single one that is cast on to text or oid at once.
func (f *found) object(node map[string]any, parent string) {
	for kind, name := range map[string]string{"TypeCast": castTo(node), "FuncCall": calledFunction(node)} {
		own := strings.TrimSuffix(name, "[]")
		if kind == "FuncCall" {
			own = strings.TrimPrefix(name, "to_")
		}
		if (objectCatalogs[own] != "" || own == "pg_typeof" || own == "pg_partition_ancestors") &&
			(own != name && kind == "TypeCast" || parent != "text" && parent != "oid") {
			f.objects = append(f.objects, name)
		}
	}
	parent = castTo(node)
	for _, item := range node {
		f.objectsIn(item, parent)
	}
}

func (f *found) objectsIn(value any, parent string) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			f.objectsIn(item, "")
		}
	case map[string]any:
		if inner, isCast := v["arg"]; isCast && parent != "" {
			f.objectsIn(inner, parent)
			return
		}
		f.object(v, parent)
	}
}

func castTo(node map[string]any) string {
	cast, _ := node["TypeCast"].(map[string]any)
	name, _ := cast["typeName"].(map[string]any)
	of := strings.TrimPrefix(strings.Join(jsonNames(name["names"]), "."), "pg_catalog.")
	if name["arrayBounds"] != nil {
		of += "[]"
	}
	return of
}

func calledFunction(node map[string]any) string {
	call, _ := node["FuncCall"].(map[string]any)
	return strings.TrimPrefix(strings.Join(jsonNames(call["funcname"]), "."), "pg_catalog.")
}

func (f *found) collect(value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			f.collect(item)
		}
	case map[string]any:
		if relation, ok := v["relname"].(string); ok {
			schema, _ := v["schemaname"].(string)
			f.relations = append(f.relations, [2]string{schema, relation})
		}
		if cte, ok := v["ctename"].(string); ok {
			f.ctes[cte] = true
		}
		if name, ok := v["funcname"]; ok {
			f.functions = append(f.functions, jsonNames(name))
		}
		if _, isType := v["typemod"]; isType {
			f.types = append(f.types, jsonNames(v["names"]))
		}
		for _, item := range v {
			f.collect(item)
		}
	}
}

func jsonNames(value any) []string {
	var parts []string
	list, _ := value.([]any)
	for _, item := range list {
		node, _ := item.(map[string]any)
		text, _ := node["String"].(map[string]any)
		part, _ := text["sval"].(string)
		parts = append(parts, part)
	}
	return parts
}

func inspect(sql string) (*found, error) {
	text, err := pg.ParseToJSON(sql)
	if err != nil {
		return nil, fmt.Errorf("parse the output: %w", err)
	}
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return nil, fmt.Errorf("decode the output's tree: %w", err)
	}
	f := &found{ctes: make(map[string]bool)}
	f.collect(tree)
	f.objectsIn(tree, "")
	return f, nil
}

// ownFunctions are those of kproxy's functions that outputs may call. They answer for
// what the session may see alone.
var ownFunctions = words(`may_show shows_bound usable_name table_is_visible type_is_visible to_class to_type class_name type_name type_names stand_in_oid
	schema_oid database_oid setting key_definition key_index_definition`)

// computing are the functions of information_schema that read nothing.
var computing = words("_pg_expandarray _pg_char_max_length _pg_numeric_precision _pg_numeric_precision_radix _pg_numeric_scale _pg_datetime_precision")

// helperFunctions are the helpers for analysts, which run with the session's rights.
var helperFunctions = words("certain describe labels overlap possible tables")

func checkOutput(sql string) error {
	f, err := inspect(sql)
	if err != nil {
		return err
	}
	for _, r := range f.relations {
		schema, relation := r[0], r[1]
		switch {
		case schema == "" && f.ctes[relation]:
		case schema == temporarySchema: // only a session that has made one gets there
		case schema == "kproxy_release_public" || schema == "kproxy_release_hospital" || schema == "kproxy_catalog":
		case schema == "pg_catalog" && relation != "pg_class" && relation != "pg_attribute" && !strings.HasPrefix(relation, "pg_stat"):
		default:
			return fmt.Errorf("the output reads %q.%q", schema, relation)
		}
	}
	for _, name := range f.functions {
		if len(name) != 2 || name[0] != "pg_catalog" && (name[0] != "information_schema" || !computing[name[1]]) &&
			(name[0] != "kproxy_catalog" || !ownFunctions[name[1]]) && (name[0] != "kproxy" || !helperFunctions[name[1]]) {
			return fmt.Errorf("the output calls %q", name)
		}
		for _, part := range []string{"_to_xml", "pg_read", "pg_ls", "pg_stat_", "lo_", "pg_sleep", "nextval", "viewdef", "dblink"} {
			if strings.Contains(name[1], part) {
				return fmt.Errorf("the output calls %q", name)
			}
		}
	}
	for i, after := range strings.Split(sql, "set_config(") {
		_, setting, _ := strings.Cut(after, "'")
		name, _, _ := strings.Cut(strings.ToLower(setting), "'")
		if i > 0 && !allowedSettings[name] && !isFixed(name) {
			return fmt.Errorf("the output calls set_config(%s", after)
		}
	}
	if len(f.objects) > 0 {
		return fmt.Errorf("the output has values of types of objects: %q", f.objects)
	}
	for _, name := range f.types {
		if !slices.Contains(safeTypes, strings.Join(name, ".")) && (len(name) != 2 || name[0] != "pg_catalog" && name[0] != "information_schema") {
			return fmt.Errorf("the output names type %q", name)
		}
	}
	return nil
}

// checkOutcome checks what every call must hold to, whatever the input.
func checkOutcome(sql, out string, err error) error {
	if err == nil {
		return checkOutput(out)
	}
	var r *Refusal
	switch {
	case !errors.As(err, &r):
		return fmt.Errorf("the error is %T", err)
	case len(r.SQLState()) != 5 || r.Error() == "":
		return fmt.Errorf("the refusal has state %q and message %q", r.SQLState(), r.Error())
	case r.Position() < 0 || r.Position() > utf8.RuneCountInString(sql)+1:
		return fmt.Errorf("position %d lies outside the text", r.Position())
	case out != "":
		return errors.New("a refusal comes with SQL")
	}
	return nil
}

func TestOutputsPassIndependentChecker(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	outputs := 0
	for _, path := range goldenFiles(t) {
		for _, b := range readBlocks(t, path) {
			out, err := r.text(b.sql)
			if failure := checkOutcome(b.sql, out, err); failure != nil {
				t.Errorf("%s\n%s\n%v", b.sql, out, failure)
			}
			if err == nil {
				outputs++
			}
		}
	}
	if outputs < 100 {
		t.Errorf("only %d outputs were checked", outputs)
	}
}

// TestCheckerBites makes sure that the checker would notice.
func TestCheckerBites(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"SELECT * FROM public.patients", "SELECT * FROM patients", "SELECT (SELECT 1 FROM public.secrets)",
		"WITH a AS (SELECT 1) SELECT * FROM b", "COPY public.patients TO STDOUT", "SELECT lower('x')",
		"SELECT pg_catalog.pg_sleep(1)", "SELECT 1::patients", "SELECT * FROM pg_catalog.pg_class",
		"SELECT 'pg_class'::pg_catalog.regclass", "SELECT a::pg_catalog.regtype[]::pg_catalog.text[]",
		"SELECT a::pg_catalog.regtype[]::pg_catalog.text", "SELECT 1::pg_catalog.regtype::pg_catalog.int4", "SELECT pg_catalog.pg_typeof(1)",
		"SELECT coalesce('1', (SELECT pg_catalog.to_regclass('a')))",
	} {
		if checkOutput(sql) == nil {
			t.Errorf("%s passed", sql)
		}
	}
}

// TestOutputWithoutRelationsIsStable rewrites outputs again: what names nothing of
// kproxy's must pass unchanged.
func TestOutputWithoutRelationsIsStable(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, path := range goldenFiles(t) {
		for _, b := range readBlocks(t, path) {
			out, err := r.text(b.sql)
			if err != nil || strings.Contains(out, "kproxy_") || strings.Contains(out, "search_path TO DEFAULT") ||
				strings.Contains(out, " FROM ") {
				continue
			}
			again, err := r.text(out)
			if err != nil || again != out {
				t.Errorf("%s\nfirst:  %s\nsecond: %s (%v)", b.sql, out, again, err)
			}
		}
	}
}

func FuzzRewrite(f *testing.F) {
	for _, path := range goldenFiles(f) {
		for _, b := range readBlocks(f, path) {
			f.Add(b.sql)
		}
	}
	r := clinicRewriter()
	f.Fuzz(func(t *testing.T, sql string) {
		out, err := r.text(sql)
		if failure := checkOutcome(sql, out, err); failure != nil {
			t.Errorf("%v\n%s", failure, out)
		}
		r.ScrubMessage(sql)
	})
}

// safeTypes are one that the deparser writes under its bare name only, and the row types
// of what can be read.
var safeTypes = []string{
	"bpchar", "kproxy_release_public.patients", "kproxy_release_public._patients", "kproxy_release_public.Patients", "kproxy_release_hospital.visits",
	"kproxy_release_hospital.select", "kproxy_release_public.wards", "kproxy_release_public._wards", "kproxy_release_public.Icd Codes",
}
