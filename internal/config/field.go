package config

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// section is a mapping whose keys the fields of a struct declare.
type section struct {
	fields []field
	// name is the field with the name of an entry of a mapping by names.
	name *field
	// alone is the field that a single value in the mapping's place is read into.
	alone *field
}

// field is one key of a section. These tags of a struct's field declare it, of which all
// but yaml may be missing:
//
//	yaml      the key; "-" for none; ",inline" for a struct whose keys are those of the
//	          section; ",name" for the name of an entry in a mapping by names
//	doc       what it is for, its unit and what zero means; in Markdown, with {kproxy ...}
//	          for a command
//	default   what holds where nothing is written, as it would be written
//	need      what to write when the key is missing; without it the key may be missing
//	why       the reason for need, where it does not go without saying
//	unless    a key beside the section's whose presence lets this one be missing; the check
//	          of a section then reports by field.lacks that it is
//	what      what messages call the value, with %s for the section; by default the key
//	as        the form of the value, a name in formOf, where the type does not decide it
//	choices   the words that may be written
//	range     least..most, where < excludes a bound, as in 0<..<1
//	alone     says that a single value for the section is one for this key, and what to write
//	section   "optional" where the struct stays zero when the key is missing
//	refused   the reason why a key that others use is none; fix says what to write instead
//
// Those of lists and of mappings by names:
//
//	each      what messages call an entry; by default as the whole
//	fix       what to write
//	empty     what comes of a list without entries, after "so that"
//	single    one entry may stand without the list
//	order     "ascending" or "descending"
//
// And those of structs that stand in several sections:
//
//	only, omit   the keys that are there, or are not
//	may          the keys that may be missing
//	inherits     "yes" where another section decides what is not written, and not defaults
//	after        the key that inlined keys follow
type field struct {
	index                     []int
	key, what, doc, byDefault string
	need, why, refused, fix   string
	alone, unless             string
	optional                  bool
	codec                     codec
}

// selection is what a struct's place makes of its keys.
type selection struct {
	only, omit, may []string
	inherits        bool
}

func selectionOf(tag reflect.StructTag) selection {
	return selection{strings.Fields(tag.Get("only")), strings.Fields(tag.Get("omit")), strings.Fields(tag.Get("may")), tag.Get("inherits") != ""}
}

func (s selection) leavesOut(key string) bool {
	return len(s.only) > 0 && !slices.Contains(s.only, key) || slices.Contains(s.omit, key)
}

// sectionOf is the section that a struct declares.
func sectionOf(t reflect.Type, selected selection) *section {
	s := &section{}
	for i := range t.NumField() {
		of := t.Field(i)
		key, option, _ := strings.Cut(of.Tag.Get("yaml"), ",")
		if option == "inline" {
			s.inline(of)
			continue
		}
		if key == "" && option == "" || selected.leavesOut(key) {
			continue
		}
		f := fieldOf(of, key)
		if slices.Contains(selected.may, key) {
			f.need, f.unless = "", ""
		}
		if selected.inherits {
			f.byDefault = ""
		}
		if option == "name" {
			s.name = &f
		}
		if f.alone != "" {
			s.alone = &f
		}
		if key != "" && key != "-" {
			s.fields = append(s.fields, f)
		}
	}
	return s
}

// required reports whether the section must have the key wherever it stands.
func (f *field) required() bool { return f.need != "" && f.unless == "" }

// inline makes the keys of a struct those of the section that it stands in.
func (s *section) inline(of reflect.StructField) {
	below := sectionOf(of.Type, selectionOf(of.Tag)).fields
	for i := range below {
		below[i].index = append(slices.Clone(of.Index), below[i].index...)
	}
	at := len(s.fields)
	if after := of.Tag.Get("after"); after != "" {
		at = 1 + slices.IndexFunc(s.fields, func(f field) bool { return f.key == after })
	}
	s.fields = slices.Insert(s.fields, at, below...)
}

// command is the name of a command of kproxy in a text of a tag, which cannot have backquotes.
var command = regexp.MustCompile(`\{(kproxy [^}]*)\}`)

// fieldOf is what the tags of a struct's field declare.
func fieldOf(of reflect.StructField, key string) field {
	text := func(name string) string { return command.ReplaceAllString(of.Tag.Get(name), "`$1`") }
	f := field{
		index: of.Index, key: key, what: cmp.Or(text("what"), key), doc: text("doc"), byDefault: text("default"),
		need: text("need"), why: text("why"), refused: text("refused"), fix: text("fix"), alone: text("alone"), unless: of.Tag.Get("unless"), optional: text("section") == "optional",
	}
	if f.refused == "" {
		f.codec = codecOf(of.Type, of.Tag)
	}
	return f
}

// codecOf reads values of a type as the tags of their field declare.
func codecOf(t reflect.Type, tag reflect.StructTag) codec {
	as, each, empty := tag.Get("as"), tag.Get("each"), tag.Get("empty")
	fix := command.ReplaceAllString(tag.Get("fix"), "`$1`")
	switch {
	case as == "taxonomy":
		return taxonomy{}
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct && sectionOf(t.Elem(), selectionOf(tag)).name != nil:
		return names{entry: sectionOf(t.Elem(), selectionOf(tag)), each: each, fix: fix, empty: empty}
	case t.Kind() == reflect.Slice:
		return list{entry: codecOf(t.Elem(), tag), each: each, fix: fix, empty: empty, single: tag.Get("single") != "", order: tag.Get("order")}
	case t.Kind() == reflect.Map:
		return textMap{value: codecOf(t.Elem(), tag), each: each}
	case as != "":
		return formOf(as, tag)
	case tag.Get("choices") != "":
		return words(strings.Fields(tag.Get("choices"))...)
	case t.Kind() == reflect.Struct:
		return sectionOf(t, selectionOf(tag))
	}
	return codecOfType(t, tag)
}

// codecOfType reads values whose form their type decides.
func codecOfType(t reflect.Type, tag reflect.StructTag) codec {
	least, most := rangeOf(tag)
	switch value := reflect.Zero(t).Interface().(type) {
	case time.Duration:
		return durationWithin(least, most)
	case fmt.Stringer:
		return choicesOf(value)
	case int:
		return integer{integerIn(least), integerIn(most)}
	case float64:
		return number{bounds: boundsOf(least, most)}
	case bool:
		return boolean{}
	}
	return text{kind: ShapeText}
}

// rangeOf are the ends of a range as they are written.
func rangeOf(tag reflect.StructTag) (least, most string) {
	least, most, _ = strings.Cut(tag.Get("range"), "..")
	return least, most
}
