package librarian

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"
)

// unbinding matches phrases with the cue word of a constraint, a decision or a task that are not binding: the speaker's
// intention ("I want to make sure"), feelings ("I'll never forget") or waiting ("until the decision").
var unbinding = pattern.New(`(?:(?:\b(?:want|need|like|plan|planning|hope|hoping|try|trying|going|have|how|ways?|steps?|aspects|tips|just|and)(?: \w+){0,2} |, )to (?:also )?|\bgonna |\b(?:i|we)(?:'ll| will)(?: \w+){0,2} |\b(?:i|we) )(?:make|made) sure\b` +
	`|\bhelp (?:me|us)(?: to)? (?:make sure|ensure)\b|\bif (?:you|i|we|it|they) don't\b|\b(?:when|if|why|whether|what|where|how|know|heard|know that|heard that) (?:i|we) need to\b(?: ensure that| make sure)?|\bso (?:that )?(?:i|we) don't\b` +
	`|\bto make sure (?:i|we|my|our|everything|it|that i|that we|that my|that it)\b|\band make sure (?:i|we)\b|\bmade sure\b` +
	`|\b(?:i|we)(?:'ll| will)(?: \w+)? ensure that\b|\b(?:want|need|like|trying) to ensure that\b` +
	`|\b(?:is|are|was|were|am|it's|that's|there's|he's|she's|i'm|we're|they're|you're) (?:just )?(?:always|never)\b` +
	`|\b(?:i|we|it|they|he|she|this|that|you|who)(?:'ll|'d| will| would)? (?:always|never) (?:remember|forget|remind|refresh|look|feel|love|enjoy|make|bring|give|think|thought|seem|get|have|had)\w*` +
	`|\b(?:it|they|he|she|that|this|those|these|times|things) (?:just |really )?(?:don't|doesn't|always|never)\b` +
	`|\bi (?:just |really |still )?don't (?:really |even )?(?:know|have|think|feel|see|get|understand|remember|mind|go)\b|\bwe don't (?:know|have|think|see|go|get)\b` +
	`|\b(?:i|we|he|she|they)(?:'ve| have|'s| has)(?: \w+)? (?:never|always)\b` +
	`|\b(?:(?:do|does|did|is|are|was|were)n't|can|could|might|may) always\b` +
	`|\b(?:it|they|you|he|she|that|this|there) must have\b|\bremind(?:s|ing)? me (?:of|how|that)\b` +
	`|\b(?:i'll|i will|we'll|we will) use (?:these|those|your|this|that|them|it|one of|some of)\b` +
	`|\b(?:for|about|on|await|awaiting|until|big|hard|tough|difficult|their|his|her) (?:a |an |the |your |my )?(?:\S+ ){0,3}?decisions?\b`)

// unbindingMarks contain a word of every phrase that unbinding matches. Searching for them is far cheaper than the
// expression, which runs on every sentence with a cue word.
var unbindingMarks = []string{"sure", "n't", "need to", "always", "never", "must have", "remind", " use ", "decision"}

// withoutUnbinding is a sentence in lower case without these phrases.
func withoutUnbinding(lower string) string {
	if !containsAny(lower, unbindingMarks) {
		return lower
	}
	return unbinding().ReplaceAllString(lower, " ,")
}

// quotation matches what someone else says, or a program's message.
var quotation = pattern.New("`[^`]*`|\"[^\"]*\"|“[^”]*”")

// addressed matches a request to the assistant that contains the phrase.
var addressed = pattern.New(`\b(?:you|please|remember|always|must) (?:\w+ )?to make sure\b`)

// cueKind classifies a sentence by its cue words, without phrases that are not binding.
func cueKind(sentence string) (kind intent.Kind, isStatement bool) {
	kind, isStatement = intent.Of(sentence)
	if kind == "" || kind == intent.Fact {
		return kind, isStatement
	}
	lower := strings.ReplaceAll(strings.ToLower(sentence), "’", "'")
	if strings.Contains(lower, "to make sure") && addressed().MatchString(lower) {
		return kind, isStatement
	}
	if strings.ContainsAny(lower, "`\"“") {
		lower = quotation().ReplaceAllString(lower, " , ")
	}
	if rest := withoutUnbinding(lower); rest != strings.ToLower(sentence) {
		kind, _ = intent.Of(rest + " .")
	}
	return kind, isStatement
}

