// Package stopwords holds the words that say nothing of what a text is about. A
// search leaves them out, the embedded embedder weighs them little.
package stopwords

import "strings"

// Has reports a stop word. It is asked in lower case.
func Has(word string) bool { return set[word] }

var set = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}()

// list holds the commonest words of English and German, and the words with which
// people address a memory rather than name what they look for.
const list = `
a about after again all also am an and any are as at be because been before being between both but by can could did do
does doing don down during each few for from further had has have having he her here hers him his how i if in into is it
its itself just let ll me more most my no nor not now of off on once only or other our out over own please re s said same
say says she should so some such t tell than that the their them then there these they this those through to told too
under until up us ve very was we were what when where which while who whom whose why will with would you your
remember recall remind find show know talked mentioned
aber alle als am an auch auf aus bei bin bis da damit dann das dass dein dem den der des die dies diese doch du durch ein
eine einem einen einer er es euch für habe haben hat hatte ich ihr im in ist ja kann kein mein mich mir mit nach nicht
noch nur oder ohne sein sich sie sind so über um und uns unser vom von vor war waren was weil wenn wer wie wir wird wo zu
zum zur`
