package console

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/kproxy/kproxy/internal/crash"
)

// Bounds of a trial, which shares the process with the clients.
const (
	leastK, mostK = 2, 100
	leastL, mostL = 1, 100
	leastSample   = 100
	maxRuns       = 60
	defaultSample = 5000
	maxSample     = 50_000
	maxTrialTime  = 5 * time.Minute
	trialTooLong  = "it took longer than 5 minutes; take a smaller sample or fewer values"
	trialCanceled = "it was canceled"
	trialFailed   = "it failed; the log says where"
	trialIsBusy   = "a trial is running; wait for it, or cancel it"
	usualKs       = "2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100"
	stateRunning  = "running"
	stateDone     = "done"
	stateFailed   = "failed"
)

// job is a trial and its progress.
type job struct {
	Parameters Parameters `json:"parameters"`
	User       string     `json:"-"`
	Began      time.Time  `json:"began"`
	Ended      time.Time  `json:"ended,omitzero"`
	State      string     `json:"state"` // running, done or failed
	Problem    string     `json:"problem,omitempty"`
	Trial      Trial      `json:"trial"`

	cancel context.CancelFunc
}

// Running reports whether the trial is running.
func (j job) Running() bool { return j.State == stateRunning }

// Percent returns the share of the trial that is done.
func (j job) Percent() int {
	if j.Trial.Total == 0 {
		return 0
	}
	return 100 * j.Trial.Done / j.Trial.Total
}

// trials runs one at a time and remembers the last of each table.
type trials struct {
	source Source
	now    func() time.Time
	log    *slog.Logger
	ctx    context.Context //nolint:containedctx // the process's: a trial outlives the request that asks for it
	mutex  sync.Mutex
	last   map[string]*job // by table
	active *job
}

func newTrials(ctx context.Context, source Source, now func() time.Time, log *slog.Logger) *trials {
	return &trials{source: source, now: now, log: log, ctx: ctx, last: make(map[string]*job)}
}

// begin starts a trial, unless one is running.
func (t *trials) begin(p Parameters, user string) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.active != nil {
		return InputError(trialIsBusy)
	}
	ctx, cancel := context.WithTimeout(t.ctx, maxTrialTime)
	j := &job{Parameters: p, User: user, Began: t.now(), State: stateRunning, Trial: Trial{Total: len(p.K) * len(p.Methods)}, cancel: cancel}
	t.active, t.last[p.Table] = j, j
	go t.run(ctx, j)
	return nil
}

func (t *trials) run(ctx context.Context, j *job) {
	defer j.cancel()
	defer func() {
		if failure := recover(); failure != nil {
			t.log.Error("the console failed", append(crash.Of(failure).Log(), "relation", j.Parameters.Table)...)
			t.end(j, Trial{}, InputError(trialFailed))
		}
	}()
	trial, err := t.source.Try(ctx, j.Parameters, func(known Trial) {
		t.mutex.Lock()
		defer t.mutex.Unlock()
		j.Trial = known
	})
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = InputError(trialTooLong)
	case ctx.Err() != nil:
		err = InputError(trialCanceled)
	}
	t.end(j, trial, err)
}

func (t *trials) end(j *job, trial Trial, err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.active = nil
	j.Ended, j.State = t.now(), stateDone
	if len(trial.Runs) > 0 {
		j.Trial = trial
	}
	if err != nil {
		j.State, j.Problem = stateFailed, err.Error()
	}
}

// cancel ends the running trial, if there is one.
func (t *trials) cancelActive() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.active != nil {
		t.active.cancel()
	}
}

// of returns the last trial of a table, false if there is none, and the table of the running trial.
func (t *trials) of(table string) (last job, known bool, active string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.active != nil {
		active = t.active.Parameters.Table
	}
	j := t.last[table]
	if j == nil {
		return job{}, false, active
	}
	return *j, true, active
}

// trialPage is the content of the page of trials.
type trialPage struct {
	Table   string
	Choices Choices
	Problem string
	Job     *job
	Active  string // the table of the trial that runs, empty without one
	Form    trialForm
	Charts  []*chart
}

// Selected reports whether a method is selected in the form.
func (p trialPage) Selected(method string) bool { return slices.Contains(p.Form.Methods, method) }

// KnownRows are how many rows an outsider knows in the runs of tables about the same persons.
func (p trialPage) KnownRows() (known []string) {
	for _, r := range p.Job.Trial.Runs {
		if r.People == nil || r.Refused != "" {
			continue
		}
		for _, risk := range r.People.Risks {
			known = append(known, risk.Known)
		}
		return known
	}
	return nil
}

func (c *Console) showTrial(w http.ResponseWriter, r *http.Request, s *session) error {
	return c.trialPage(w, r, s, http.StatusOK, "")
}

// trialPage answers with the page, or with JSON for programs. If there is a problem, the form contains
// what was sent.
func (c *Console) trialPage(w http.ResponseWriter, r *http.Request, s *session, status int, problem string) error {
	table := c.tableOf(r)
	if table == "" {
		return ErrUnknown
	}
	choices, err := c.options.Source.Methods(r.Context(), table)
	if err != nil {
		return err
	}
	body := trialPage{Table: table, Choices: choices, Problem: problem, Form: usualForm(choices)}
	last, known, active := c.trials.of(table)
	body.Active = active
	if known {
		body.Job, body.Form = &last, formOf(last.Parameters)
		body.Charts = trialCharts(last.Trial)
	}
	if problem != "" {
		body.Form = sentForm(r.PostForm)
	}
	if wantsJSON(r) {
		return writeJSON(w, status, struct {
			Table   string  `json:"table"`
			Choices Choices `json:"choices"`
			Active  string  `json:"active"`
			Problem string  `json:"problem,omitempty"`
			Job     *job    `json:"job"`
		}{table, choices, active, problem, body.Job})
	}
	return c.render(w, r, s, status, "trial", page{Title: "What if", Section: "trial", Table: table, Live: body.Job != nil && body.Job.Running(), Body: body})
}

func (c *Console) beginTrial(w http.ResponseWriter, r *http.Request, s *session) error {
	table := c.tableOf(r)
	if table == "" {
		return ErrUnknown
	}
	choices, err := c.options.Source.Methods(r.Context(), table)
	if err != nil {
		return err
	}
	p, err := readParameters(r.PostForm, table, choices)
	if err == nil {
		err = c.trials.begin(p, s.user)
	}
	if wrong := InputError(""); errors.As(err, &wrong) {
		return c.trialPage(w, r, s, http.StatusUnprocessableEntity, wrong.Error())
	}
	http.Redirect(w, r, "/whatif/"+url.PathEscape(table), http.StatusSeeOther)
	return nil
}

func (c *Console) cancelTrial(w http.ResponseWriter, r *http.Request, _ *session) error {
	c.trials.cancelActive()
	table := c.tableOf(r)
	if table == "" {
		return ErrUnknown
	}
	http.Redirect(w, r, "/whatif/"+url.PathEscape(table), http.StatusSeeOther)
	return nil
}
