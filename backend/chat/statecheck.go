package chat

import "encoding/json"

// CheckResult is the result of checking a model's summary (SRD 10.2).
type CheckResult string

const (
	CheckPassed   CheckResult = "passed"
	CheckRepaired CheckResult = "repaired" // lost entries were added by rule
	CheckFailed   CheckResult = "failed"   // the deterministic summary replaced it
)

// StateCheck is the part of a state summary's validation that is shown. It is zero for states without a model's
// summary, and if the validation is unreadable.
type StateCheck struct {
	Result  CheckResult `json:"check"`
	Tries   int         `json:"tries"`
	Reason  string      `json:"reason"`  // why an answer was not used, or not unchanged
	Missing []string    `json:"missing"` // what the model's last answer lost
	Added   []string    `json:"added"`   // the part that was added by rule
}

// Check reads a range summary's validation.
func (r RangeSummary) Check() StateCheck {
	if r.GeneratedBy == GeneratedByExtract {
		return CheckOf(StateFallback, r.Validation)
	}
	return CheckOf(StateLibrarian, r.Validation)
}

// CheckOf reads a state summary's validation. Those of earlier versions have fewer fields.
func CheckOf(origin StateOrigin, validation json.RawMessage) StateCheck {
	var c StateCheck
	if len(validation) == 0 || json.Unmarshal(validation, &c) != nil {
		c = StateCheck{}
	}
	switch {
	case origin == StateLibrarian && len(c.Added) > 0:
		c.Result = CheckRepaired
	case origin == StateLibrarian:
		c.Result = CheckPassed
	case origin == StateFallback && c.Tries > 0:
		c.Result = CheckFailed
	default:
		c.Result = ""
	}
	if c.Missing == nil {
		c.Missing = []string{}
	}
	if c.Added == nil {
		c.Added = []string{}
	}
	return c
}
