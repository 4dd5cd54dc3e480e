package accept

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/settings"
	ksync "github.com/kproxy/kproxy/sync"
)

// differencesOf describes the differences of a policy from the one in force, field by field, in the
// form in which the store keeps policies. It is never empty.
func differencesOf(inForce ksync.AcceptedPolicy, now catalog.Policy) []string {
	if inForce.Number == 0 {
		return []string{"no policy was accepted before"}
	}
	const unknown = "it cannot be told what differs: the one in force was accepted by another version"
	text, err := json.Marshal(now)
	if err != nil {
		return []string{unknown}
	}
	before, known := storedPolicy(inForce)
	var kept catalog.Policy
	if !known || json.Unmarshal(text, &kept) != nil {
		return []string{unknown}
	}
	differences := policyDifferences(before, kept)
	strict := json.NewDecoder(bytes.NewReader(inForce.Text))
	strict.DisallowUnknownFields()
	if strict.Decode(new(catalog.Policy)) != nil {
		differences = append(differences, "the one in force was accepted by another version, and has settings that this one does not know")
	}
	if len(differences) == 0 {
		differences = []string{"it says the same in another form"}
	}
	return differences
}

// storedPolicy is a policy as the store has it, if this version can read it.
func storedPolicy(accepted ksync.AcceptedPolicy) (p catalog.Policy, known bool) {
	known = json.Unmarshal(accepted.Text, &p) == nil
	return p, known
}

