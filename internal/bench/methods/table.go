package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// seed of all tables.
const seed = 1

// sensitiveValues is how many values the sensitive attribute has, each as frequent.
const sensitiveValues = 10

// tableOf makes the table: the first attributes of workload.AdultLike, and beyond its
// eight those of another such table, beside an independent sensitive attribute.
func tableOf(records, attributes int) (*anonymizer.Table, error) {
	var kept []anonymizer.Attribute
	var cells [][]hierarchy.Cell
	for part := uint64(seed); len(kept) < attributes; part++ {
		adult := workload.AdultLike(part, records)
		for a, attribute := range adult.Attributes() {
			if len(kept) == attributes {
				break
			}
			if part > seed {
				attribute.Name += fmt.Sprint(part)
			}
			kept, cells = append(kept, attribute), append(cells, adult.Cells(a))
		}
	}
	sensitive := make([]uint32, records)
	for i := range sensitive {
		sensitive[i] = uint32(uint64(i) * 2654435761 >> 7 % sensitiveValues)
	}
	return anonymizer.NewTable(kept, cells, [][]uint32{sensitive})
}

// source is where a table comes from: the generated one of so many records and attributes,
// or the Adult census data of a folder.
type source struct {
	records, attributes int
	folder              string
}

func (s source) read() (*anonymizer.Table, error) {
	if s.folder == "" {
		return tableOf(s.records, s.attributes)
	}
	t, err := anonymizertest.AdultWithTaxonomies(s.folder)
	if err == nil && t.Len() != s.records {
		err = fmt.Errorf("the Adult data in %s has %d complete records, not %d", s.folder, t.Len(), s.records)
	}
	return t, err
}

// writeCSV writes the attributes for a peer by their positions: numbers as they are, categories
// as texts.
func writeCSV(path string, t *anonymizer.Table) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	out := bufio.NewWriter(file)
	for a, attribute := range t.Attributes() {
		kind := "categorical"
		if attribute.Hierarchy.Kind() == hierarchy.Numeric {
			kind = "numeric"
		}
		fmt.Fprintf(out, "%s%s:%s", comma(a), attribute.Name, kind)
	}
	fmt.Fprintln(out)
	for i := range t.Len() {
		for a, attribute := range t.Attributes() {
			prefix := "v"
			if attribute.Hierarchy.Kind() == hierarchy.Numeric {
				prefix = ""
			}
			fmt.Fprintf(out, "%s%s%g", comma(a), prefix, attribute.Hierarchy.Position(t.Cells(a)[i]))
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// comma stands before all fields but the first.
func comma(at int) string {
	if at == 0 {
		return ""
	}
	return ","
}
