package rewrite

import pg "github.com/pganalyze/pg_query_go/v5"

// level counts what can deepen the tree inside one pair of brackets (or one
// CASE ... END).
type level struct {
	isCase bool
	// chain counts joins and set operations, which lean on each other across
	// commas and conditions: FROM a JOIN b ... JOIN c, SELECT ... UNION SELECT.
	chain int
	// element counts operators and keywords since the last separator.
	element int
	// between counts BETWEENs whose AND is still to come.
	between int
}

// limitDepth bounds the depth of the tree that the parser would build, before
// it does. A level of the tree takes at least one token that is not a constant
// or a name; tokens on both sides of a separator (comma, AND, OR, and the parts
// of a CASE) belong to siblings, as PostgreSQL keeps lists and AND/OR chains
// flat. So the depth is at most a small multiple of the sum, over the brackets
// open at a token, of the tokens since the last separator plus the joins and set
// operations.
func limitDepth(tokens []token, limit int) error {
	levels := []level{{}}
	below := 0 // sum of all levels but the innermost
	previous := pg.Token_NUL
	for _, t := range tokens {
		top := &levels[len(levels)-1]
		kind := t.kind
		label := previous == pg.Token_ASCII_46 || previous == pg.Token_AS // any word may be a label
		previous = kind
		switch {
		case label && t.keyword != pg.KeywordKind_NO_KEYWORD:
			top.element++
		case kind == pg.Token_ASCII_59:
			levels, below = []level{{}}, 0
		case opens(kind):
			top.element++
			below += top.chain + top.element
			levels = append(levels, level{isCase: kind == pg.Token_CASE})
		case closes(kind, top.isCase):
			if len(levels) > 1 {
				levels = levels[:len(levels)-1]
				top = &levels[len(levels)-1]
				below -= top.chain + top.element
			}
		default:
			top.count(kind)
		}
		top = &levels[len(levels)-1]
		if below+top.chain+top.element > limit {
			return refuse(TooDeep, "Split the expression, or write long chains as lists (IN, VALUES, AND, OR).",
				"the query nests deeper than %d levels", limit).at(t.start)
		}
	}
	return nil
}

func opens(kind pg.Token) bool {
	return kind == pg.Token_ASCII_40 || kind == pg.Token_ASCII_91 || kind == pg.Token_CASE
}

// closes says whether the token ends the innermost level. A closing bracket also
// ends a CASE that was none (a column so named), at the price of counting the
// enclosing bracket as open for longer.
func closes(kind pg.Token, isCase bool) bool {
	return kind == pg.Token_ASCII_41 || kind == pg.Token_ASCII_93 || kind == pg.Token_END_P && isCase
}

func (l *level) count(kind pg.Token) {
	switch kind {
	case pg.Token_IDENT, pg.Token_UIDENT, pg.Token_SCONST, pg.Token_USCONST, pg.Token_ICONST, pg.Token_FCONST,
		pg.Token_BCONST, pg.Token_XCONST, pg.Token_PARAM, pg.Token_ASCII_46:
	case pg.Token_JOIN, pg.Token_UNION, pg.Token_INTERSECT, pg.Token_EXCEPT:
		l.chain++
		l.element = 0
	case pg.Token_ASCII_44, pg.Token_OR:
		l.element = 0
	case pg.Token_BETWEEN:
		l.between++
		l.element++
	case pg.Token_AND:
		if l.between > 0 {
			l.between--
			l.element++
			return
		}
		l.element = 0
	case pg.Token_WHEN, pg.Token_THEN, pg.Token_ELSE:
		l.element++
		if l.isCase {
			l.element = 1
		}
	default:
		l.element++
	}
}
