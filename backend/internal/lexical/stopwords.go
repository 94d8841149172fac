package lexical

import (
	"maps"
	"slices"
	"strings"
)

// IsStopWord reports whether a lower-case word says nothing about a text's subject. A search ignores such words, and
// the embedded embedder gives them little weight.
func IsStopWord(word string) bool { return stopWords[word] }

// IsFunctionCharacter reports whether a Chinese character alone says nothing about a text's subject: a particle, a
// pronoun, a preposition, a part of a question word.
func IsFunctionCharacter(r rune) bool { return strings.ContainsRune(functionCharacters, r) }

const functionCharacters = `的了是在不有我你您他她它们这那个和也就都要会到说吗呢吧啊什么怎样几多少哪谁为与或于之其把被让给从对能可以去来还没很最更请如何时候样里上下中大小一二三又再将曾过着得地人事些此该次想知道应当为何`

var stopWords = Set(strings.Join(slices.Collect(maps.Values(stopWordLists)), " "))

// stopWordLists are the most common words of some languages, and words that address a memory rather than name a
// subject. The vectors of the embedded embedder depend on them: a change requires a new version of the embedder. Scripts
// without spaces have no stop words: a pair of characters that occurs everywhere is dropped from a search by its
// frequency.
var stopWordLists = map[string]string{
	"English": `
a about after again all also am an and any are as at be because been before being between both but by can could did do
does doing don down during each few for from further had has have having he her here hers him his how i if in into is it
its itself just let ll me more most my no nor not now of off on once only or other our out over own please re s said same
say says she should so some such t tell than that the their them then there these they this those through to told too
under until up us ve very was we were what when where which while who whom whose why will with would you your`,
	"to a memory": `
remember recall remind find show know talked mentioned`,
	"German": `
aber alle als am an auch auf aus bei bin bis da damit dann das dass dein dem den der des die dies diese doch du durch ein
eine einem einen einer er es euch für habe haben hat hatte ich ihr im in ist ja kann kein mein mich mir mit nach nicht
noch nur oder ohne sein sich sie sind so über um und uns unser vom von vor war waren was weil wenn wer wie wir wird wo zu
zum zur`,
}