// promise matches an answer to advice: "I'll look into that." Without details it says nothing.
var promise = pattern.New(`^(?:i'll|i will|we'll|we will|i'm gonna|i'm going to|(?:i )?just want to make sure|i(?:'ll| will)? (?:definitely|really) (?:need|want|appreciate))\b`)

func isPromise(sentence string) bool {
	return promise().MatchString(strings.ReplaceAll(strings.ToLower(withoutLeadIn(sentence)), "’", "'"))
}

// worried matches the beginning of a clause that expresses a mood or a doubt.
var worried = pattern.New(`^(?:i'm|i am|i feel|i'm feeling|we're|we are)(?: \w+){0,2}? (?:stuck|worried|concerned|nervous|anxious|unsure|stressed|overwhelmed|struggling|torn|afraid|scared|confused|hesitant|wondering|trying to decide)\b`)

// hoping matches the beginning of a sentence about a wish or a fear.
var hoping = pattern.New(`^(?:(?:i|we)(?:'m| am|'re| are)? (?:\w+ ){0,2}?(?:hope|hoping|wish|wishing|fear|fearing|worry|worrying|dread|dreading)\b` +
	`|hopefully\b|fingers crossed\b|ich hoffe\b|wir hoffen\b|hoffentlich\b|ich fürchte\b|ich mache mir sorgen\b|j'espère\b|je crains\b|espero\b|ojalá\b|temo que\b|spero\b)`)

// isMood reports whether the only cue of a constraint in a sentence is in a hope or fear: "I'm a bit worried that we
// must not be late" is not binding. A clause after the mood may be: "I hope it helps, but never delete the logs."
func isMood(sentence string) bool {
	parts := clausesOf(sentence)
	lead := strings.ReplaceAll(clauseStart(withoutJoins(parts[0].text)), "’", "'")
	if !worried().MatchString(lead) && !hoping().MatchString(lead) {
		return false
	}
	for at, c := len(parts[0].text), parts[1:]; len(c) > 0; at, c = at+len(c[0].text), c[1:] {
		first, _, _ := strings.Cut(c[0].leadingWords(), " ")
		if kind, _ := cueKind(sentence[at : at+len(c[0].text)]); kind == intent.Constraint && !moodConjunctions[first] {
			return false
		}
	}
	return true
}

// moodConjunctions introduce the content of a hope or fear.
var moodConjunctions = lexical.Set("that dass daß que qu'il qu'elle qu'on che что")

// referring are words that make a clause depend on the previous one.
var referring = lexical.Set("it its it's this that them they their there those these")

// splitMood splits a sentence with a mood and a decision or constraint, so that each is judged separately: "I'm stuck
// on my schedule, so I chose to skip the fair."
func splitMood(s string) []string {
	parts := clausesOf(s)
	if len(parts) < 2 || !worried().MatchString(strings.ReplaceAll(clauseStart(parts[0].text), "’", "'")) {
		return []string{s}
	}
	at := len(parts[0].text)
	for _, c := range parts[1:] {
		if first, _, _ := strings.Cut(c.leadingWords(), " "); firstPerson[first] || resumingWords[first] || first == "like" {
			break
		}
		at += len(c.text)
	}
	mood, rest := strings.TrimRight(s[:at], ",;: "), withoutJoins(s[at:])
	if kind, _ := cueKind(rest); kind != intent.Decision && kind != intent.Constraint || needsContext(rest) {
		return []string{s}
	}
	return []string{mood, rest}
}

func clauseStart(s string) string { return strings.ToLower(strings.TrimSpace(s[:clipAt(s, 80)])) }

