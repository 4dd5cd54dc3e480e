package shop

// product is what is sold.
type product struct{ name, category string }

var (
	channels = []string{"web", "app", "phone"}
	methods  = []string{"card", "invoice", "transfer"}
)

// categories are what the products belong to, with the median price of one piece.
var categories = []struct {
	name     string
	price    float64
	products []string
}{
	{"books", 14, []string{"novel", "cookbook", "atlas", "dictionary", "comic"}},
	{"garden", 22, []string{"seeds", "spade", "hose", "lawn mower", "bird house"}},
	{"heating", 60, []string{"fan heater", "wood pellets", "thermostat", "electric blanket"}},
	{"kitchen", 35, []string{"pan", "kettle", "knife", "toaster", "mixer"}},
	{"sports", 48, []string{"running shoes", "ball", "tent", "bicycle lamp", "yoga mat"}},
	{"toys", 18, []string{"puzzle", "doll", "building blocks", "kite", "board game"}},
}
