package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of a trial, which runs beside everything that the process serves.
const (
	leastK, mostK = 2, 100
	maxRuns       = 60
	defaultSample = 5000
	maxSample     = 50_000
	maxTrialTime  = 5 * time.Minute
	trialTooLong  = "it took longer than 5 minutes; take a smaller sample or fewer values"
	trialCanceled = "it was canceled"
	trialFailed   = "it failed; the log says where"
	trialIsBusy   = "a trial is running; wait for it, or cancel it"
	kMeaning      = "k must be whole numbers between 2 and 100, such as 2, 5, 10"
	usualKs       = "2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100"
	stateRunning  = "running"
	stateDone     = "done"
	stateFailed   = "failed"
)

// job is a trial and how far it is.
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

// Running tells whether the trial goes on.
func (j job) Running() bool { return j.State == stateRunning }

// Percent is how much of the trial is done.
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
			crashed(t.log, failure, "trial", j.Parameters.Table)
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

// cancel ends the trial that runs, if one does.
func (t *trials) cancelActive() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.active != nil {
		t.active.cancel()
	}
}

// of returns the last trial of a table, false without one, and the table of the one that
// runs.
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

// readParameters reads the form.
func readParameters(form url.Values, table string, c Choices) (Parameters, error) {
	p := Parameters{Table: table, Sample: defaultSample}
	for _, method := range form["method"] {
		if !slices.Contains(c.Methods, method) {
			return p, InputError("choose methods that can honor the table's constraints")
		}
		if !slices.Contains(p.Methods, method) {
			p.Methods = append(p.Methods, method)
		}
	}
	if len(p.Methods) == 0 {
		return p, InputError("choose a method")
	}
	var err error
	if p.K, err = readKs(form.Get("k"), c.K); err != nil {
		return p, err
	}
	if text := strings.TrimSpace(form.Get("l")); text != "" && c.L > 0 {
		p.L, err = strconv.ParseFloat(text, 64)
		if err != nil || !(p.L >= 1 && p.L <= 100) {
			return p, InputError("l must be a number between 1 and 100")
		}
	}
	if text := form.Get("sample"); text != "" {
		p.Sample, err = strconv.Atoi(text)
		if err != nil || p.Sample < 100 || p.Sample > maxSample {
			return p, InputError(fmt.Sprintf("the sample must have 100 to %d records", maxSample))
		}
	}
	if runs := len(p.K) * len(p.Methods); runs > maxRuns {
		return p, InputError(fmt.Sprintf("%d values of k by %d methods are %d runs; %d are possible", len(p.K), len(p.Methods), runs, maxRuns))
	}
	return p, nil
}

// readKs reads a list of k, to which the one in force is added.
func readKs(text string, inForce int) ([]int, error) {
	if inForce == 0 {
		return []int{0}, nil // the policy has no k to vary
	}
	ks := []int{min(max(inForce, leastK), mostK)}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == ';' || r == '\t' }) {
		k, err := strconv.Atoi(word)
		if err != nil || k < leastK || k > mostK {
			return nil, InputError(kMeaning)
		}
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return slices.Compact(ks), nil
}

// trialPage is what the page of trials shows.
type trialPage struct {
	Table   string
	Choices Choices
	UsualK  string
	Problem string
	Job     *job
	Active  string // the table of the trial that runs, empty without one
	Form    Parameters
	Charts  []*chart
}

// Selected tells whether a method is marked in the form.
func (p trialPage) Selected(method string) bool { return slices.Contains(p.Form.Methods, method) }

// Ks are those of the form, as they are written.
func (p trialPage) Ks() string {
	if len(p.Form.K) == 0 {
		return p.UsualK
	}
	words := make([]string, len(p.Form.K))
	for i, k := range p.Form.K {
		words[i] = strconv.Itoa(k)
	}
	return strings.Join(words, ", ")
}

func (c *Console) showTrial(w http.ResponseWriter, r *http.Request, s *session) error {
	return c.trialPage(w, r, s, http.StatusOK, "")
}

func (c *Console) trialPage(w http.ResponseWriter, r *http.Request, s *session, status int, problem string) error {
	table := c.tableOf(r)
	if table == "" {
		return ErrUnknown
	}
	choices, err := c.options.Source.Methods(r.Context(), table)
	if err != nil {
		return err
	}
	body := trialPage{Table: table, Choices: choices, UsualK: usualKs, Problem: problem, Form: Parameters{Methods: []string{choices.Method}, Sample: defaultSample}}
	last, known, active := c.trials.of(table)
	body.Active = active
	if known {
		body.Job, body.Form = &last, last.Parameters
		body.Charts = trialCharts(last.Trial)
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
