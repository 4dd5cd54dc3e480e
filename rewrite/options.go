package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// shape says whether an option's argument has one of the shapes that the option
// takes, and may bring it into the one that the deparser writes faithfully. The
// grammar lets any argument stand after any option; the deparser reads a number or
// a missing argument as a string, which ends the process.
type shape func(option *pg.DefElem) bool

var copyOptions = map[string]shape{
	"delimiter": text, "encoding": text, "escape": text, "null": text, "quote": text,
	"force_quote": columns,
	"format":      word("text", "csv", "binary"),
	"header":      header,
}

// options checks a statement's options by name and shape.
func options(list []*pg.Node, allowed map[string]shape, statement, hint string) error {
	for _, node := range list {
		option := node.GetDefElem()
		fits := allowed[option.GetDefname()]
		if option == nil || option.GetDefnamespace() != "" || fits == nil {
			return refuse(OptionDenied, hint, "%s option %q is not allowed", statement, option.GetDefname()).at(option.GetLocation())
		}
		if !fits(option) {
			return refuse(InvalidValue, "", "%s option %q does not take this value", statement, option.GetDefname()).at(option.GetLocation())
		}
	}
	return nil
}

func text(option *pg.DefElem) bool { return option.GetArg().GetString_() != nil }

// word takes one of these words, none of which is empty.
func word(allowed ...string) shape {
	return func(option *pg.DefElem) bool {
		return slices.Contains(allowed, strings.ToLower(option.GetArg().GetString_().GetSval()))
	}
}

// boolean takes what PostgreSQL's defGetBoolean does.
func boolean(option *pg.DefElem) bool {
	_, ok := truth(option.GetArg())
	return ok
}

// header drops the argument of HEADER true, which the deparser would turn into the
// old syntax, where it reads differently.
func header(option *pg.DefElem) bool {
	on, ok := truth(option.GetArg())
	switch {
	case ok && on:
		option.Arg = nil
	case ok:
		option.Arg = pg.MakeStrNode("false")
	default:
		return word("match")(option)
	}
	return true
}

func truth(arg *pg.Node) (value, ok bool) {
	switch v := arg.GetNode().(type) {
	case nil:
		return true, true
	case *pg.Node_Boolean:
		return v.Boolean.GetBoolval(), true
	case *pg.Node_Integer:
		return v.Integer.GetIval() == 1, v.Integer.GetIval() == 0 || v.Integer.GetIval() == 1
	case *pg.Node_String_:
		word := strings.ToLower(v.String_.GetSval())
		return word == "true" || word == "on", slices.Contains([]string{"true", "on", "false", "off"}, word)
	}
	return false, false
}

// columns takes a list of names or a star.
func columns(option *pg.DefElem) bool {
	items := option.GetArg().GetList().GetItems()
	for _, item := range items {
		if item.GetString_() == nil {
			return false
		}
	}
	return len(items) > 0 || option.GetArg().GetAStar() != nil
}
