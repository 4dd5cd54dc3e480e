package console

import (
	"errors"
	"net/http"
	"slices"
)

// deed is an action as the page offers it.
type deed struct {
	Name, Title string
	// What says what the action does, and Price what it costs. LineagePrice is the cost if it begins
	// a new lineage, empty if it never does.
	What, Price, LineagePrice string
	// Tables says that the action is for one table, and Levels that it takes a log level.
	Tables, Levels bool
}

var deeds = []deed{
	{Name: "reload", Title: "Reload the configuration", What: "Every kproxy on the database reads its file again and takes it over, or refuses it as a whole.", Price: "Sessions go on, unless their user is gone or what they have read is no longer published."},
	{Name: "loglevel", Title: "Set the log level", What: "This process logs from another level on, until the configuration is reloaded or it ends.", Price: "Debug writes much.", Levels: true},
	{Name: "resync", Title: "Resynchronize", What: "The table is compared with its source, and the difference is applied. It lifts a table out of withdrawal where that can be done.", Price: "Reads the source table and the private store as a whole.", Tables: true},
	{Name: "reanonymize", Title: "Reanonymize", What: "All classes of a table with immediate updates are made anew and published at once, where that loses less information.", Price: "Takes as long as publishing the table. Readers who compare versions see two releases of the same records.", Tables: true},
	{Name: "rebuild", Title: "Rebuild", What: "The table is published afresh from its source.", Price: "Takes as long as publishing the table. Readers who compare versions see two releases of the same records.", LineagePrice: "It begins a new lineage: readers who compare the new release with the old one may single people out. To resynchronize keeps the lineage.", Tables: true},
}

var logLevels = []string{"debug", "info", "warn", "error"}

// What an operator has agreed to, as sent by forms. Consent to an action without such a consequence
// is not consent to a new lineage.
const (
	agreed        = "yes"
	agreedLineage = "lineage"
)

func deedNamed(name string) (deed, bool) {
	i := slices.IndexFunc(deeds, func(d deed) bool { return d.Name == name })
	if i < 0 {
		return deed{}, false
	}
	return deeds[i], true
}

// actionPage is the content of the pages of actions.
type actionPage struct {
	Deeds  []deed
	Chosen deed
	Table  string
	Level  string
	// Price is the cost of the action, and Consent the value of a form that agrees to it.
	Price, Consent string
	Levels         []string
	Tables         []string
	Results        []string
	Problem        string
}

func (c *Console) showActions(w http.ResponseWriter, r *http.Request, s *session) error {
	return c.actionPage(w, r, s, http.StatusOK, "actions", actionPage{Deeds: deeds})
}

func (c *Console) actionPage(w http.ResponseWriter, r *http.Request, s *session, status int, template string, body actionPage) error {
	body.Levels, body.Tables = logLevels, c.options.Source.Site().Names()
	return c.render(w, r, s, status, template, page{Title: "Actions", Section: "actions", Body: body})
}

// chosen reads the requested action, and refuses one that is not possible.
func (c *Console) chosen(r *http.Request) (actionPage, error) {
	d, known := deedNamed(r.PathValue("action"))
	if !known {
		return actionPage{}, ErrUnknown
	}
	body := actionPage{Deeds: deeds, Chosen: d, Price: d.Price, Consent: agreed}
	if d.Tables {
		if body.Table = r.FormValue("table"); !c.options.Source.Site().Has(body.Table) {
			return body, InputError("choose a protected table")
		}
	}
	if d.Levels {
		if body.Level = r.FormValue("level"); !slices.Contains(logLevels, body.Level) {
			return body, InputError("choose a log level")
		}
	}
	if d.LineagePrice != "" {
		begins, err := c.options.Source.BeginsLineage(r.Context(), body.Table)
		if err != nil {
			return body, err
		}
		if begins {
			body.Price, body.Consent = d.LineagePrice, agreedLineage
		}
	}
	return body, nil
}

// confirmAction asks for confirmation, with the cost.
func (c *Console) confirmAction(w http.ResponseWriter, r *http.Request, s *session) error {
	body, err := c.chosen(r)
	if err != nil {
		return err
	}
	return c.actionPage(w, r, s, http.StatusOK, "confirm", body)
}

func (c *Console) act(w http.ResponseWriter, r *http.Request, s *session) error {
	body, err := c.chosen(r)
	if err != nil {
		return err
	}
	if r.PostFormValue("confirmed") != body.Consent {
		return c.actionPage(w, r, s, http.StatusUnprocessableEntity, "confirm", body)
	}
	c.options.Logger.Info("an operator acts from the console", "user", s.user, "action", body.Chosen.Name, "relation", body.Table, "log_level", body.Level)
	body.Results, err = c.options.Source.Act(r.Context(), Action{Name: body.Chosen.Name, Table: body.Table, Level: body.Level, User: s.user})
	status := http.StatusOK
	if err != nil {
		if wrong := InputError(""); !errors.As(err, &wrong) {
			c.options.Logger.Warn("an action from the console failed", "action", body.Chosen.Name, "error", err)
		}
		body.Problem, status = err.Error(), http.StatusUnprocessableEntity
	}
	return c.actionPage(w, r, s, status, "done", body)
}
