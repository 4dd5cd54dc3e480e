package config

import (
	"cmp"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// list is a list of values, which differ; or of sections.
type list struct {
	entry            codec
	each, fix, empty string
	single           bool
	order            string
}

func (c list) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	at := d.follow(n)
	if !c.single && at.Kind != yaml.SequenceNode || c.single && at.Kind != yaml.SequenceNode && at.Kind != yaml.ScalarNode {
		d.wrong(at, fmt.Sprintf("%s must be a list, not %s", what, kindOf(at)), "write "+c.fix)
		return false
	}
	entries := at.Content
	if at.Kind == yaml.ScalarNode {
		entries = []*yaml.Node{n}
	}
	d.untagged(at)
	if len(entries) == 0 && (c.empty != "" || c.single) {
		d.lacksEntries(at, what, c.empty, c.fix)
		return false
	}
	_, sections := c.entry.(*section)
	all := reflect.MakeSlice(to.Type(), len(entries), len(entries))
	length := 0
	for _, n := range entries {
		if d.exhausted() {
			break
		}
		value := all.Index(length)
		d.values[value.Addr().Interface()] = d.follow(n)
		ok := c.entry.read(d, n, cmp.Or(c.each, what), value)
		// A section with mistakes keeps its place: others may speak of it.
		if sections || ok && c.fits(d, n, what, all.Slice(0, length), value) {
			length++
		}
	}
	if length > 0 {
		to.Set(all.Slice(0, length))
	}
	return length > 0
}

// lacksEntries reports a list or a mapping without entries. Why says why it needs one.
func (d *decoder) lacksEntries(n *yaml.Node, what, why, fix string) {
	if why != "" {
		why = ", so that " + why
	}
	d.wrong(n, what+" is empty"+why, "write "+fix)
}

// fits says whether a value is another one than those before it, and in order.
func (c list) fits(d *decoder, n *yaml.Node, what string, before reflect.Value, value reflect.Value) bool {
	each := cmp.Or(c.each, what)
	if last := before.Len() - 1; c.order != "" && last >= 0 {
		order := compareNumbers(value, before.Index(last))
		if c.order == "descending" && order >= 0 {
			d.wrong(d.follow(n), each+" is not less than the one before", "write them from the greatest to the least")
			return false
		}
		if c.order == "ascending" && order <= 0 {
			d.wrong(d.follow(n), each+" is not greater than the one before", "write them from the least to the greatest")
			return false
		}
	}
	for i := range before.Len() {
		if before.Index(i).Interface() == value.Interface() {
			first := d.values[before.Index(i).Addr().Interface()]
			d.wrong(d.follow(n), c.twice(what, quote(d.follow(n).Value), first.Line), "remove one of them")
			value.SetZero()
			return false
		}
	}
	return true
}

func (c list) twice(what, value string, line int) string {
	if c.each == "" {
		return fmt.Sprintf("%s names %s twice, first on line %d", what, value, line)
	}
	return fmt.Sprintf("%s %s stands twice in %s, first on line %d", noun(c.each), value, what, line)
}

func compareNumbers(a, b reflect.Value) int {
	if a.CanFloat() {
		return cmp.Compare(a.Float(), b.Float())
	}
	return cmp.Compare(a.Int(), b.Int())
}

func (c list) shape() *Shape {
	entry := c.entry.shape()
	shape := &Shape{Kind: ShapeList, Values: entry}
	if c.empty != "" || c.single {
		shape.Least = 1
	}
	if c.single {
		return &Shape{Kind: ShapeEither, Either: []*Shape{entry, shape}}
	}
	return shape
}

// names is a mapping from names that the operator chooses to sections.
type names struct {
	entry            *section
	each, fix, empty string
}

func (c names) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	entries, ok := d.entries(n, what)
	if ok && len(d.follow(n).Content) == 0 && c.empty != "" {
		d.lacksEntries(d.follow(n), what, c.empty, c.fix)
	}
	all := reflect.MakeSlice(to.Type(), len(entries), len(entries))
	for i, e := range entries {
		value := all.Index(i)
		name := value.FieldByIndex(c.entry.name.index)
		called := e.key.Value
		if c.entry.name.codec.read(d, e.key, c.entry.name.what, name) {
			called = fmt.Sprint(name.Interface())
		}
		d.keys[value.Addr().Interface()] = e.key
		d.values[value.Addr().Interface()] = d.follow(e.value)
		c.entry.read(d, e.value, c.each+" "+called, value)
	}
	if len(entries) > 0 {
		to.Set(all)
	}
	return ok
}

func (c names) shape() *Shape {
	shape := &Shape{Kind: ShapeNames, Values: c.entry.shape(), Pattern: c.entry.name.codec.shape().Pattern}
	if c.empty != "" {
		shape.Least = 1
	}
	return shape
}

// textMap is a mapping from names that the operator chooses to texts.
type textMap struct {
	value codec
	each  string
}

func (c textMap) read(d *decoder, n *yaml.Node, what string, to reflect.Value) bool {
	entries, ok := d.entries(n, what)
	all := reflect.MakeMap(to.Type())
	for _, e := range entries {
		value := reflect.New(to.Type().Elem()).Elem()
		if c.value.read(d, e.value, c.each, value) {
			all.SetMapIndex(reflect.ValueOf(e.key.Value), value)
		}
	}
	to.Set(all)
	return ok
}

func (c textMap) shape() *Shape { return &Shape{Kind: ShapeNames, Values: c.value.shape()} }