// withoutJoins is a clause without the words that join it to the one before.
func withoutJoins(s string) string {
	s = strings.TrimSpace(s)
	for {
		first, rest, ok := strings.Cut(s, " ")
		if word := strings.ToLower(strings.TrimRight(first, ",")); !ok || !joiningWords[word] && !resumingWords[word] && word != "like" {
			return s
		}
		s = strings.TrimSpace(rest)
	}
}

// needsContext reports whether the beginning of a clause cannot be understood without the words before it.
func needsContext(clause string) bool {
	words, _ := intent.Words(clause)
	for i, w := range strings.Fields(words) {
		if i == 6 {
			return false
		}
		if referring[w] {
			return true
		}
	}
	return false
}

// acknowledging are words with which people respond before they make a statement.
var acknowledging = lexical.Set("yeah yes yep yup sure thanks thank ok okay great cool awesome perfect nice hmm wow hi hello hey danke merci gracias obrigado grazie")

// withoutThanks is a sentence without its acknowledgement: "Yeah, thanks for the tips, my flight is on May 3".
func withoutThanks(s string) string {
	for parts := clausesOf(s); len(parts) > 1; parts = clausesOf(s) {
		first, _, _ := strings.Cut(parts[0].leadingWords(), " ")
		if !acknowledging[first] || details(parts[0].text) >= enoughDetails {
			break
		}
		s = strings.TrimSpace(s[len(parts[0].text):])
	}
	return s
}

// fragmentStarts begin, in lower case, a fragment that only continues a sentence.
var fragmentStarts = phrases(`as well as|such as|including|excluding|along with|together with|rather than|instead of|which|whose|whom|than|as required|as needed|to make sure|to ensure
	sowie|einschließlich|wie zum beispiel|statt|anstatt|ainsi que|y compris|tel que|telle que|plutôt que|dont|así como|incluido|incluida|en lugar de|cuyo|cuya|così come|compreso|invece di`)

// continuing matches a verb that only continues a sentence: "ensuring that every key must be rotated".
var continuing = pattern.New(`^[a-z]{2,}ing\b`)

// participles are verbs that introduce a complete clause: "ensuring all tests must pass".
var participles = pattern.New(`^(?:ensuring|meaning|including|guaranteeing|assuming|considering|knowing|believing|thinking|hoping|saying|stating|noting|remembering|implying|suggesting|making (?:sure|certain|it)|keeping in mind)\b`)

// The words that show a verb in -ing to be the subject of a rule, "deploying on fridays is forbidden", and those that
// end the clause before such a word is found.
var (
	finiteVerbs = lexical.Set("must mustn't is isn't are aren't should shouldn't shall cannot can can't may will won't would needs has requires does doesn't")
	clauseWords = lexical.Set("that which who whom whose what when where while because if unless until since as than i you we they he she there")
)

// isSubject reports whether a verb in -ing at the beginning is the subject of its clause.
func isSubject(clause string) bool {
	if participles().MatchString(clause) {
		return false
	}
	for _, w := range strings.Fields(strings.ReplaceAll(clause, "’", "'")) {
		word := strings.TrimRight(w, ".!?,;:)")
		if finiteVerbs[word] {
			return true
		}
		if clauseWords[word] || word != w {
			return false
		}
	}
	return false
}

// isFragment reports whether a part of a sentence has no content of its own: it only introduces what follows, or
// continues what precedes it.
func isFragment(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") {
		return true
	}
	first, _ := utf8.DecodeRuneInString(s)
	switch {
	case unicode.Is(unicode.Sm, first):
		return true // the middle of a formula
	case !unicode.IsLower(first):
		return false
	}
	start := clauseStart(s)
	word, _, _ := strings.Cut(start, " ")
	for joiningWords[word] {
		_, start, _ = strings.Cut(start, " ")
		word, _, _ = strings.Cut(start, " ")
	}
	return startsWith(start, fragmentStarts) || continuing().MatchString(start) && !ingWords[word] && !isSubject(start)
}

// ingWords are words in -ing that are not verbs.
var ingWords = lexical.Set("nothing something anything everything during string thing king ring bring spring")
