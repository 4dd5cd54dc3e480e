package metamorphic

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// values are arguments of each type, as expressions; other types get NULL of theirs.
var values = map[string][]string{
	"integer": {"1", "0", "-1"}, "bigint": {"1::bigint", "0::bigint"}, "smallint": {"1::smallint"}, "boolean": {"true"},
	"numeric": {"1.5"}, "real": {"1.5::real"}, "double precision": {"1.5::float8"}, "money": {"'1'::money"},
	"bytea": {`'\x0102'::bytea`}, "json": {`'{"a": 1}'::json`}, "jsonb": {`'{"a": 1}'::jsonb`}, "jsonpath": {"'$'::jsonpath"},
	"date": {"'2020-01-02'::date"}, "timestamp without time zone": {"'2020-01-02'::timestamp"}, "interval": {"'1 day'::interval"},
	"timestamp with time zone": {"'2020-01-02'::timestamptz"}, "time without time zone": {"'10:00'::time"},
	"anyelement": {"1", "'D1'::text"}, "anynonarray": {"1"}, "anycompatible": {"1"}, "any": {"1"}, "\"any\"": {"1"},
	"anyarray": {"'{1,2}'::int[]"}, "anycompatiblearray": {"'{1,2}'::int[]"}, "text[]": {"'{a,b}'::text[]"}, "integer[]": {"'{1}'::int[]"},
	"anyenum": {"'happy'::mood", "NULL::blood"}, "anyrange": {"'[1,2)'::int4range"}, "\"char\"": {`'r'::"char"`},
	"inet": {"'10.0.0.1'::inet"}, "uuid": {"'00000000-0000-0000-0000-000000000000'::uuid"}, "xml": {"'<a/>'::xml"},
	"tsvector": {"'a'::tsvector"}, "tsquery": {"'a'::tsquery"}, "pg_lsn": {"'0/1'::pg_lsn"}, "xid": {"'700'::xid", "'2'::xid"},
	"tid": {"'(0,1)'::tid"}, "cid": {"'0'::cid"}, "xid8": {"'700'::xid8"}, "record": {"ROW(1)"}, "point": {"'(1,2)'::point"},
	"character": {"'a'::char(1)"}, "bit": {"B'1'"}, "name[]": {"'{a}'::name[]"}, "cstring": {"'a'::cstring"},
}

// ofNumber and ofName are the types whose values name objects.
var (
	ofNumber = strings.Fields("oid regclass regtype regproc regprocedure regnamespace regrole regconfig regdictionary regcollation regoper regoperator")
	ofName   = []string{"text", "name", "character varying"}
)

// arguments are expressions for a type. Where they are to name an object, there is one for
// every object.
func (f facts) arguments(typ string, every bool) []string {
	var list []string
	switch {
	case slices.Contains(ofNumber, typ):
		for _, oid := range f.numbers(every) {
			if list = append(list, oid+"::pg_catalog.oid"); typ != "oid" {
				list[len(list)-1] = oid + "::pg_catalog.oid::" + typ
			}
		}
	case slices.Contains(ofName, typ):
		list = []string{"'a'::" + typ}
		for _, name := range f.spoken(every) {
			list = append(list, literal(name)+"::"+typ)
		}
	default:
		if list = values[typ]; list == nil {
			list = []string{"NULL::" + typ}
		}
	}
	return list
}

// numbers are OIDs of objects, and some that nothing had when the worlds were made.
func (f facts) numbers(every bool) []string {
	if !every {
		return []string{"1259", f.oids[len(f.oids)-1], strconv.Itoa(int(f.nextOID))}
	}
	list := slices.Clone(f.oids)
	for i := range uint32(60) {
		list = append(list, strconv.Itoa(int(f.nextOID+i)))
	}
	return list
}

// spoken are names of objects, and of some that mutations make.
func (f facts) spoken(every bool) []string {
	if !every {
		return []string{"public.patients", "hidden_table"}
	}
	return slices.Concat(f.names, hiddenNames)
}

