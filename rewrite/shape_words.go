package rewrite

import (
	_ "embed" // the words
	"maps"
	"strings"
	"sync"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

//go:embed systemwords.txt
var systemWordsText string

// systemWords are what a shape may name of PostgreSQL itself: relations of the system's
// schemas, their columns, functions, types and settings.
var systemWords = sync.OnceValue(func() map[string]bool {
	all := words(systemWordsText)
	for _, more := range []map[string]bool{
		allowedFunctions, builtinFunctions, allowedTypes, informationFunctions, informationTypes, allowedSettings, readableSettings,
	} {
		maps.Copy(all, more)
	}
	for _, helper := range catalog.Helpers() {
		all[helper] = true
	}
	all[catalog.HelperSchema] = true
	return all
})

// vocabulary are the words that a shape may have besides keywords.
func vocabulary(s *catalog.Snapshot) func(string) bool {
	system := systemWords()
	return func(word string) bool { return s.Names(word) || system[word] }
}

// keywords are those of PostgreSQL's grammar, in lower case.
var keywords = func() map[string]bool {
	all := make(map[string]bool)
	for _, token := range pg.Token_name {
		all[strings.ToLower(strings.TrimSuffix(token, "_P"))] = true
	}
	for _, none := range strings.Fields(`nul ident uident fconst sconst usconst bconst xconst op iconst param typecast
		dot_dot colon_equals equals_greater less_equals greater_equals not_equals sql_comment c_comment
		format_la not_la nulls_la with_la without_la mode_type_name mode_plpgsql_expr mode_plpgsql_assign1
		mode_plpgsql_assign2 mode_plpgsql_assign3 uminus`) {
		delete(all, none)
	}
	maps.DeleteFunc(all, func(word string, _ bool) bool { return strings.HasPrefix(word, "ascii_") })
	return all
}()

// reservedWords are keywords of the grammar that are functions, types or columns of the
// system as well, and that read better as keywords.
var reservedWords = words(`left right like overlaps collation is isnull notnull similar user current_user session_user
	default all any array as asc both case cast check collate column constraint create desc distinct do else end
	except fetch for foreign from grant group having in initially inner intersect into join leading limit
	localtime localtimestamp natural not null offset on only or order outer placing primary references returning
	select set some symmetric table tablesample then to trailing union unique using variadic verbose when where
	window with explain analyze show reset values insert update delete begin commit rollback execute prepare
	deallocate declare close move copy discard between by over filter within escape next first last rows interval
	true false`)

// callWords are keywords that are called like functions.
var callWords = words(`coalesce greatest least nullif extract substring position overlay trim grouping xmlelement
	xmlforest xmlconcat xmlparse xmlagg exists normalize char character varchar numeric decimal dec float bit
	cast treat`)

// foldASCII folds a name as PostgreSQL does in UTF-8.
func foldASCII(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			return strings.Map(func(r rune) rune {
				if r >= 'A' && r <= 'Z' {
					return r + 'a' - 'A'
				}
				return r
			}, name)
		}
	}
	return name
}
