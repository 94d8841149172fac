package prompt

// Limits are the numbers a budget is computed from (SPEC 6, 16).
type Limits struct {
	ContextLimit    int // the model's window
	MaxOutput       int // the model's own output limit
	ResponseReserve int // budget.response_reserve_tokens
	SafetyMargin    int // budget.safety_margin_tokens
	WorkingSet      int // budget.working_set_tokens
	SummariesShare  float64
	PreserveRecent  int // messages that stay original, always
}

// Budget is the token budget of one request, all in tokens.
type Budget struct {
	ModelLimit      int `json:"model_limit"`
	ResponseReserve int `json:"response_reserve"`
	SafetyMargin    int `json:"safety_margin"`
	InputBudget     int `json:"input_budget"`
	Ceiling         int `json:"ceiling"` // min(InputBudget, working set)
}

// NewBudget applies SPEC 6: reserve = min(response_reserve, limit/8);
// input = limit - reserve - max(5 % of the rest, min(safety_margin, limit/32));
// ceiling = min(input, working_set). An 8k window works too.
func NewBudget(l Limits) Budget {
	reserve := min(l.ResponseReserve, l.ContextLimit/8)
	rest := l.ContextLimit - reserve
	margin := max(rest/20, min(l.SafetyMargin, l.ContextLimit/32))
	input := max(rest-margin, 0)
	ceiling := input
	if l.WorkingSet > 0 {
		ceiling = min(ceiling, l.WorkingSet)
	}
	return Budget{
		ModelLimit: l.ContextLimit, ResponseReserve: reserve, SafetyMargin: margin,
		InputBudget: input, Ceiling: ceiling,
	}
}
