package propose

import "strings"

// firstNames are some of the most frequent given names of several languages, folded: a
// column in which many texts have one holds names, whatever it is called.
var firstNames = words(`
aaron abigail adam adele adrian agnes ahmed alan albert alejandro aleksander alessandro alex alexander alexandra alfred ali alice alicia amanda
amelie amy ana anders andrea andreas andrew andrzej angela anita anja ann anna anne annika anthony antoine antonio arthur astrid barbara bart beata
ben benjamin bernard bernd bettina birgit bjorn bo bob brandon brian bruno camille carl carla carlos carmen carol caroline catherine celine charles
charlotte chloe chris christian christina christine christoph christopher claire clara claudia claus clemens cynthia daniel daniela danielle david
deborah dennis diana diego dieter dirk dmitri dominik donald donna dorothy edward elena elisabeth elizabeth ella ellen emil emily emma eric erica
erik erika ernst esther eva evelyn fabian fatima felix fernando finn florian francesca francesco francis francisco francois frank franz frederic
frieda friedrich gabriel gabriele georg george gerard gerhard giovanni giulia giuseppe grace greta gunther guillaume gustav hannah hanna hans harald
hassan heather heidi heike heinrich heinz helen helena helga helmut henri henrik henry herbert hermann holger hugo ibrahim ida ines inga ingrid irene
isabel isabella ivan jack jacob jacqueline jakob james jan jane janet jason javier jean jeff jeffrey jennifer jens jeremy jerry jessica jim joan joanna
joe joerg johan johann johannes john jonas jonathan jorge jose josef joseph joshua juan judith julia julian julie jutta kai karen karin karl karolina
katarzyna katharina katherine kathleen katrin keith kelly kenneth kevin kim klara klaus konrad kristin krzysztof kurt larry lars laura lauren lea
lena leon leonie lily lina linda lisa liam lorenzo louis louise luca lucas lucia lucy luis luisa lukas magdalena malgorzata manfred manuel manuela
marc marcel marco marek margaret margarete maria marie marina mario marion mark markus marta martha martin martina mary mathilde matthew matthias
maurice max maximilian megan melanie melissa mia michael michel michelle miguel mike mila mohamed mohammed monica monika muhammad nadine nancy natalie
nathan nele nicholas nicola nicolas nicole nils nina noah nora olaf oliver olivia oscar oskar pablo paolo pascal patricia patrick paul paula pauline
pedro peter petra philip philipp philippe pierre piotr quentin rachel rafael rainer ralf ralph ramon raphael raymond rebecca renate rene ricardo
richard rita robert roberto roger roland rolf ronald rosa rudolf ruth ryan sabine samantha samuel sandra sara sarah scott sebastian sharon silke silvia
simon sofia sofie sonja sophia sophie stefan stefanie stephan stephanie stephen steve steven susan susanne sven svenja sylvia tanja tatjana teresa
theo theresa thierry thomas tim timothy tina tobias tom tomas tomasz tyler ulrich ulrike ursula ute uwe valentina vanessa vera verena veronika victor
victoria viktor vincent virginia walter werner wilhelm william wolfgang xavier yannick yasmin yusuf yvonne zoe
`)

func words(text string) map[string]bool {
	all := make(map[string]bool)
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

// namesAmong is the share of the texts that have a given name among their words.
func namesAmong(texts []string) float64 {
	named := 0
	for _, text := range texts {
		for _, word := range split(text) {
			if firstNames[word] {
				named++
				break
			}
		}
	}
	return float64(named) / float64(max(1, len(texts)))
}
