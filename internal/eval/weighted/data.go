package weighted

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/dataset"
)

// NewData takes the records of a file under a policy; sum names the column of numbers that
// is summed, "" for none. Records without a number count as 0.
func NewData(name string, file *dataset.File, policy *config.PolicyFile, sum string) (Data, error) {
	table, err := file.Anonymizable(policy, "")
	if err != nil {
		return Data{}, err
	}
	d := Data{Name: name, Table: table}
	if sum == "" {
		return d, nil
	}
	column := slices.Index(file.Columns, sum)
	if column < 0 {
		return Data{}, fmt.Errorf("there is no column %q to sum: there are %s", sum, strings.Join(file.Columns, ", "))
	}
	for _, field := range file.Fields(column) {
		number, err := strconv.ParseFloat(field, 64)
		if err != nil && field != "" {
			return Data{}, fmt.Errorf("column %s cannot be summed: it has fields that are no numbers", sum)
		}
		d.Measure = append(d.Measure, number)
	}
	return d, nil
}
