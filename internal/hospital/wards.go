package hospital

// The keys of the table wards.
const (
	wardCardiology       = "Cardiology"
	wardEmergency        = "Emergency"
	wardGastroenterology = "Gastroenterology"
	wardGynecology       = "Gynecology"
	wardInternal         = "Internal Medicine"
	wardNeonatal         = "Neonatal Care"
	wardNeurology        = "Neurology"
	wardObstetrics       = "Obstetrics"
	wardOncology         = "Oncology"
	wardOrthopedics      = "Orthopedics"
	wardPediatrics       = "Pediatrics"
	wardPsychiatry       = "Psychiatry"
	wardPulmonology      = "Pulmonology"
	wardSurgery          = "Surgery"
	wardUrology          = "Urology"
)

// Ward is a row of the table wards.
type Ward struct {
	Ward     string
	Building string
	Beds     int
}

// Wards returns the rows of the table wards in alphabetical order.
func Wards() []Ward {
	return []Ward{
		{wardCardiology, "East", 64},
		{wardEmergency, "Main", 30},
		{wardGastroenterology, "East", 42},
		{wardGynecology, "West", 28},
		{wardInternal, "Main", 90},
		{wardNeonatal, "West", 24},
		{wardNeurology, "North", 46},
		{wardObstetrics, "West", 40},
		{wardOncology, "North", 58},
		{wardOrthopedics, "South", 60},
		{wardPediatrics, "West", 48},
		{wardPsychiatry, "Park", 52},
		{wardPulmonology, "East", 44},
		{wardSurgery, "Main", 72},
		{wardUrology, "South", 30},
	}
}
