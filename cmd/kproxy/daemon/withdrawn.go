package daemon

import (
	"regexp"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/views"
)

// Between a statement's rewriting and its execution the release that it reads can be
// withdrawn, by this process or another: the server finds that the reader's privilege is
// gone, or the view. Clients are told what they are told from then on.

// withdrawnLate is the refusal of a statement whose relation was withdrawn meanwhile.
type withdrawnLate struct{ relation string }

func (e *withdrawnLate) Error() string { return `table "` + e.relation + `" is not published now` }

// SQLState is object_not_in_prerequisite_state, as for all that is withdrawn.
func (e *withdrawnLate) SQLState() string { return "55000" }

// Hint says nothing of why: this process may not know yet.
func (e *withdrawnLate) Hint() string {
	return "It was withdrawn, or is published afresh, while the statement ran; the operator has been told why if it stays so."
}

// changedLate is the refusal of a statement whose stand-in raised an error.
type changedLate struct{ what string }

func (e *changedLate) Error() string { return e.what }

// SQLState is object_not_in_prerequisite_state, as for all that is withdrawn.
func (e *changedLate) SQLState() string { return "55000" }

// Hint says nothing of what has changed: this process may not know yet.
func (e *changedLate) Hint() string {
	return "Begin a new transaction; the operator has been told why if the error stays."
}

// rightsMoved is the refusal of a statement whose role has lost the schema that this process reads for
// it: set-up has given the role another part, and the reload that tells this process comes next.
type rightsMoved struct{}

func (rightsMoved) Error() string { return "what this session's role reads is being changed" }

// SQLState is object_not_in_prerequisite_state, as for all that is withdrawn.
func (rightsMoved) SQLState() string { return "55000" }

func (rightsMoved) Hint() string {
	return "Try again in a moment, with a new connection; the operator changes who reads what."
}

var (
	// Whether there is such a schema, which the role may not use, makes no difference.
	lostSchema = regexp.MustCompile(`^schema "` + catalog.ReleaseSchemaPattern + `.*" does not exist$`)
	// aclcheck_error names a relation without its schema.
	lostPrivilege = regexp.MustCompile(`^permission denied for view (.+)$`)
	lostRelation  = regexp.MustCompile(`^relation "` + catalog.ReleaseSchemaPattern + `(.+)" does not exist$`)
	// becameView is what the planner of PostgreSQL 15 and before says, in no other language, when a
	// rule has made a view of a table whose tableoid a stand-in compares.
	becameView = regexp.MustCompile(`^could not find attribute -6 in subquery targetlist$|^bogus varattno for subquery var: -6$`)
)

// withdrawnAtServer is the refusal that an error of the server stands for; nil for none.
// Where the server speaks another language its own words stay, which tell no more.
func withdrawnAtServer(state, message string) error {
	var found []string
	switch state {
	case "22P02": // invalid_text_representation
		if what := views.Changed(message); what != "" {
			return &changedLate{what: what}
		}
	case "XX000": // internal_error
		if becameView.MatchString(message) {
			return &changedLate{what: "a table has become a view"}
		}
	case "3F000":
		if lostSchema.MatchString(message) {
			return rightsMoved{}
		}
	case "42501":
		found = lostPrivilege.FindStringSubmatch(message)
	case "42P01":
		found = lostRelation.FindStringSubmatch(message)
	}
	if found == nil {
		return nil
	}
	return &withdrawnLate{relation: strings.Trim(found[len(found)-1], `"`)}
}
