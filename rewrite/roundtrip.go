package rewrite

import (
	"errors"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"github.com/pganalyze/pg_query_go/v5/parser"
	"google.golang.org/protobuf/proto"
)

func parse(sql string) (*pg.ParseResult, error) {
	wire, err := encode(sql)
	if err != nil {
		return nil, syntaxError(err)
	}
	tree := &pg.ParseResult{}
	if err := proto.Unmarshal(wire, tree); err != nil {
		return nil, syntaxError(err)
	}
	return tree, nil
}

// syntaxError passes the parser's message on: it is PostgreSQL's own wording and
// speaks of the client's text only.
func syntaxError(err error) *Refusal {
	var parseError *parser.Error
	if !errors.As(err, &parseError) {
		return refuse(TooComplex, "Split the query.", "the query is too complex")
	}
	hint := ""
	if strings.HasPrefix(parseError.Message, "syntax error at or near") {
		hint = "If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16."
	}
	r := refuse(SyntaxError, hint, "%s", parseError.Message)
	r.position = parseError.Cursorpos
	return r
}

// deparse writes the checked tree as SQL and makes sure that the text means that
// tree: the deparser is a second grammar and has defects. Some of them are missing
// parentheses, hence the second attempt.
func deparse(tree *pg.ParseResult) (string, error) {
	if len(tree.GetStmts()) == 0 {
		return "", nil
	}
	wire, err := proto.Marshal(tree)
	if err != nil {
		return "", refuse(InternalError, "", "the statement could not be encoded")
	}
	if text, ok := faithful(wire, wire); ok {
		return text, nil
	}
	clone := proto.Clone(tree).(*pg.ParseResult)
	parenthesize(clone.ProtoReflect())
	if written, err := proto.Marshal(clone); err == nil {
		if text, ok := faithful(written, wire); ok {
			return text, nil
		}
	}
	return "", refuse(InternalError, "Write the statement in another way.", "kproxy cannot write this statement faithfully")
}

// faithful writes an encoded tree as SQL and says whether the text means the checked
// one.
func faithful(written, checked []byte) (string, bool) {
	text, err := parser.DeparseFromProtobuf(written)
	if err != nil {
		return "", false
	}
	again, err := encode(text)
	if err != nil {
		return "", false
	}
	return text, same(treePlan(), checked, again)
}
