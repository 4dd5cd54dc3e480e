package chaos

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Verb says what a [Statement] does.
type Verb string

// The verbs. A and B are the arguments of a [Statement].
const (
	Rows      Verb = "rows"      // A rows with a text of B characters
	Fails     Verb = "fails"     // as Rows, with a division by zero at row B
	Parameter Verb = "parameter" // one row with the parameter $1
	Sleep     Verb = "sleep"     // one row after A milliseconds
	Begin     Verb = "begin"
	Commit    Verb = "commit"
	Rollback  Verb = "rollback"
	Savepoint Verb = "savepoint" // named after A
	Release   Verb = "release"   // the savepoint A
	Back      Verb = "back"      // to the savepoint A
	Style     Verb = "style"     // SET IntervalStyle to the A-th of Styles
	Path      Verb = "path"      // SET search_path to the schema A
	Where     Verb = "where"     // one row with the schema that the search path leads to
	Copy      Verb = "copy"      // COPY TO STDOUT of A rows with a text of B characters
	CopyFails Verb = "copyfails" // as Copy, with a division by zero at row B
	Notice    Verb = "notice"    // a NOTICE
	Explain   Verb = "explain"   // a plan
	Forget    Verb = "forget"    // DEALLOCATE ALL
	Missing   Verb = "missing"   // fails when it is analyzed: no such table
	Syntax    Verb = "syntax"    // fails when it is parsed
	Refused   Verb = "refused"   // what a Gate refuses; as a syntax error if A is 1
)

// Styles are the values of IntervalStyle, the default first.
var Styles = []string{"postgres", "postgres_verbose", "sql_standard", "iso_8601"}

const (
	// Schemas is how many schemas have a table place: s1, s2 and so on. A search path
	// is one of them.
	Schemas = 3

	// maxRows and maxPad cap what a text can ask of the model.
	maxRows, maxPad = 20_000, 10_000
)

// Statement is one statement of the texts that sessions send. ID is in its rows, so that
// an answer tells what it answers.
type Statement struct {
	Verb Verb
	ID   int // at least 0, below 2^31
	A, B int

	schema int // of Where: the schema that the text names; 0 = none, the path decides
}

// Texts joins statements to a text.
func Texts(statements ...Statement) string {
	var texts []string
	for _, s := range statements {
		texts = append(texts, s.Text())
	}
	return strings.Join(texts, ";")
}

// Text is the statement in SQL, with a comment by which the model knows it.
func (s Statement) Text() string {
	return fmt.Sprintf("/*%s %d %d %d*/%s", s.Verb, s.ID, s.A, s.B, s.sql())
}

func (s Statement) sql() string {
	const from = "FROM generate_series(1, %d) g"
	switch s.Verb {
	case Rows:
		return fmt.Sprintf("SELECT %d AS id, g AS n, repeat('x', %d) AS pad "+from, s.ID, s.B, s.A)
	case Fails:
		return fmt.Sprintf("SELECT %d AS id, g / (CASE g WHEN %d THEN 0 ELSE 1 END) AS n, '' AS pad "+from, s.ID, s.B, s.A)
	case Parameter:
		return fmt.Sprintf("SELECT %d AS id, $1::int AS n, '' AS pad", s.ID)
	case Sleep:
		return fmt.Sprintf("SELECT %d AS id, 0 AS n, pg_sleep(%d * 0.001)::text AS pad", s.ID, s.A)
	case Begin, Commit, Rollback:
		return strings.ToUpper(string(s.Verb))
	case Savepoint, Release:
		return fmt.Sprintf("%s p%d", strings.ToUpper(string(s.Verb)), s.A)
	case Back:
		return fmt.Sprintf("ROLLBACK TO p%d", s.A)
	case Style:
		return "SET IntervalStyle TO " + Styles[s.A]
	case Path:
		return fmt.Sprintf("SET search_path TO s%d", s.A)
	case Where:
		return fmt.Sprintf("SELECT %d AS id, n + 0 AS n, '' AS pad FROM %splace", s.ID, pathMark)
	case Copy:
		return fmt.Sprintf("COPY (SELECT %d, g, repeat('x', %d) "+from+") TO STDOUT", s.ID, s.B, s.A)
	case CopyFails:
		return fmt.Sprintf("COPY (SELECT %d, g / (CASE g WHEN %d THEN 0 ELSE 1 END), '' "+from+") TO STDOUT", s.ID, s.B, s.A)
	case Notice:
		return fmt.Sprintf("DO $$BEGIN RAISE NOTICE '%d'; END$$", s.ID)
	case Explain:
		return fmt.Sprintf("EXPLAIN (COSTS OFF) SELECT %d", s.ID)
	case Forget:
		return "DEALLOCATE ALL"
	case Missing:
		return fmt.Sprintf("SELECT %d FROM nowhere", s.ID)
	case Refused:
		return fmt.Sprintf("SELECT %d FROM forbidden", s.ID)
	default:
		return fmt.Sprintf("SELEC %d", s.ID)
	}
}

// pathMark stands before the table's name of Where. A [Gate] puts a schema, or nothing,
// in its place.
const pathMark = "@"

var (
	commented = regexp.MustCompile(`/\*([a-z]+) (\d{1,9}) (\d{1,6}) (\d{1,6})\*/`)
	qualified = regexp.MustCompile(`^[^;]*FROM s(\d)\.place`)
)

// parseTexts reads a text that [Texts] made; nil = it is blank. What is not such a text
// is a syntax error.
func parseTexts(text string) []Statement {
	if strings.Trim(text, " \t\n\r\f\v;") == "" {
		return nil
	}
	var all []Statement
	for _, at := range commented.FindAllStringSubmatchIndex(text, -1) {
		number := func(group int) int {
			n, _ := strconv.Atoi(text[at[2*group]:at[2*group+1]]) // digits, by the expression
			return n
		}
		s := Statement{Verb: Verb(text[at[2]:at[3]]), ID: number(2), A: number(3), B: number(4)}
		if !s.valid() {
			return []Statement{{Verb: Syntax}}
		}
		if schema := qualified.FindStringSubmatch(text[at[1]:]); s.Verb == Where && schema != nil {
			s.schema, _ = strconv.Atoi(schema[1])
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return []Statement{{Verb: Syntax}}
	}
	return all
}

// valid tells whether the model may be asked for the statement.
func (s Statement) valid() bool {
	switch s.Verb {
	case Rows, Fails, Copy, CopyFails:
		return s.A <= maxRows && s.B <= maxPad
	case Style:
		return s.A < len(Styles)
	case Path:
		return 1 <= s.A && s.A <= Schemas
	case Parameter, Sleep, Begin, Commit, Rollback, Savepoint, Release, Back, Where,
		Notice, Explain, Forget, Missing, Syntax, Refused:
		return true
	default:
		return false
	}
}

// exits tells whether the statement is one of those that a failed transaction takes.
func (s Statement) exits() bool {
	return s.Verb == Commit || s.Verb == Rollback || s.Verb == Back
}

// selects tells whether the statement has rows that Execute may fetch in parts.
func (s Statement) selects() bool {
	switch s.Verb {
	case Rows, Fails, Parameter, Sleep, Where, Explain:
		return true
	default:
		return false
	}
}