// storedText is a table's policy in the form in which the store keeps it.
func storedText(t catalog.TablePolicy) string {
	text, err := json.Marshal(t)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func policyDifferences(before, now catalog.Policy) []string {
	return fieldDifferences(before, now, map[string]func() []string{
		"Tables": func() []string {
			return keyedDifferences(before.Tables, now.Tables, "protected and mirrored tables are", func(t catalog.TablePolicy) string { return t.Table.String() }, tableDifferences,
				func(t catalog.TablePolicy) string { return fmt.Sprintf("%s is %s now", t.Table, keptAs(t)) },
				func(t catalog.TablePolicy) string { return fmt.Sprintf("%s is no longer %s", t.Table, keptAs(t)) })
		},
		"Readable": func() []string { return listDifferences("readable", before.Readable, now.Readable) },
		"Functions": func() []string {
			return listDifferences("a function that clients may call", before.Functions, now.Functions)
		},
	}, "")
}

// keptAs says whether a table is protected.
func keptAs(t catalog.TablePolicy) string {
	if t.IsMirrored() {
		return "mirrored"
	}
	return "protected"
}

func tableDifferences(before, now catalog.TablePolicy) []string {
	at := now.Table.String() + ": "
	return fieldDifferences(before, now, map[string]func() []string{
		"Columns": func() []string {
			return keyedDifferences(before.Columns, now.Columns, at+"its columns are", func(c catalog.ColumnPolicy) string { return c.Name },
				func(was, is catalog.ColumnPolicy) []string {
					return fieldDifferences(was, is, nil, at+"column "+is.Name+": ")
				},
				func(c catalog.ColumnPolicy) string {
					return fmt.Sprintf("%scolumn %s is %s now, and was not named", at, c.Name, columnText(c))
				},
				func(c catalog.ColumnPolicy) string {
					return fmt.Sprintf("%scolumn %s was %s, and is no longer named", at, c.Name, columnText(c))
				})
		},
		"Joinable": func() []string {
			return valueDifferences(at+"acknowledge.joinable", reflect.ValueOf(before.Joinable), reflect.ValueOf(now.Joinable))
		},
	}, at)
}

// columnText returns the policy of a column, without its name, which is the first field.
func columnText(c catalog.ColumnPolicy) string {
	return strings.TrimPrefix(fieldTexts(reflect.ValueOf(c), 1), "role: ")
}

func listDifferences(what string, before, now []catalog.Name) []string {
	return keyedDifferences(before, now, "names that are "+what+" are", catalog.Name.String, func(_, _ catalog.Name) []string { return nil },
		func(name catalog.Name) string { return fmt.Sprintf("%s is %s now", name, what) },
		func(name catalog.Name) string { return fmt.Sprintf("%s is no longer %s", name, what) })
}

// keyedDifferences compares two lists of elements with keys: common, new and removed elements, and
// the order, for which list is the subject.
func keyedDifferences[T any](before, now []T, list string, key func(T) string, both func(was, is T) []string, come, gone func(T) string) []string {
	place := func(in []T, of T) int {
		return slices.IndexFunc(in, func(other T) bool { return key(other) == key(of) })
	}
	var differences []string
	last, ordered := -1, true
	for _, is := range now {
		i := place(before, is)
		if i < 0 {
			differences = append(differences, come(is))
			continue
		}
		ordered, last = ordered && i > last, i
		differences = append(differences, both(before[i], is)...)
	}
	for _, was := range before {
		if place(now, was) < 0 {
			differences = append(differences, gone(was))
		}
	}
	if !ordered {
		differences = append(differences, list+" in another order")
	}
	return differences
}

// fieldDifferences compares two structures of one type field by field. Apart has functions for single
// fields. Each text begins with at.
func fieldDifferences[T any](before, now T, apart map[string]func() []string, at string) []string {
	was, is := reflect.ValueOf(before), reflect.ValueOf(now)
	var differences []string
	for i := range was.NumField() {
		name := was.Type().Field(i).Name
		if compare := apart[name]; compare != nil {
			differences = append(differences, compare()...)
			continue
		}
		differences = append(differences, valueDifferences(at+settings.Key(name), was.Field(i), is.Field(i))...)
	}
	return differences
}

// longText bounds the characters of values with parts that are shown as a whole.
const longText = 200

// valueDifferences describes the differences between two values of one type, or between their parts
// if the values are long. Nil and empty lists are equal.
func valueDifferences(what string, was, is reflect.Value) []string {
	if reflect.DeepEqual(was.Interface(), is.Interface()) {
		return nil
	}
	before, after := textOf(was), textOf(is)
	line := []string{fmt.Sprintf("%s was %s, is now %s", what, before, after)}
	if before != after && utf8.RuneCountInString(before)+utf8.RuneCountInString(after) <= longText {
		return line
	}
	switch was.Kind() {
	case reflect.Pointer:
		if was.IsNil() || is.IsNil() {
			return line
		}
		return valueDifferences(what, was.Elem(), is.Elem())
	case reflect.Struct:
		var differences []string
		for i := range was.NumField() {
			differences = append(differences, valueDifferences(settings.Within(what, settings.Key(was.Type().Field(i).Name)), was.Field(i), is.Field(i))...)
		}
		return differences
	case reflect.Slice:
		return entryDifferences(what, was, is)
	default:
		return line
	}
}

// entryDifferences compares lists, without their common beginning and end.
func entryDifferences(what string, was, is reflect.Value) []string {
	same := func(i, j int) bool { return reflect.DeepEqual(was.Index(i).Interface(), is.Index(j).Interface()) }
	from, before, after := 0, was.Len(), is.Len()
	for from < min(before, after) && same(from, from) {
		from++
	}
	for min(before, after) > from && same(before-1, after-1) {
		before, after = before-1, after-1
	}
	if before != after {
		return []string{fmt.Sprintf("%s, from entry %d on, was %s, is now %s", what, from+1, textOf(was.Slice(from, before)), textOf(is.Slice(from, after)))}
	}
	var differences []string
	for i := from; i < before; i++ {
		differences = append(differences, valueDifferences(fmt.Sprintf("%s, entry %d", what, i+1), was.Index(i), is.Index(i))...)
	}
	return differences
}

// textOf returns a value of a policy in a form close to that of a configuration.
func textOf(v reflect.Value) string {
	switch written := v.Interface().(type) {
	case privacy.Spec:
		return constraintText(written)
	case time.Duration:
		return settings.Duration(written)
	case fmt.Stringer:
		if v.Kind() != reflect.Pointer {
			return written.String()
		}
	case string:
		return fmt.Sprintf("%q", written)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "none"
		}
		return textOf(v.Elem())
	case reflect.Slice:
		texts := make([]string, v.Len())
		for i := range texts {
			texts[i] = textOf(v.Index(i))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	case reflect.Struct:
		texts := fieldTexts(v, 0)
		if first, only := strings.CutPrefix(texts, settings.Key(v.Type().Field(0).Name)+": "); only && first == textOf(v.Field(0)) {
			return first
		}
		return "{" + texts + "}"
	default:
		return fmt.Sprint(v.Interface())
	}
}

// fieldTexts returns the field with index from of a structure, which identifies it, and the later
// fields that are not zero.
func fieldTexts(v reflect.Value, from int) string {
	var texts []string
	for i := from; i < v.NumField(); i++ {
		if i == from || !v.Field(i).IsZero() {
			texts = append(texts, settings.Key(v.Type().Field(i).Name)+": "+textOf(v.Field(i)))
		}
	}
	return strings.Join(texts, ", ")
}

// constraintText returns a constraint with the values that it bounds; its name only counts them.
func constraintText(s privacy.Spec) string {
	if len(s.Values) == 0 {
		return s.String()
	}
	return s.String() + ", values " + textOf(reflect.ValueOf(s.Values))
}
