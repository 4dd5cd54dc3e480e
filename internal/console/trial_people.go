package console

import (
	"fmt"
	"strconv"
)

// Bounds of a trial of tables about the same persons, who have many rows each.
const (
	usualPersons, mostPersons = 1000, 5000
	usualPeopleKs             = "5, 10"
)

// PeopleRun is what a run found of tables about the same persons, of which Run.Method is what an
// outsider is taken to know, as catalog.Knowledge writes it. Figures are 0 to 1.
type PeopleRun struct {
	Root  float64 `json:"root_loss"`
	Rows  float64 `json:"rows_loss"`
	Keyed float64 `json:"keyed_rows"` // the share of rows that keep their keys
	// Risks are those of outsiders who know the root row and more and more others.
	Risks []KnownRisk `json:"risks"`
}

// KnownRisk is the mean of 1/candidates for outsiders who know so many rows of a person in one window.
type KnownRisk struct {
	Known string  `json:"known_rows"` // a number, or all
	Mean  float64 `json:"mean_risk"`
}

// Persons reports whether the trial is of tables about the same persons.
func (c Choices) Persons() bool { return c.Kind != "" }

// sizes are the usual and the largest size of a sample, of records or persons.
func (c Choices) sizes() (usual, most int) {
	if c.Persons() {
		return usualPersons, mostPersons
	}
	return defaultSample, maxSample
}

// MostSampled is the largest size of a sample.
func (c Choices) MostSampled() int {
	_, most := c.sizes()
	return most
}

// unit is what a sample is of.
func (c Choices) unit() string {
	if c.Persons() {
		return "persons"
	}
	return "records"
}

// riskByKnown draws the risk by how many rows an outsider knows, with a line for each run. It returns
// nil without runs.
func riskByKnown(t Trial) *chart {
	c := &chart{
		ID: "known", Title: "Risk by what an outsider knows", XTitle: "known rows of a person in one window, besides the root row", YTitle: "mean of 1/persons left",
		Description: "A line for each run; the table below has all figures.",
	}
	highest := 0.0
	for _, r := range t.Runs {
		if r.People != nil {
			for _, risk := range r.People.Risks {
				highest = max(highest, risk.Mean)
			}
		}
	}
	y := shareAxis(c, highest)
	for _, r := range t.Runs {
		if r.People == nil || r.Refused != "" {
			continue
		}
		x := scale{least: 0, most: float64(max(1, len(r.People.Risks)-1)), from: left + 16, to: right - 16}
		row := line{Name: r.Method + ", k = " + strconv.Itoa(r.K), Number: len(c.Lines)%5 + 1}
		for i, risk := range r.People.Risks {
			row.Points = append(row.Points, point{
				X: x.at(float64(i)), Y: y.at(risk.Mean), InForce: r.InForce,
				Text: fmt.Sprintf("%s, %s known: %s", row.Name, risk.Known, percent(risk.Mean)),
			})
			if len(c.Lines) == 0 {
				c.XTicks = append(c.XTicks, tick{x.at(float64(i)), risk.Known})
			}
		}
		c.Lines = append(c.Lines, row)
	}
	if len(c.Lines) == 0 {
		return nil
	}
	return c
}
