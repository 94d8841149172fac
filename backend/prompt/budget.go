package prompt

import "math"

// Limits are a model's limits and the settings from which a budget is computed (SPEC 6, 16), all in tokens.
type Limits struct {
	ContextLimit    int // the model's context window
	MaxOutput       int // the model's own output limit
	ResponseReserve int // budget.response_reserve_tokens
	SafetyMargin    int // budget.safety_margin_tokens
	// ExactReserve and ExactMargin: the user set these two, so they apply exactly. Otherwise they are defaults,
	// scaled down for small windows.
	ExactReserve bool `json:",omitempty"`
	ExactMargin  bool `json:",omitempty"`
	WorkingSet   int  // budget.working_set_tokens; 0: limited by the window only
	StateTarget  int  // librarian.target_tokens
	Retrieval    int  // budget.max_retrieval_tokens; 0: nothing is retrieved
	Tools        int  // size of the tool definitions that are sent
}

// The maximum share of the ceiling for each section, whatever its setting.
const (
	systemShare  = 0.08
	pinnedShare  = 0.08
	stateShare   = 0.12
	messageShare = 0.10
	// retrievalShare is kept free of history for retrieved memory, which may take more: all that the other
	// sections leave, up to its cap.
	retrievalShare = 0.15
)

// Limits of sections without a setting.
const (
	systemCap  = 4000
	pinnedCap  = 4000
	messageCap = 4000
	// stateOverhead is the cost of the memory block around the state summary.
	stateOverhead = 48
)

// Budget is the token budget of one request, all in tokens. It depends on the model, the configuration, and the size
// of what precedes history in the prompt (instructions and pinned facts), never on what changes from turn to turn:
// the same budget gives the same cut, and thus the same prefix.
type Budget struct {
	ModelLimit      int     `json:"model_limit"`
	ResponseReserve int     `json:"response_reserve"`
	SafetyMargin    int     `json:"safety_margin"`
	InputBudget     int     `json:"input_budget"`
	Ceiling         int     `json:"ceiling"` // min(InputBudget, working set), after calibration
	Calibration     float64 `json:"calibration"`
	Caps            Caps    `json:"caps"`
	Whole           int     `json:"whole"`     // maximum for originals before the first cut
	Allowance       int     `json:"allowance"` // for originals and pending turns after the first cut, together
	Summaries       int     `json:"summaries"` // for range summaries: a share of the allowance
	HighWater       int     `json:"high_water"`
	LowWater        int     `json:"low_water"`
}

// Caps are the limits of the sections. Only the message may exceed its cap, by what the other sections leave.
type Caps struct {
	System    int `json:"system"` // the instructions, without the program's own text about memory
	Tools     int `json:"tools"`
	Pinned    int `json:"pinned"`
	State     int `json:"state"`
	Retrieved int `json:"retrieved"`
	Message   int `json:"message"`
}

// NewBudget applies SPEC 6: reserve = min(response_reserve, limit/8); input = limit - reserve - max(5 % of the rest,
// min(safety_margin, limit/32)); ceiling = min(input, working set), divided by the calibration (the provider's token
// count relative to ours). A reserve or margin set by the user applies exactly. Instructions and pinned facts are
// assumed to fill their caps until withPrefix gets their actual sizes.
func NewBudget(l Limits, p Policy, calibration float64) Budget {
	if calibration <= 0 {
		calibration = 1
	}
	reserve := l.ResponseReserve
	if !l.ExactReserve {
		reserve = min(reserve, l.ContextLimit/8)
	}
	rest := max(l.ContextLimit-reserve, 0)
	margin := l.SafetyMargin
	if !l.ExactMargin {
		margin = max(rest/20, min(margin, l.ContextLimit/32))
	}
	input := max(rest-margin, 0)
	b := Budget{ModelLimit: l.ContextLimit, ResponseReserve: reserve, SafetyMargin: margin, InputBudget: input, Calibration: calibration}
	b.Ceiling = int(float64(b.WorkingSet(l)) / calibration)
	b.Caps = newCaps(l, p, b.Ceiling)
	return b.withPrefix(p, b.Caps.System, b.Caps.Pinned)
}

