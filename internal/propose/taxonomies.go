package propose

import "strings"

// scales are labels with an order that everybody knows, bare, from the least to the
// greatest; a column need not have all of a scale's.
var scales = [][]string{
	strings.Fields("none verylow low medium middle high veryhigh extreme"),
	strings.Fields("keine sehrniedrig niedrig gering mittel hoch sehrhoch"),
	strings.Fields("xxs xs s m l xl xxl xxxl"),
	strings.Fields("small medium large extralarge"),
	strings.Fields("never rarely seldom sometimes often usually always"),
	strings.Fields("nie selten manchmal oft haeufig immer"),
	strings.Fields("poor bad fair average good verygood excellent"),
	strings.Fields("ungenuegend mangelhaft ausreichend befriedigend gut sehrgut"),
	strings.Fields("stronglydisagree disagree neutral agree stronglyagree"),
	strings.Fields("mild moderate severe critical"),
	strings.Fields("bronze silver gold platinum diamond"),
	strings.Fields("intern trainee junior regular mid senior lead principal director"),
	strings.Fields("preschool 1st4th 5th6th 7th8th 9th 10th 11th 12th hsgrad somecollege assocvoc assocacdm bachelors masters profschool doctorate"),
	strings.Fields("none primary secondary highschool college vocational bachelor master doctorate phd"),
	strings.Fields("keine hauptschule realschule mittlerereife abitur ausbildung bachelor master diplom promotion"),
	strings.Fields("january february march april may june july august september october november december"),
	strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec"),
	strings.Fields("januar februar maerz april mai juni juli august september oktober november dezember"),
	strings.Fields("i ii iii iv v vi"),
}

// group is a label and the bare values below it.
type group struct {
	label  string
	values []string
}

// taxonomies are those that columns of such values commonly have.
//
//nolint:misspell // words of other languages
var taxonomies = [][]group{
	{
		{"in a couple", strings.Fields("married marriedcivspouse marriedafspouse registeredpartnership civilpartnership civilunion partnered domesticpartnership cohabiting verheiratet eingetragenelebenspartnerschaft verpartnert marie mariee pacs pacse casado casada coniugato coniugata gehuwd geregistreerdpartnerschap")},
		{"not in a couple", strings.Fields("single nevermarried divorced widowed separated marriedspouseabsent ledig geschieden verwitwet getrennt getrenntlebend celibataire divorce divorcee veuf veuve soltero soltera divorciado divorciada viudo viuda celibe nubile divorziato vedovo vedova ongehuwd gescheiden weduwe weduwnaar alleenstaand")},
	},
	{
		{"private", strings.Fields("private selfempnotinc selfempinc selfemployed freelance employee angestellt selbststaendig")},
		{"government", strings.Fields("federalgov localgov stategov government publicservice beamter beamte oeffentlicherdienst")},
		{"not paid", strings.Fields("withoutpay neverworked unemployed retired student homemaker arbeitslos rentner rentnerin hausfrau hausmann inausbildung schueler studentin")},
	},
	{
		{"Europe", strings.Fields("al ad at by be ba bg hr cy cz dk ee fi fr de gr hu is ie it lv li lt lu mt md mc me nl mk no pl pt ro ru sm rs sk si es se ch ua gb uk va xk germany france spain italy england scotland wales ireland unitedkingdom poland portugal greece hungary austria switzerland sweden norway denmark finland netherlands holandnetherlands belgium russia ukraine romania bulgaria croatia serbia yugoslavia czechrepublic czechia slovakia slovenia estonia latvia lithuania luxembourg deutschland frankreich spanien italien oesterreich schweiz polen niederlande belgien russland rumaenien ungarn griechenland kroatien tschechien daenemark schweden norwegen finnland")},
		{"Americas", strings.Fields("us usa ca mx br ar cl co pe ve ec bo py uy cu do jm ht gt hn sv ni cr pa pr tt bb bs unitedstates canada mexico brazil argentina chile colombia columbia peru venezuela ecuador bolivia cuba dominicanrepublic jamaica haiti guatemala honduras elsalvador nicaragua costarica panama puertorico outlyingusguamusvietc trinadadtobago trinidadandtobago usavereinigtestaaten vereinigtestaaten kanada mexiko brasilien")},
		{"Asia", strings.Fields("cn jp kr in pk bd lk np af ir iq sy lb il jo sa ae qa kw ye tr ge am az kz uz th vn la kh mm my sg id ph tw hk mn china japan southkorea korea south india pakistan bangladesh srilanka nepal afghanistan iran iraq syria lebanon israel jordan turkey georgia armenia kazakhstan thailand vietnam laos cambodia myanmar malaysia singapore indonesia philippines taiwan hong hongkong tuerkei indien syrien irak")},
		{"Africa", strings.Fields("eg ma dz tn ly sd et er so ke ug tz rw cd cg cm ng gh ci sn ml za na zm zw mz ao mg egypt morocco algeria tunisia libya sudan ethiopia eritrea somalia kenya uganda tanzania rwanda congo cameroon nigeria ghana senegal mali southafrica namibia zambia zimbabwe mozambique angola madagascar aegypten marokko suedafrika")},
		{"Oceania", strings.Fields("au nz fj pg ws to australia newzealand fiji australien neuseeland")},
	},
	{
		{"Northeast", strings.Fields("ct me ma nh ri vt nj ny pa connecticut maine massachusetts newhampshire rhodeisland vermont newjersey newyork pennsylvania")},
		{"Midwest", strings.Fields("il in mi oh wi ia ks mn mo ne nd sd illinois indiana michigan ohio wisconsin iowa kansas minnesota missouri nebraska northdakota southdakota")},
		{"South", strings.Fields("de dc fl ga md nc sc va wv al ky ms tn ar la ok tx delaware districtofcolumbia florida georgia maryland northcarolina southcarolina virginia westvirginia alabama kentucky mississippi tennessee arkansas louisiana oklahoma texas")},
		{"West", strings.Fields("az co id mt nv nm ut wy ak ca hi or wa arizona colorado idaho montana nevada newmexico utah wyoming alaska california hawaii oregon washington")},
	},
	{
		{"Nord", strings.Fields("schleswigholstein hamburg niedersachsen bremen mecklenburgvorpommern sh hh ni hb mv")},
		{"West", strings.Fields("nordrheinwestfalen rheinlandpfalz saarland hessen nw nrw rp sl he")},
		{"Ost", strings.Fields("berlin brandenburg sachsen sachsenanhalt thueringen be bb sn st th")},
		{"Süd", strings.Fields("bayern badenwuerttemberg by bw")},
	},
}
