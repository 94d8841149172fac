package retrieval

// The constants of the ranking, with those in settings.go: choosing them needs measurements (docs/recall.md). The best
// match has 1.
const (
	// A query's cosine counts by its distance from the usual one, in standard deviations.
	outstanding = 2.9 // of the nearest unit; otherwise nothing is found by vectors
	meaningFrom = 1.5
	meaningFull = 4.0

	undecided     = 0.5  // share of the prior if the question asks for neither speaker's words
	surelySimilar = 0.95 // similarity that is enough for it without words
	replyAsked    = 0.3  // bonus for replies if they are asked for
	standingBonus = 0.4  // bonus for standing instructions if a request is made

	// The order of hits. An item counts by its own share of the query.
	coveredHit   = 0.85 // part of a match that is multiplied by its own share of the query
	userHit      = 0.5  // share of the preference for user messages if they are asked for
	statementHit = 0.2  // the same for statements if neither speaker's words are asked for
	askingHit    = 0.6  // factor for a message that is only a question
	askedOfUser  = 0.3  // part of that factor if the question is about the user
	exchangeHit  = 0.5  // share of a request's lead over its answer that the answer gets
	mostlyAsks   = 0.7  // share of a message's terms that are only asked about, from which its answer is ranked first
	belowAnswer  = 0.98 // the message's score then, relative to the answer
	noNumberHit  = 0.8  // factor for an item without a number or day if one is asked for

	// A later statement is ranked above the one that it corrects.
	correctHits = 40   // best items that are compared
	correctNear = 0.8  // its minimum relevance relative to the older one
	correctWith = 0.5  // share of common content words, if their numbers differ
	correctSame = 0.75 // the same if they do not

	averageUnit       = 100.0 // words from which a passage counts as a unit of average length
	borrowedByPassage = 0.5   // share that a passage gets of what its unit gets from neighbours

	// Between people messages are shorter, and the next one is often an answer.
	freeOfPeople   = 2.0  // factor of the length without penalty
	nearbyOfPeople = 1.75 // factor of the best nearby
	fullLine       = 16.0 // tokens from which a line is a full step
	minDistance    = 0.25 // minimum step of a shorter line

	noise = 0.15 // share of the best score, and of the best hit's, below which nothing is packed

	formShare    = 0.5 // of the weight of a word that asks for an overview
	opening      = 0.3 // bonus for the beginning of a day, in an overview
	openingTurns = 6   // turns that count as the beginning of a day
	sameDay      = 0.4 // exponent of the penalty for further items of a day
)

const (
	longReply   = 60 // tokens; longer replies are ranked by passage
	maxStanding = 60 // tokens of a standing instruction
)