// WorkingSet returns the ceiling in the model's own tokens, in which its window and the configured working set are
// given. It is the number that people see: it does not change while the calibration is learned.
func (b Budget) WorkingSet(l Limits) int {
	if l.WorkingSet > 0 {
		return min(b.InputBudget, l.WorkingSet)
	}
	return b.InputBudget
}

// InModelTokens converts a number of our tokens to the model's.
func (b Budget) InModelTokens(tokens int) int {
	if b.Calibration <= 0 {
		return tokens
	}
	return int(math.Round(float64(tokens) * b.Calibration))
}

// withPrefix divides the ceiling, given the size of the system text and pinned facts in tokens. The size of the facts
// is rounded up to quarters of their cap, so that one fact more or less rarely moves the cut. As long as
// everything fits, originals may use everything that these and the message's cap leave; after the first cut, summaries,
// the state summary and retrieved memory need their share: allowance = (whole - state cap - retrieval share) / (1 +
// summaries share).
func (b Budget) withPrefix(p Policy, system, pinned int) Budget {
	fixed := system + inQuarters(pinned, b.Caps.Pinned) + b.Caps.Tools
	b.Whole = max(0, b.Ceiling-fixed-b.Caps.Message)
	recall := share(b.Caps.Retrieved, b.Ceiling, retrievalShare)
	b.Allowance = max(0, int(float64(b.Whole-b.Caps.State-recall)/(1+p.SummariesShare)))
	b.Summaries = int(float64(b.Allowance) * p.SummariesShare)
	b.HighWater = int(float64(b.Allowance) * p.CompactAt)
	b.LowWater = int(float64(b.Allowance) * p.CompactTo)
	return b
}

// MaxStateTokens is the maximum number of tokens of a state summary's text, so that its section stays within its cap.
func (b Budget) MaxStateTokens() int { return max(0, b.Caps.State-stateOverhead) }

func inQuarters(tokens, limit int) int {
	step := max(1, (limit+3)/4)
	return (tokens + step - 1) / step * step
}

func newCaps(l Limits, p Policy, ceiling int) Caps {
	c := Caps{
		System: share(systemCap, ceiling, systemShare), Pinned: share(pinnedCap, ceiling, pinnedShare),
		Message: share(messageCap, ceiling, messageShare), Tools: l.Tools,
	}
	if p.History != HistoryOff {
		c.State = share(l.StateTarget+stateOverhead, ceiling, stateShare)
		c.Retrieved = min(l.Retrieval, ceiling)
	}
	return c
}

func share(setting, ceiling int, maxShare float64) int {
	return min(setting, int(math.Floor(float64(ceiling)*maxShare)))
}

// History is how committed turns are represented (context.history; off for context.infinity = false).
type History string

const (
	HistoryElastic History = "elastic" // originals while they fit, then range summaries
	HistorySRD     History = "srd"     // no committed originals at all (SRD 1.2.1)
	HistoryOff     History = "off"     // plain chat: originals only
)

// Policy is the configuration of elastic history (SPEC 16).
type Policy struct {
	History        History
	CompactAt      float64 // high water, share of the allowance
	CompactTo      float64 // low water
	SummariesShare float64 // of the allowance
	PreserveRecent int     // messages that always stay original
	SummaryRatio   float64 // summary.target_ratio
	SummaryMin     int     // tokens
	SummaryMax     int
	MinKeep        int // minimum number of artifacts after the first shrink step
}

// DefaultPolicy is the default of SPEC 16.
func DefaultPolicy() Policy {
	return Policy{
		History: HistoryElastic, CompactAt: 0.85, CompactTo: 0.50, SummariesShare: 0.15, PreserveRecent: 4,
		SummaryRatio: 0.15, SummaryMin: 64, SummaryMax: 2048, MinKeep: 2,
	}
}

// OrDefault is the policy, or DefaultPolicy if it is zero.
func (p Policy) OrDefault() Policy {
	if p.History == "" {
		return DefaultPolicy()
	}
	return p
}

// preservedTurns is the number of complete turns with preserved messages.
func (p Policy) preservedTurns() int { return (p.PreserveRecent + 1) / 2 }