// ofFunctions calls every function that the catalogs list.
func (f facts) ofFunctions() []observable {
	var all []observable
	for _, g := range f.functions {
		for _, arguments := range f.combinations(g) {
			call := quoted(g.schema) + "." + quoted(g.name) + "(" + arguments + ")"
			switch g.kind {
			case "a":
				all = append(all, one("function", simple, "SELECT "+call+" FROM public.patients"))
			case "w":
				all = append(all, one("function", simple, "SELECT "+call+" OVER (ORDER BY diagnosis) FROM public.patients"))
			case "p":
				all = append(all, one("function", simple, "CALL "+call))
			default:
				all = append(all, one("function", simple, "SELECT "+call))
			}
		}
		if len(g.arguments) == 1 {
			all = append(all, f.notations(g)...)
		}
	}
	return all
}

// notations call a function of one argument as an attribute.
func (f facts) notations(g function) []observable {
	var all []observable
	for _, argument := range f.arguments(g.arguments[0], false) {
		all = append(all, one("attribute", simple, "SELECT ("+argument+")."+quoted(g.name)))
	}
	return append(all, one("attribute", simple, fmt.Sprintf("SELECT (t.code).%[1]s, t.%[1]s FROM icd10 t", quoted(g.name))))
}

// told begins the names of functions for which a text is the name of an object.
var told = regexp.MustCompile("^(pg_|has_|to_reg|(obj|col|shobj)_desc|(next|curr|set)val|reg|current_setting|set_config|row_security|.*_to_xml|enum_|kproxy)")

// privileges are what the last argument of has_..._privilege and pg_has_role says.
var privileges = map[string]string{
	"has_schema_privilege": "USAGE", "has_function_privilege": "EXECUTE", "has_database_privilege": "CONNECT", "has_type_privilege": "USAGE",
	"has_language_privilege": "USAGE", "has_sequence_privilege": "USAGE", "has_parameter_privilege": "SET", "has_tablespace_privilege": "CREATE",
	"has_server_privilege": "USAGE", "has_foreign_data_wrapper_privilege": "USAGE", "pg_has_role": "MEMBER",
}

// combinations are lists of arguments: a few of each type, and all objects for each
// argument in turn that names one.
func (f facts) combinations(g function) []string {
	var lists []string
	for wide := -1; wide < len(g.arguments); wide++ {
		if wide >= 0 && !slices.Contains(ofNumber, g.arguments[wide]) && (!slices.Contains(ofName, g.arguments[wide]) || !told.MatchString(g.name) && g.schema != "kproxy") {
			continue
		}
		lists = append(lists, f.product(g, wide)...)
	}
	return lists
}

// product combines a few values of each type, all objects at the place wide.
func (f facts) product(g function, wide int) []string {
	most, few := 16, 2
	if wide >= 0 {
		most, few = 400, 1
	}
	lists := []string{""}
	for i, typ := range g.arguments {
		list := f.arguments(typ, i == wide)
		if i != wide && len(list) > few {
			list = list[:few]
		}
		if strings.HasSuffix(g.name, "_privilege") || g.name == "pg_has_role" {
			if privilege := privileges[g.name]; i == len(g.arguments)-1 {
				list = []string{literal(cmp.Or(privilege, "SELECT"))}
			} else if len(g.arguments)-i >= 3 && i == 0 && i != wide && typ == "name" {
				list = []string{"'clinic_reader'", "'metamorphic_clerk'"}
			}
		}
		var longer []string
		for _, list := range cartesian(lists, list, i == 0) {
			if len(longer) < most {
				longer = append(longer, list)
			}
		}
		lists = longer
	}
	return lists
}

func cartesian(lists, values []string, first bool) []string {
	var longer []string
	for _, list := range lists {
		for _, value := range values {
			if !first {
				value = list + ", " + value
			}
			longer = append(longer, value)
		}
	}
	return longer
}
