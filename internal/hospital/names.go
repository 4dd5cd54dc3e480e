package hospital

// givenNames by sex and familyNames, the most common first.
var (
	givenNames = map[string][]string{
		female: {
			"Anna", "Maria", "Emma", "Sofia", "Laura", "Julia", "Clara", "Elena", "Marta", "Ida",
			"Nora", "Alice", "Eva", "Lucia", "Hanna", "Ingrid", "Irene", "Olga", "Paula", "Rosa",
			"Agnes", "Beatrice", "Camille", "Diana", "Esther", "Fatima", "Greta", "Helena", "Iris", "Jana",
			"Katrin", "Leonie", "Mira", "Nadia", "Petra", "Renata", "Silvia", "Tamara", "Vera", "Zofia",
		},
		male: {
			"Peter", "Thomas", "Martin", "Lukas", "Paul", "Jan", "Daniel", "Anton", "Marco", "Felix",
			"David", "Simon", "Oscar", "Hugo", "Victor", "Jakob", "Emil", "Karl", "Leo", "Max",
			"Adam", "Bruno", "Carlos", "Dario", "Erik", "Frank", "Georg", "Henrik", "Ivan", "Jonas",
			"Kemal", "Louis", "Milan", "Nils", "Otto", "Rafael", "Stefan", "Tomas", "Walter", "Yusuf",
		},
	}
	familyNames = []string{
		"Berger", "Novak", "Martin", "Rossi", "Jansen", "Larsen", "Moreau", "Fischer", "Kovacs", "Silva",
		"Andersen", "Bianchi", "Costa", "Dubois", "Eriksen", "Ferrari", "Garcia", "Horvat", "Ivanov", "Jensen",
		"Keller", "Lambert", "Meyer", "Nilsson", "Olsen", "Popescu", "Richter", "Santos", "Tanaka", "Urban",
		"Virtanen", "Weber", "Yilmaz", "Zimmer", "Aydin", "Bakker", "Conti", "Dvorak", "Egger", "Fontaine",
		"Gruber", "Haas", "Iversen", "Jovanovic", "Kowalski", "Lehmann", "Marino", "Nagy", "Orlov", "Petrov",
		"Quist", "Romano", "Sanchez", "Toth", "Ulrich", "Vogel", "Wagner", "Xenakis", "Young", "Zeman",
	}
)
