package report

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTable writes the most telling figures for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "method\tk\tl\talpha\tclasses\tmean size\twithheld\tloss\tquery error\trisk\tmean risk\tDM\ttime\t")
	var refused []string
	for _, m := range r.Measurements {
		parameters := fmt.Sprintf("%s\t%d\t%s\t%s", m.Method, m.K, orDash(m.L), orDash(m.Alpha))
		if m.Refused != "" {
			refused = append(refused, fmt.Sprintf("%s, k = %d: %s", m.Method, m.K, m.Refused))
			fmt.Fprintf(out, "%s\t-\t-\t-\t-\t-\t-\t-\t-\t-\t\n", parameters)
			continue
		}
		fmt.Fprintf(out, "%s\t%d\t%.1f\t%d\t%s\t%s\t%s\t%s\t%d\t%s\t\n", parameters,
			m.Classes, m.Average, m.Withheld, percent(m.Loss), percent(m.QueryError),
			percent(m.Prosecutor), percent(m.MeanRisk), m.Discernibility, seconds(m.Seconds))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	for _, reason := range refused {
		if _, err := fmt.Fprintf(w, "\nno release: %s\n", reason); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	return nil
}

func orDash(f float64) string {
	if f == 0 {
		return "-"
	}
	return fmt.Sprintf("%g", f)
}

func percent(f float64) string { return fmt.Sprintf("%.2f%%", 100*f) }

// seconds writes a duration with three digits, which is more than a run on a busy
// machine can promise.
func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3g ms", 1000*s)
	}
	return fmt.Sprintf("%.3g s", s)
}
