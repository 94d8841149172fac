package retrieval

import (
	"context"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lists"
)

// item is what is ranked and packed: a unit, or a passage of a long reply.
type item struct {
	*unit
	span        chat.Span // in the source
	lead        chat.Span // packed with it: the header of its table, "Run this:"; empty: none
	tokens      int
	own         []bool  // terms in its own text; nil: the text was not read
	hasTerm     bool    // whether own contains any
	coverage    float64 // share of the query that its own terms make up
	statedShare float64 // of a user message: the share of its terms that it states rather than asks about

	match     float64 // how much of the query it matches; the best has 1
	relevance float64 // match with the preferences from the question's wording: the order of hits
	score     float64 // relevance with the preference for the user's statements: the order of packing

	questionOnly bool  // only a question, or a repetition of the query: packed with its answer or not at all
	repeats      bool  // it asks the same as the query
	lacksNumber  bool  // it has no number or day although one is asked for
	standing     bool  // a short instruction or preference that applies to everything after it
	answer       *item // of such a question: the passage that answers it

	explain *explainer // says why it was found; nil with the plain ranking
}

// text is an item's text, after its lead.
func (x *item) text(c chat.ChunkText) string {
	lead, span := inside(c, x.lead), inside(c, x.span)
	return strings.TrimSpace(c.Source[lead.Start:lead.End] + "\n" + c.Source[span.Start:span.End])
}

// collector creates items of a pool's units. It reads the texts of the most promising.
type collector struct {
	p            *pool
	intent       questionIntent
	known        float64 // share of the query's weight in words that occur anywhere
	namedSubject bool    // the query asks for a summary of a named subject, not of a whole conversation
	query        queryWords
	match        *matcher
	texts        map[chat.ChunkID]chat.ChunkText
	items        []*item
	first        map[chat.TurnID]*item // the first passage of each reply without a word of the query
}

const (
	// readUnits is the minimum number of units that are read for each role.
	readUnits = 120
	// tokensPerRead is the number of tokens of the budget per additional unit read.
	tokensPerRead = 40
)

// items returns the pool's units and the passages of its replies, best first.
func (e *Engine) items(ctx context.Context, q Query, p *pool, terms []string, pk *packer) ([]*item, error) {
	if p.s.SRD {
		p.plain()
		return pk.selected(ctx, e.Store, lists.Map(p.ranked(), wholeUnit))
	}
	p.measured()
	c := &collector{
		p: p, intent: intentOf(q.Text), query: newQueryWords(q.Text), match: newMatcher(terms),
		texts: pk.texts, first: map[chat.TurnID]*item{},
	}
	known := 0.0
	for _, weight := range p.weight {
		known += weight
	}
	c.known = ratio(known, p.total)
	c.namedSubject = c.intent.summary && namesSubject(terms)
	units := p.ranked()
	read := c.worthReading(units, max(readUnits, q.MaxTokens/tokensPerRead))
	if err := pk.read(ctx, e.Store, read); err != nil {
		return nil, err
	}
	isRead := make(map[*unit]bool, len(read))
	for _, u := range read {
		isRead[u] = true
	}
	for _, u := range units {
		c.add(u, isRead[u])
	}
	out := c.ordered()
	explain := newExplainer(c, terms)
	for _, x := range out {
		x.explain = explain
	}
	for _, x := range c.first {
		x.explain = explain
	}
	return out, nil
}

func wholeUnit(u *unit) *item {
	return &item{unit: u, span: chat.Span{Start: u.Start, End: u.End}, tokens: u.Tokens, score: u.score, relevance: u.score}
}

// worthReading returns the best units of each role, up to a limit for each. Replies that match neither by a word nor by
// their vector are read only if the query asks for replies.
func (c *collector) worthReading(units []*unit, limit int) []*unit {
	var out []*unit
	users, replies := 0, 0
	for _, u := range units {
		switch {
		case !isReply(u):
			if users++; users <= limit {
				out = append(out, u)
			}
		case u.tf != nil || u.vector > 0 || c.intent.aim == aimReply:
			if replies++; replies <= limit {
				out = append(out, u)
			}
		}
	}
	return out
}

// isReply reports whether a unit is a message of the assistant; a group chat has none.
func isReply(u *unit) bool {
	return u.Role == chat.RoleAssistant && u.Speaker == "" && u.File == ""
}

