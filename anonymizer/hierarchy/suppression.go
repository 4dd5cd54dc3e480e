package hierarchy

// suppression is the Suppression hierarchy: a flat taxonomy, of which nothing
// but the value that all members have is ever published.
type suppression struct{ *taxonomy }

func newSuppression() suppression { return suppression{newTaxonomy(nil)} }

func (suppression) Kind() Kind { return Suppression }
