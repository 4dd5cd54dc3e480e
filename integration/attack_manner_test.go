package integration

import (
	"fmt"

	oldproto "github.com/jackc/pgproto3/v2"
)

// manner is one way to send an attack.
type manner struct {
	name string
	// send returns the answers of the steps, or one answer for all of them.
	send func(w *wire, steps []string) ([]answer, error)
	// strict manners add nothing of their own to what is sent: the attack's
	// expectation holds word for word, for a text of one statement.
	strict bool
	// runs says that statements are run; one alone comes to what it must in every
	// manner, but several may share a transaction that they did not begin.
	runs bool
	// whole manners can send several statements in one text.
	whole bool
	// binary results of some types cannot be had.
	binary bool
	// endless manners send also what only the site's limit of time ends, which computes until then.
	endless bool
	// third, if not 0, says which third of the attacks is enough.
	third int
}

// share is the attacks that are sent in this manner.
func (m manner) share(attacks []attack) []attack {
	var share []attack
	for i, a := range attacks {
		if (m.third == 0 || i%3 == m.third-1) && (m.endless || !a.endless()) {
			share = append(share, a)
		}
	}
	return share
}

var manners = []manner{
	{name: "simple", send: oneByOne((*wire).simple), strict: true, runs: true, whole: true, endless: true},
	{name: "extended", send: oneByOne(inFormat(0)), strict: true, runs: true},
	{name: "extended, binary", send: oneByOne(inFormat(1)), strict: true, runs: true, binary: true},
	{name: "in a pipeline", send: inPipeline, runs: true, third: 1},
	{name: "second in a query", send: oneByOne(func(w *wire, sql string) (answer, error) { return w.simple("SELECT 1;\n" + sql) }), runs: true, whole: true, third: 2},
	{name: "in a transaction", send: inTransaction, runs: true, whole: true, third: 3},
	{name: "named and described only", send: oneByOne(described), third: 1},
}

func inFormat(format int16) func(*wire, string) (answer, error) {
	return func(w *wire, sql string) (answer, error) { return w.extended(format, sql) }
}

func oneByOne(send func(*wire, string) (answer, error)) func(*wire, []string) ([]answer, error) {
	return func(w *wire, steps []string) ([]answer, error) {
		var answers []answer
		for _, sql := range steps {
			a, err := send(w, sql)
			if err != nil {
				return answers, err
			}
			answers = append(answers, a)
		}
		return answers, nil
	}
}

// inPipeline sends all steps after a harmless one, under one Sync.
func inPipeline(w *wire, steps []string) ([]answer, error) {
	a, err := w.extended(0, append([]string{"SELECT 1"}, steps...)...)
	return []answer{a}, err
}

func inTransaction(w *wire, steps []string) ([]answer, error) {
	if _, err := w.simple("BEGIN"); err != nil {
		return nil, err
	}
	return oneByOne((*wire).simple)(w, steps)
}

// described prepares a named statement, asks for its shape, and closes it.
func described(w *wire, sql string) (answer, error) {
	err := w.send(&oldproto.Parse{Name: "s", Query: sql}, &oldproto.Describe{ObjectType: 'S', Name: "s"},
		&oldproto.Close{ObjectType: 'S', Name: "s"}, &oldproto.Sync{})
	if err != nil {
		return answer{}, err
	}
	return w.receive(true)
}

// settle leaves whatever the attack left open and shows that the session is in
// step: harmless statements, sent at once, are answered once each.
func (w *wire) settle() error {
	const harmless = "SELECT 40 + 2"
	if err := w.send(&oldproto.Query{String: "ROLLBACK"}, &oldproto.Query{String: "DISCARD ALL"}, &oldproto.Query{String: harmless},
		&oldproto.Parse{Query: harmless}, &oldproto.Bind{}, &oldproto.Execute{}, &oldproto.Sync{}); err != nil {
		return err
	}
	for i := range 4 {
		a, err := w.receive(i == 3)
		if err != nil {
			return err
		}
		if i >= 2 && (a.rows != 1 || a.last != "42" || len(a.errs) > 0 || a.status != 'I') {
			return fmt.Errorf("a harmless statement is answered by %+v", a)
		}
	}
	return nil
}

// recover leaves whatever transaction is open and does something harmless.
func (w *wire) recover() error {
	if _, err := w.simple("ROLLBACK"); err != nil {
		return err
	}
	for _, again := range []func() (answer, error){
		func() (answer, error) { return w.simple("SELECT 40 + 2") },
		func() (answer, error) { return w.extended(0, "SELECT 40 + 2") },
	} {
		a, err := again()
		if err != nil {
			return err
		}
		if a.rows != 1 || a.last != "42" || len(a.errs) > 0 || a.status != 'I' {
			return fmt.Errorf("a harmless statement is answered by %+v", a)
		}
	}
	return nil
}
