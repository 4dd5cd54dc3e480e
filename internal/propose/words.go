package propose

// concept is something that columns hold, with the words by which columns of it are
// called in English, German, French, Spanish, Italian, Dutch, Portuguese, Swedish and
// Polish. Words are folded: without accents, ä as ae, ß as ss. A star stands for any
// letters, as languages differ in how they put words together.
type concept struct {
	// name says what columns of it hold, as in "by its name, the sex of a person".
	name    string
	meaning meaning
	// ofPerson says that hardly anything but a person has it.
	ofPerson bool
	words    []string
}

// concepts are in the order in which they go before each other. The identifiers follow
// the list of the HIPAA safe harbor rule, 45 CFR 164.514(b)(2), what must not become known
// the special categories of the GDPR, article 9, and what the law or habit keeps private
// of income and conduct.
//
//nolint:misspell // words of other languages
var concepts = []concept{
	{"a person's name", direct, true, []string{
		"firstname*", "lastname*", "surname*", "forename*", "fullname*", "*username*", "nickname", "maiden", "initials", "first_name*", "last_name*", "family_name*", "given_name*", "middle_name*", "full_name*", "birth_name*",
		"vorname*", "nachname*", "familienname*", "geburtsname*", "prenom*", "apellido*", "cognome*", "sobrenome*", "apelido*", "voornaam", "achternaam", "fornamn", "efternamn", "imie", "nazwisko",
	}},
	{"a name", direct, false, []string{"name", "names", "alias", "*name", "*namen", "nom", "noms", "nombre*", "nome", "naam", "*naam", "namn", "*namn"}},
	{"an e-mail address", direct, true, []string{"email*", "mail", "e_mail", "*email", "*mailadresse", "courriel", "correo*", "epost"}},
	{"a phone number", direct, true, []string{
		"phone*", "*phone", "telephone*", "telefon*", "telefoon*", "telefono*", "tel", "mobile", "mobil", "*handy*", "cell", "cellphone", "fax", "movil", "cellulare", "celular*", "portable",
	}},
	{aNumber, direct, true, []string{
		"ssn", "sin", "nin", "nino", "nhs", "mrn", "passport*", "reisepass*", "passeport", "pasaporte", "passaporto", "paspoort*", "license*", "licence*", "fuehrerschein*",
		"*ausweis*", "steuerid*", "steuernr", "*steuernummer", "taxid", "tin", "*versicherungsnr", "*versicherungsnummer", "*versichertennr", "*versichertennummer", "rvnr", "kvnr", "svnr", "ahv*",
		"nir", "nss", "secu*", "dni", "nie", "nif", "cpf", "cnp", "curp", "rfc", "codicefiscale", "fiscale", "bsn", "burgerservicenummer", "pesel", "personnummer", "personnumber", "cpr", "hetu",
		"national", "insurance", "policy", "krankenkassennr", "aadhaar", "identity", "medicare", "medicaid", "nationalid",
	}},
	{anAccount, direct, false, []string{"iban", "bic", "account", "card", "*kontonr", "*kontonummer", "konto", "kreditkarte*", "compte", "cuenta", "conto", "rekening*", "carte", "tarjeta", "carta", "pan", "cvv"}},
	{"where somebody lives", direct, true, []string{
		"street*", "address*", "addr", "*adresse*", "*strasse", "str", "hausnr*", "hausnummer*", "house", "rue", "adres", "adress", "straat*", "huisnummer", "calle", "direccion*", "domicilio", "via",
		"indirizzo", "rua", "endereco", "morada", "gata", "ulica", "apartment", "residence", "voie", "adressezeile*",
	}},
	{"a place on a map", direct, false, []string{"lat", "lon", "lng", "long", "latitude", "longitude", "breitengrad", "laengengrad", "gps", "geo", "coordinates", "koordinaten", "coord*", "location", "geom"}},
	{"an account's name or secret", direct, true, []string{"login", "user", "handle", "password*", "passwort*", "passwd", "pwd", "hash", "token", "secret", "salt", "credential*", "benutzerkennung", "kennung", "motdepasse", "contrasena", "apikey"}},
	{"what tells a machine or a vehicle apart", direct, false, []string{
		"ip", "*ipaddress", "ipaddr", "mac", "device", "geraet", "imei", "imsi", "serial", "seriennr", "seriennummer", "vin", "plate", "kennzeichen", "fahrgestell*", "matricula", "targa", "cookie", "session", "useragent", "agent", "fingerprint", "advertising",
	}},
	{"a page, a picture or a part of the body", direct, false, []string{"url", "uri", "website", "homepage", "webseite", "photo", "foto", "image", "bild", "picture", "avatar", "portrait", "biometric*", "signature", "unterschrift", "firma_digitale", "voice", "dna", "genome"}},
	{"a text that can say anything", direct, false, []string{
		"comment*", "note", "notes", "notiz*", "remark*", "bemerkung*", "anmerkung*", "kommentar*", "freitext*", "freetext", "text", "texte", "message*", "nachricht*", "feedback", "description", "beschreibung*", "anamnese*", "befundtext", "narrative", "commentaire*", "remarque*",
		"observation*", "observacion*", "observaciones", "comentario*", "osservazion*", "opmerking*", "memo", "letter", "brief", "body", "subject_line", "biography", "bio", "summary", "instructions", "uwagi", "annotation*", "history_text", "report",
	}},
	{"an identifier", direct, false, []string{"id", "ids", "uuid", "guid", "key", "identifier", "*_id", "schluessel", "identifiant", "identificador", "identificativo", "externalid"}},

	{"health", secret, false, []string{
		"diagnos*", "*diagnose*", "disease*", "condition", "illness*", "symptom*", "treatment*", "therap*", "medication*", "medikament*", "drug*", "prescription*", "verordnung*", "test", "hiv", "icd*", "ops", "drg", "procedure", "*befund", "krankheit*", "erkrankung*", "behandlung*",
		"prozedur*", "labor*", "lab", "maladie*", "traitement*", "medicament*", "enfermedad*", "tratamiento*", "malattia*", "diagnostico*", "ziekte*", "behandeling*", "pregnan*", "*schwanger*", "disab*", "*behinder*", "handicap*", "allerg*", "blood", "blutgruppe", "smoker", "smoking", "raucher", "alcohol", "vaccin*", "impf*", "bmi", "pflegegrad", "choroba", "result", "ergebnis", "outcome", "sick*", "krankmeldung*", "fehltage", "ward", "station",
	}},
	{"money", secret, false, []string{
		"salary*", "gehalt*", "lohn*", "income*", "einkommen*", "wage*", "earning*", "wealth", "debt*", "schulden", "credit*", "kredit*", "bonit*", "score*", "balance", "saldo", "cost*", "kosten", "price", "preis", "charge*", "gain", "loss", "tax", "steuer", "salaire*", "revenu*", "salario*", "sueldo*", "ingreso*", "stipendio*",
		"reddito*", "salaris*", "inkomen", "lon", "pensja", "bonus", "amount", "betrag", "montant", "importe", "importo", "bedrag", "total", "summe", "umsatz", "revenue", "spend*", "payment*", "zahlung*", "limit", "dispo", "rent", "miete", "premium", "praemie", "pay", "payout", "compensation",
	}},
	{"conduct, conviction or rating", secret, false, []string{
		"grade", "rating", "crime*", "offense*", "offence*", "verdict", "sentence", "vote*", "party", "orientation", "sexual", "conviction*", "straf*", "urteil*", "bewertung*", "leistung*", "performance", "evaluation", "warning*", "abmahnung*", "termination*", "kuendigung*", "union", "gewerkschaft*", "partei", "churn*", "fraud*", "schufa", "gpa", "exam", "complaint*", "beschwerde*",
	}},

	{aBirth, known, true, []string{"age", "alter", "birth*", "born", "dob", "*geburt*", "gebdat", "gebdatum", "naissance", "ne_le", "nacimiento", "nascita", "nascimento", "geboorte*", "fodelse*", "urodzenia", "edad", "eta", "leeftijd", "idade", "wiek", "alder"}},
	{aSex, known, true, []string{"sex", "gender*", "*geschlecht*", "sexe", "sexo", "sesso", "genero", "geslacht", "kon", "plec", "anrede", "salutation", "civilite"}},
	{"a family", known, true, []string{"marital*", "married", "*familienstand*", "spouse", "children", "kinder", "kinderzahl", "relationship", "civil", "matrimonial", "estado_civil", "statocivile", "burgerlijke", "household", "haushalt*", "dependents", "situation_familiale", "familial*"}},
	{"a place of living", known, false, []string{
		"zip*", "postcode*", "postal*", "postleitzahl", "plz", "cp", "cap", "codigo_postal", "codepostal", "kod_pocztowy", "postnummer", "city", "town", "stadt", "ort", "wohnort*", "gemeinde", "village", "ville", "ciudad", "citta", "stad", "plaats", "woonplaats", "cidade", "miasto", "kreis", "landkreis", "municip*", "commune", "comune", "county", "region*", "bundesland", "province", "provincia", "departement", "district", "bezirk", "state", "country", "land", "pays", "pais", "paese", "kraj",
	}},
	{"an origin or a belief", known, true, []string{"nationality", "native", "race", "ethnic*", "religio*", "konfession", "staatsangehoerigkeit*", "nationalitaet", "nationalite", "nacionalidad", "nazionalita", "nationaliteit", "citizenship", "herkunft"}},
	{"a language", known, false, []string{"language", "sprache", "muttersprache", "langue", "idioma", "lingua", "taal"}},
	{aTitle, known, false, []string{
		"occupation*", "job*", "profession*", "beruf*", "employer", "arbeitgeber", "workclass", "education*", "bildung*", "degree", "abschluss", "school", "schule", "position_title", "*taetigkeit*", "metier", "profesion", "professione", "beroep", "zawod", "role", "rolle", "department", "abt", "abteilung*", "position", "title", "titel", "prefix", "team", "seniority", "company", "firma", "entreprise", "empresa", "azienda", "service_years",
	}},
	{"a body", known, false, []string{"height", "weight", "groesse", "gewicht", "taille", "poids", "altura", "peso", "altezza", "lengte"}},
	{aDay, known, false, []string{
		"admission*", "admitted", "discharge*", "death*", "died", "deceased", "date", "datum", "*datum", "year", "jahr", "month", "monat", "time", "zeit", "timestamp", "aufnahme*", "entlassung*", "entlassen", "hire*", "hired", "einstellung*", "eintritt*", "austritt*", "fecha", "data", "jour", "annee", "entree", "sortie", "ingreso_fecha", "created", "updated", "registered", "registration", "since", "seit", "started", "ended", "begin", "beginn", "ende", "at",
	}},
}

