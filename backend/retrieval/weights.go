package retrieval

// The numbers of the ranking that are not settings: nobody could choose them without
// measuring (docs/recall.md). The best match has 1.
const (
	bareQuestion  = 0.8  // factor of a bare question for packing
	undecided     = 0.5  // share of the prior where the question asks for neither side
	onlyAsked     = 0.6  // factor of the prior of what is only asked about there
	fullPrior     = 0.05 // match from which the prior counts in full
	surelySimilar = 0.95 // similarity that does for words
	replyAsked    = 0.3  // added to replies where they are asked for
	standingOrder = 0.4  // added to standing orders where a request is made
	strongFrom    = 0.6  // share of the query from which a match is strong
	strongMatch   = 0.6  // share of the prior that the strongest match has
	strongReplies = 6    // replies that may have it

	completeReplies = 2   // replies that are packed whole where replies are asked for
	partForReply    = 4   // the part of the budget that one of them may take is 1 of so many
	restOfBest      = 0.8 // score of its other passages, as a share of its best one's

	// The order of hits. An item counts by what it itself says of the query.
	coveredHit   = 0.85 // part of a match that is multiplied by the share of the query it says
	continuesHit = 0.6  // factor of what says no word of the query
	userHit      = 0.5  // share of the preference for the user that their words have where they are asked for
	statementHit = 0.2  // the same for statements where neither side is asked for
	askingHit    = 0.6  // factor of a message that only asks
	askedOfUser  = 0.3  // part of that which counts where the question is about the user
	exchangeHit  = 0.5  // part of what a request is ahead of its answer that the answer is given
	mostlyAsks   = 0.7  // share of a message's terms that are only asked about, from which its answer comes first
	belowAnswer  = 0.98 // where it then is, as a share of the answer
	noNumberHit  = 0.8  // factor of what says no number or day where one is asked for

	// A later statement is above the one that it corrects.
	correctHits = 40   // best items that are compared
	correctNear = 0.8  // its least relevance, as a share of the older one's
	correctWith = 0.5  // share of content words that both say, where their numbers differ
	correctSame = 0.75 // the same where they do not

	restOfReply   = 0.5   // factor of passages that say nothing of the query themselves
	repeatedTerm  = 0.2   // what each further mention of a term adds to the first
	averageUnit   = 100.0 // words at which a passage counts as a unit of average length
	lentToPassage = 0.5   // share of what its unit has from its neighbours
	aroundPassage = 0.3   // share of a term that the passage lacks and its reply says
	aroundAsked   = 0.6   // the same where replies are asked for

	// Between people messages are shorter, and the next one often answers.
	freeOfPeople   = 2.0  // factor of the length that costs nothing
	nearbyOfPeople = 1.75 // factor of the best nearby
	bareOfPeople   = 0.8  // factor of a message that only asks
	wholeLine      = 16.0 // tokens from which a line is a step of its own
	leastDistance  = 0.25 // of a step, that a shorter one is

	narrowBudget = 4000.0 // tokens; a larger budget takes more of what is near a match
	mostNearby   = 1.5    // at most by this factor

	farFromMatch = 0.001 // share of a match that is left of it some turns away

	formShare    = 0.5 // of the weight of a word by which an overview is asked for
	opening      = 0.3 // added to what began a day, in an overview
	openingTurns = 6   // turns that begin a day
	fullOpening  = 0.4 // match from which it counts in full in a summary of a subject
	sameDay      = 0.4 // exponent by which further pieces of a day count less
)

const (
	longReply    = 60 // tokens; longer replies are ordered by their passages
	longestOrder = 60 // tokens of a standing order
)
