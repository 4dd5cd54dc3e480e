package rewrite

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Reason says why a statement is refused. The set is closed; each reason has one SQLSTATE.
type Reason int

// The reasons. Those that name a limit are bounded by the field of [Options] of that name.
const (
	InternalError     Reason = iota // a defect of kproxy or of the deparser
	NotSupported                    // a construct that the allowlist does not have
	ReadOnly                        // it changes or locks something other than a temporary table
	OptionDenied                    // an option of COPY or EXPLAIN that is not on the allowlist
	RelationDenied                  // a relation that exists, but is not published
	ColumnDenied                    // a column that a view computes with, but that is not published
	FunctionDenied                  // a function of PostgreSQL that is not on the allowlist
	OperatorDenied                  // an operator or collation of another schema than pg_catalog
	SettingDenied                   // a setting that sessions cannot change or show
	RoleDenied                      // another role than the client's own
	NameShadowed                    // a name of PostgreSQL's that means something else, too, in this database
	Uncheckable                     // the database has casts or operator classes that make all statements unsafe
	NotPublished                    // a published table that cannot be shown at the moment
	UndefinedRelation               // no relation that the client can see has the name
	UndefinedColumn
	UndefinedFunction // no function of PostgreSQL's and none that the operator lists has the name
	UndefinedType
	UndefinedSchema
	AmbiguousName // a table reference that several relations in FROM answer to
	InvalidTable  // a temporary table with a schema
	InvalidValue  // a value that an option or a setting does not take
	InvalidSample // a percentage that TABLESAMPLE does not take
	BadEncoding   // bytes that are not UTF-8
	SyntaxError
	TooLong           // MaxStatementBytes
	TooManyStatements // MaxStatements
	TooManyTokens     // MaxTokens
	TooDeep           // MaxDepth
	TooComplex        // more than the parser can read, whatever the limits are
	SessionLimit      // more savepoints, temporary tables or schemas in the path than a session may have
)

// The SQLSTATEs of refusals (PostgreSQL, appendix A).
const (
	stateNotSupported      = "0A000"
	stateEncoding          = "22021"
	stateInvalidValue      = "22023"
	stateSampleArgument    = "2202H"
	statePrivilege         = "42501"
	stateSyntax            = "42601"
	stateUndefinedColumn   = "42703"
	stateUndefinedSchema   = "3F000"
	stateUndefinedFunction = "42883"
	stateUndefinedType     = "42704"
	stateTableDefinition   = "42P16"
	stateUndefinedRel      = "42P01"
	stateAmbiguous         = "42P09"
	stateLimit             = "54000"
	stateTooComplex        = "54001"
	stateNotPublished      = "55000"
	stateInternal          = "XX000"
)

var sqlStates = map[Reason]string{
	InternalError: stateInternal, NotSupported: stateNotSupported,
	ReadOnly: statePrivilege, OptionDenied: statePrivilege, RelationDenied: statePrivilege, ColumnDenied: statePrivilege,
	FunctionDenied: statePrivilege, OperatorDenied: statePrivilege, SettingDenied: statePrivilege, RoleDenied: statePrivilege,
	NameShadowed: statePrivilege, Uncheckable: stateNotPublished, NotPublished: stateNotPublished,
	UndefinedRelation: stateUndefinedRel, UndefinedColumn: stateUndefinedColumn, UndefinedFunction: stateUndefinedFunction,
	UndefinedType: stateUndefinedType, UndefinedSchema: stateUndefinedSchema, AmbiguousName: stateAmbiguous,
	InvalidTable: stateTableDefinition, InvalidValue: stateInvalidValue, InvalidSample: stateSampleArgument,
	BadEncoding: stateEncoding, SyntaxError: stateSyntax,
	TooLong: stateLimit, TooManyStatements: stateLimit, SessionLimit: stateLimit,
	TooManyTokens: stateTooComplex, TooDeep: stateTooComplex, TooComplex: stateTooComplex,
}

// Refusal is the error of a statement that is not run. Its texts are for the client.
type Refusal struct {
	reason   Reason
	relation string
	message  string
	hint     string
	location int // byte offset in the client's text + 1; 0 = unknown
	position int // 1-based character position; 0 = unknown
	shape    string
}

// Error is the message for the client.
func (r *Refusal) Error() string { return r.message }

// Reason says why the statement is refused.
func (r *Refusal) Reason() Reason { return r.reason }

// SQLState is the five-character code of PostgreSQL's appendix A.
func (r *Refusal) SQLState() string { return sqlStates[r.reason] }

// Relation is the name, as the client wrote it, of the relation that cannot be read; it is
// empty for refusals that are not about a relation.
func (r *Refusal) Relation() string { return r.relation }

// Hint says what to do instead; it may be empty.
func (r *Refusal) Hint() string { return r.hint }

// Position is the 1-based character position in the client's text, 0 if unknown.
func (r *Refusal) Position() int { return r.position }

// Shape is Statement.Shape of the text; it is empty if the text was refused before it was
// parsed.
func (r *Refusal) Shape() string { return r.shape }

func refuse(reason Reason, hint, format string, args ...any) *Refusal {
	return &Refusal{reason: reason, hint: hint, message: fmt.Sprintf(format, args...)}
}

// about names the relation that cannot be read.
func (r *Refusal) about(relation string) *Refusal {
	r.relation = relation
	return r
}

// at records where in the client's text the refused construct stands, unless that is known
// already: a byte offset from the parser, negative if it knows none.
func (r *Refusal) at(location int32) *Refusal {
	if location >= 0 && r.location == 0 {
		r.location = int(location) + 1
	}
	return r
}

// locate turns the byte offset into the protocol's character position.
func (r *Refusal) locate(sql string) *Refusal {
	if r.position == 0 && r.location > 0 && r.location-1 <= len(sql) {
		r.position = utf8.RuneCountInString(sql[:r.location-1]) + 1
	}
	return r
}

// refusalOf is the refusal that an error is, with its position in the client's text.
func refusalOf(err error, sql string) *Refusal {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		refusal = refuse(InternalError, "", "the statement could not be analyzed")
	}
	return refusal.locate(sql)
}

// withShape gives a refusal the shape of its text.
func withShape(err error, shape string) error {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		refusal.shape = shape
	}
	return err
}
