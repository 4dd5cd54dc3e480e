package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// constantElements are the elements of a constant array of one dimension, as constants: of ARRAY[...], or of a
// literal as PostgreSQL reads one (chapter Arrays, Array Input and Output Syntax).
func constantElements(n *pg.Node) (elements []*pg.Node, ok bool) {
	if array := n.GetAArrayExpr(); array != nil {
		for _, element := range array.GetElements() {
			if !isConstant(element) {
				return nil, false
			}
		}
		return array.GetElements(), true
	}
	text, constant := textConstant(n)
	if !constant {
		return nil, false
	}
	text = strings.Trim(text, arraySpace)
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, false
	}
	r := arrayReader{rest: text[1 : len(text)-1]}
	if strings.Trim(r.rest, arraySpace) == "" {
		return nil, true
	}
	for {
		element, ok := r.element()
		if !ok {
			return nil, false
		}
		elements = append(elements, element)
		if r.rest == "" {
			return elements, true
		}
		r.rest = r.rest[1:] // behind the comma
	}
}

const arraySpace = " \t\n\r\v\f"

// arrayReader reads what stands between the braces of an array.
type arrayReader struct{ rest string }

// element reads up to a comma, or the end. It is not ok where the array is none, or has several dimensions.
func (r *arrayReader) element() (element *pg.Node, ok bool) {
	r.rest = strings.TrimLeft(r.rest, arraySpace)
	if strings.HasPrefix(r.rest, `"`) {
		text, ok := r.quoted()
		if r.rest = strings.TrimLeft(r.rest, arraySpace); !ok || r.rest != "" && r.rest[0] != ',' {
			return nil, false
		}
		return textNode(text), true
	}
	end := strings.IndexByte(r.rest, ',')
	if end < 0 {
		end = len(r.rest)
	}
	text := strings.TrimRight(r.rest[:end], arraySpace)
	r.rest = r.rest[end:]
	if text == "" || strings.ContainsAny(text, `"\{}`) { // escapes need quotation marks here
		return nil, false
	}
	if strings.EqualFold(text, "null") {
		return nullNode(), true
	}
	return textNode(text), true
}

// quoted reads an element between quotation marks.
func (r *arrayReader) quoted() (text string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(r.rest); i++ {
		switch r.rest[i] {
		case '"':
			r.rest = r.rest[i+1:]
			return b.String(), true
		case '\\':
			if i++; i == len(r.rest) {
				return "", false
			}
		}
		b.WriteByte(r.rest[i])
	}
	return "", false
}