// Names of concepts that are asked for: the first two hold a kind where there are few values.
const (
	aNumber   = "a number by which a state or an insurer knows somebody"
	anAccount = "an account or a card"
	aBirth    = "an age or a birth"
	aSex      = "a sex or a gender"
	aTitle    = "work, schooling or a title"
	aDay      = "a day that others may remember"
)

// qualifiers end a name that speaks of a kind or a state of the thing, not of the thing.
var qualifiers = []string{"type", "typ", "kind", "art", "status", "state_of", "verified", "flag", "count", "anzahl", "number_of", "category", "kategorie", "class", "group", "gruppe", "level", "stufe", "priority", "channel", "source", "method", "format", "currency", "waehrung", "language", "provider", "brand"}

// compounds end a word that says the same, in languages that write words together: the
// kundenstatus is the state of a customer.
var compounds = []string{"*status", "*typ", "*type", "*nart", "*rart", "*sart", "*gruppe", "*group", "*kategorie", "*category", "*klasse", "*class", "*segment", "*stufe", "*anzahl", "*prioritaet"}

// The words for persons, for what tells one thing from another, for firms and other
// bodies, and for who did something to a row.
//
//nolint:misspell // words of other languages
var (
	persons = []string{
		"patient*", "person", "persons", "people", "customer*", "client", "clients", "member", "members", "employee*", "worker*", "staff", "student*", "pupil*", "citizen*", "resident*", "user", "users", "userid",
		"subject", "subjects", "participant*", "respondent*", "donor*", "insured*", "driver*", "tenant*", "passenger*", "applicant*", "candidate*", "guest*", "contact", "contacts", "lead", "leads", "subscriber*", "teacher*", "nurse", "nurses", "physician*", "doctor*",
		"beneficiar*", "borrower*", "voter*", "player*", "visitor*", "child", "individual*", "inhabitant*", "household*", "buyer*", "seller*", "account_holder", "profile*", "signup*",
		"kunde*", "kunden*", "mitarbeiter*", "angestellte*", "beschaeftigte*", "versicherte*", "mitglied*", "schueler*", "studierende*", "benutzer*", "nutzer*", "teilnehmer*", "bewohner*", "bewerber*", "klient*", "spender*", "mieter*", "fahrer*", "gast", "gaeste", "arzt", "aerzte", "einwohner*", "personal", "personen*", "pat",
		"personne*", "salarie*", "employe", "employes", "utilisateur*", "assure", "assures", "adherent*", "eleve*", "etudiant*", "membre*", "usager*", "paciente*", "cliente*", "empleado*", "persona", "personas", "usuario*", "alumno*", "estudiante*", "miembro*",
		"paziente", "pazienti", "dipendent*", "utente", "utenti", "clienti", "klant*", "medewerker*", "gebruiker*", "persoon", "personen", "lid", "leden", "funcionario*", "pessoa*", "kund", "kunder", "anstalld*", "pacjen*", "pracowni*", "uzytkowni*", "osoba", "osoby",
	}
	identifiers = []string{
		"id", "*id", "uuid", "guid", "key", "identifier", "mrn", "ssn", "nin", "passport", "license", "account", "insurance", "email", "number", "no", "nr", "code", "nummer", "*nummer", "*nr", "kennung", "schluessel", "num", "numero", "ref", "reference",
	}
	bodies = []string{
		"supplier*", "vendor*", "company", "companies", "firm", "firms", "branch*", "store*", "shop*", "hospital*", "school*", "institution*", "organisation*", "organization*", "department*", "office*", "clinic*", "ward", "wards", "lieferant*", "firma", "firmen", "filiale*", "klinik*", "krankenhaus*",
		"schule*", "abteilung*", "station*", "fournisseur*", "societe*", "entreprise*", "proveedor*", "empresa*", "fornitor*", "aziend*", "leverancier*", "bedrijf*", "manufacturer*", "hersteller*", "provider*", "insurer*", "bank", "banks", "agenc*", "warehouse*", "lager", "location*", "site", "sites", "product*", "produkt*", "article*", "artikel*",
	}
	actors = []string{
		"by", "created", "updated", "modified", "changed", "deleted", "approved", "approver", "owner", "author", "manager", "supervisor", "vorgesetzter", "vorgesetzte", "editor", "assignee", "assigned", "reviewer", "head", "leiter", "leitung", "chef", "responsible", "verantwortlich", "angelegt", "geaendert", "bearbeiter", "agent", "operator", "handler", "seller", "rep", "salesrep", "contact", "clerk",
	}
)
