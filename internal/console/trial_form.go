package console

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// trialForm is the content of the form of a trial, valid or not.
type trialForm struct {
	K, L, Sample string
	Methods      []string
}

// usualForm returns the initial form.
func usualForm(c Choices) trialForm {
	if c.Persons() {
		return trialForm{K: usualPeopleKs, Sample: strconv.Itoa(usualPersons), Methods: c.Methods}
	}
	return trialForm{K: usualKs, Sample: strconv.Itoa(defaultSample), Methods: []string{c.Method}}
}

// formOf returns the form for a trial with the parameters.
func formOf(p Parameters) trialForm {
	f := trialForm{Sample: strconv.Itoa(p.Sample), Methods: p.Methods}
	words := make([]string, len(p.K))
	for i, k := range p.K {
		words[i] = strconv.Itoa(k)
	}
	f.K = strings.Join(words, ", ")
	if p.L != 0 {
		f.L = strconv.FormatFloat(p.L, 'f', -1, 64)
	}
	return f
}

// sentForm returns the form as it was sent, for correction.
func sentForm(sent url.Values) trialForm {
	return trialForm{K: sent.Get("k"), L: sent.Get("l"), Sample: sent.Get("sample"), Methods: sent["method"]}
}

// readParameters reads the form.
func readParameters(form url.Values, table string, c Choices) (Parameters, error) {
	usual, most := c.sizes()
	p := Parameters{Table: table, Sample: usual}
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
		if err != nil || !(p.L >= leastL && p.L <= mostL) {
			return p, InputError(fmt.Sprintf("%s is no value of l: it must be a number from %d to %d", quoted(text), leastL, mostL))
		}
	}
	if text := form.Get("sample"); text != "" {
		p.Sample, err = strconv.Atoi(text)
		if err != nil || p.Sample < leastSample || p.Sample > most {
			return p, InputError(fmt.Sprintf("%s is no size of a sample: it must have %d to %d %s", quoted(text), leastSample, most, c.unit()))
		}
	}
	if runs := len(p.K) * len(p.Methods); runs > maxRuns {
		return p, InputError(fmt.Sprintf("%d values of k by %d methods are %d runs; %d are possible", len(p.K), len(p.Methods), runs, maxRuns))
	}
	return p, nil
}

// readKs reads a list of k, and adds the one in force.
func readKs(text string, inForce int) ([]int, error) {
	if inForce == 0 {
		return []int{0}, nil // the policy has no k to vary
	}
	ks := []int{min(max(inForce, leastK), mostK)}
	var wrong []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == ';' || r == '\t' }) {
		k, err := strconv.Atoi(word)
		if err != nil || k < leastK || k > mostK {
			wrong = append(wrong, quoted(word))
			continue
		}
		ks = append(ks, k)
	}
	if len(wrong) > 0 {
		return nil, InputError(kProblem(wrong))
	}
	slices.Sort(ks)
	return slices.Compact(ks), nil
}

// kProblem says that words are not values of k.
func kProblem(wrong []string) string {
	const told = 3
	are, more := "are no values", ""
	if len(wrong) == 1 {
		are = "is no value"
	}
	if len(wrong) > told {
		more = fmt.Sprintf(" and %d more", len(wrong)-told)
		wrong = wrong[:told]
	}
	return fmt.Sprintf("%s%s %s of k: they must be whole numbers from %d to %d, such as 2, 5, 10", strings.Join(wrong, ", "), more, are, leastK, mostK)
}

// quoted returns a word of the form, or its beginning.
func quoted(word string) string {
	const most = 20
	if runes := []rune(word); len(runes) > most {
		word = string(runes[:most]) + "…"
	}
	return "“" + word + "”"
}