// add creates items of a unit: the passages of a long reply, otherwise the whole unit.
func (c *collector) add(u *unit, read bool) {
	x := wholeUnit(u)
	x.match = u.score
	text, ok := c.texts[u.Chunk]
	if !ok || !read {
		c.items = append(c.items, x)
		return
	}
	x.span = bounded(text, u)
	if isReply(u) && u.Tokens > longReply {
		c.passages(text.Source, u, x.span)
		return
	}
	body := text.Source[x.span.Start:x.span.End]
	if isReply(u) && onlyLabels(body) && (len(body) < len(text.Source) || isLabel(strings.TrimSpace(body))) { // a whole reply may look like a title
		return
	}
	c.count(x, body, make([]int, len(c.p.weight)))
	if isUserMessage(u) {
		x.statedShare = c.stated(x, body)
		x.repeats = asks(body) && c.query.repeatedBy(body)
		x.questionOnly = x.repeats || !c.intent.asksOwn && onlyAsks(body)
		x.standing = u.Tokens <= maxStanding && len(intent.StandingInstructions(body)) > 0
	}
	c.items = append(c.items, x)
}

// count records an item's terms, those of its text and of its speaker's name.
func (c *collector) count(x *item, text string, counts []int) {
	c.match.count(text, counts)
	x.own = make([]bool, len(counts))
	if x.Speaker != "" {
		c.match.count(x.Speaker, counts)
	}
	c.countDay(x, counts)
	for t, n := range counts {
		x.own[t] = n > 0
		x.hasTerm = x.hasTerm || n > 0
	}
	x.coverage = c.share(x.own)
}

// countDay counts the date of an item if the query names its month: the prompt shows the day above the item.
func (c *collector) countDay(x *item, counts []int) {
	month := make([]int, len(counts))
	c.match.count(x.At.UTC().Format("January"), month)
	if addsTerm(month, nil) {
		c.match.count(x.At.UTC().Format("2 January 2006"), counts)
	}
}

// stated is the share of a message's query terms in clauses that state something; of all its text if it has none.
func (c *collector) stated(x *item, text string) float64 {
	counts := make([]int, len(c.p.weight))
	length, all := 0, 0
	for _, part := range clauses(text) {
		all += len(part.text)
		if !part.asks {
			length += len(part.text)
			c.match.count(part.text, counts)
		}
	}
	if !x.hasTerm {
		return ratio(float64(length), float64(all))
	}
	own := lists.Map(counts, func(n int) bool { return n > 0 })
	return ratio(c.share(own), x.coverage)
}

// share is the share of the query that own contains, by the weight of its terms.
func (c *collector) share(own []bool) float64 {
	sum, all := 0.0, 0.0
	for t, weight := range c.p.weight {
		all += weight
		if own[t] {
			sum += weight
		}
	}
	return ratio(sum, all)
}

// passages adds the passages of a long reply, each with its own terms.
func (c *collector) passages(source string, u *unit, span chat.Span) {
	around := c.p.context(u)
	counts, lead := make([]int, len(c.p.weight)), make([]int, len(c.p.weight))
	for _, part := range partsOf(source, span) {
		clear(counts)
		clear(lead)
		x := &item{unit: u, span: part.Span}
		length := c.match.count(source[part.Start:part.End], counts)
		if part.lead.Start < part.lead.End {
			leadLength := c.match.count(source[part.lead.Start:part.lead.End], lead)
			if part.table || addsTerm(lead, counts) {
				x.lead = part.lead
				length += leadLength
			} else {
				clear(lead)
			}
		}
		hasTerm := addsTerm(counts, nil) || part.table && addsTerm(lead, nil)
		for t := range counts {
			counts[t] += lead[t]
		}
		c.countDay(x, counts)
		c.score(x, counts, around, length)
		if x.hasTerm = hasTerm; !hasTerm && c.first[u.Turn] == nil {
			c.first[u.Turn] = x
		}
		c.items = append(c.items, x)
	}
}

// addsTerm reports whether counts contain a term that is missing in others.
func addsTerm(counts, others []int) bool {
	for t, n := range counts {
		if n > 0 && (others == nil || others[t] == 0) {
			return true
		}
	}
	return false
}

// score computes how well a passage matches the query: a term counts fully in the passage itself, and partly in the
// reply around it.
func (c *collector) score(x *item, counts []int, around []float64, length int) {
	x.own = make([]bool, len(counts))
	own, sum := saturation/(1+1.2*(0.25+0.75*float64(length)/averageUnit)), 0.0
	for t, weight := range c.p.weight {
		degree := around[t]
		if x.own[t] = counts[t] > 0; x.own[t] {
			degree = max(degree, own)
		}
		sum += weight * degree
	}
	x.coverage = c.share(x.own)
	x.tokens = (x.span.End - x.span.Start + x.lead.End - x.lead.Start + 3) / 4
	x.match = c.p.fused(sum, x.unit)*c.p.lengthFactor(x.tokens, false) + borrowedByPassage*x.borrowedScore
}
