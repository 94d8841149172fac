package prompt

import "math"

// Limits are a model's numbers and the configured ones that a budget is made
// of (SPEC 6, 16), all in tokens.
type Limits struct {
	ContextLimit    int // the model's window
	MaxOutput       int // the model's own output limit
	ResponseReserve int // budget.response_reserve_tokens
	SafetyMargin    int // budget.safety_margin_tokens
	WorkingSet      int // budget.working_set_tokens; 0: no ceiling but the window's
	StateTarget     int // librarian.target_tokens
	Retrieval       int // budget.max_retrieval_tokens; 0: nothing is retrieved
	Tools           int // tokens of the tool definitions that are sent
}

// Share of the ceiling that a section's cap never exceeds, whatever its setting.
const (
	systemShare    = 0.08
	pinnedShare    = 0.08
	stateShare     = 0.12
	retrievedShare = 0.15
	messageShare   = 0.10
)

// Settings of sections that have none in the configuration.
const (
	systemCap  = 2000
	pinnedCap  = 2000
	messageCap = 4000
	// stateOverhead is what the memory block around the head summary costs.
	stateOverhead = 48
)

// Budget is the token budget of one request, all in tokens. It depends on the
// model and the configuration alone, never on the conversation, so that it
// stands from one turn to the next.
type Budget struct {
	ModelLimit      int     `json:"model_limit"`
	ResponseReserve int     `json:"response_reserve"`
	SafetyMargin    int     `json:"safety_margin"`
	InputBudget     int     `json:"input_budget"`
	Ceiling         int     `json:"ceiling"` // min(InputBudget, working set), after calibration
	Calibration     float64 `json:"calibration"`
	Caps            Caps    `json:"caps"`
	Allowance       int     `json:"allowance"` // originals and pending turns together
	Summaries       int     `json:"summaries"` // range summaries: a share of the allowance
	HighWater       int     `json:"high_water"`
	LowWater        int     `json:"low_water"`
}

// Caps are what the fixed sections may take before history has to make room.
type Caps struct {
	System    int `json:"system"`
	Tools     int `json:"tools"`
	Pinned    int `json:"pinned"`
	State     int `json:"state"`
	Retrieved int `json:"retrieved"`
	Message   int `json:"message"`
}

func (c Caps) total() int {
	return c.System + c.Tools + c.Pinned + c.State + c.Retrieved + c.Message
}

// NewBudget applies SPEC 6: reserve = min(response_reserve, limit/8);
// input = limit - reserve - max(5 % of the rest, min(safety_margin, limit/32));
// ceiling = min(input, working set), divided by the calibration (what the
// provider counts for each token we count); allowance = (ceiling - fixed caps) /
// (1 + summaries share). An 8k window works too.
func NewBudget(l Limits, p Policy, calibration float64) Budget {
	if calibration <= 0 {
		calibration = 1
	}
	reserve := min(l.ResponseReserve, l.ContextLimit/8)
	rest := l.ContextLimit - reserve
	margin := max(rest/20, min(l.SafetyMargin, l.ContextLimit/32))
	input := max(rest-margin, 0)
	ceiling := input
	if l.WorkingSet > 0 {
		ceiling = min(ceiling, l.WorkingSet)
	}
	b := Budget{
		ModelLimit: l.ContextLimit, ResponseReserve: reserve, SafetyMargin: margin, InputBudget: input,
		Ceiling: int(float64(ceiling) / calibration), Calibration: calibration,
	}
	b.Caps = newCaps(l, p, b.Ceiling)
	b.Allowance = max(0, int(float64(b.Ceiling-b.Caps.total())/(1+p.SummariesShare)))
	b.Summaries = int(float64(b.Allowance) * p.SummariesShare)
	b.HighWater = int(float64(b.Allowance) * p.CompactAt)
	b.LowWater = int(float64(b.Allowance) * p.CompactTo)
	return b
}

func newCaps(l Limits, p Policy, ceiling int) Caps {
	c := Caps{
		System: share(systemCap, ceiling, systemShare), Pinned: share(pinnedCap, ceiling, pinnedShare),
		Message: share(messageCap, ceiling, messageShare), Tools: l.Tools,
	}
	if p.History != HistoryOff {
		c.State = share(l.StateTarget+stateOverhead, ceiling, stateShare)
		c.Retrieved = share(l.Retrieval, ceiling, retrievedShare)
	}
	return c
}

func share(setting, ceiling int, most float64) int {
	return min(setting, int(math.Floor(float64(ceiling)*most)))
}

// History says how committed turns are represented (context.history, and off
// for context.infinity = false).
type History string

const (
	HistoryElastic History = "elastic" // originals while they fit, then range summaries
	HistorySRD     History = "srd"     // no committed originals at all (SRD 1.2.1)
	HistoryOff     History = "off"     // plain chat: originals alone
)

// Policy are the configured numbers of elastic history (SPEC 16).
type Policy struct {
	History        History
	CompactAt      float64 // high water, share of the allowance
	CompactTo      float64 // low water
	SummariesShare float64 // of the allowance
	PreserveRecent int     // messages that stay original, always
	SummaryRatio   float64 // summary.target_ratio
	SummaryMin     int     // tokens
	SummaryMax     int
	MinKeep        int // artifacts the shrinker's first step leaves
}

// DefaultPolicy is SPEC 16's.
func DefaultPolicy() Policy {
	return Policy{
		History: HistoryElastic, CompactAt: 0.85, CompactTo: 0.50, SummariesShare: 0.15, PreserveRecent: 4,
		SummaryRatio: 0.15, SummaryMin: 64, SummaryMax: 2048, MinKeep: 2,
	}
}

// preservedTurns is how many whole turns the preserved messages are.
func (p Policy) preservedTurns() int { return (p.PreserveRecent + 1) / 2 }
