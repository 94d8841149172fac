package models

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
)

// Configured finds a model by name.
func (c *Catalog) Configured(name string) (config.Model, bool) {
	return c.d.Config().Model(name, c.have)
}

// Spent is the total cost of a number of turns.
type Spent struct {
	Amount   float64
	Priced   int  // turns whose price is known
	Unpriced int  // turns of models without a known price; turns of recall cost nothing and are not counted
	Estimate bool // at least one price is not a configured one
	Today    int  // of the turns whose price is known, those without a stored price: today's counts
}

// Spent adds up what turns cost.
func (c *Catalog) Spent(usage []chat.ModelUsage) Spent {
	var s Spent
	for _, u := range usage {
		switch cost, today := c.Cost(u.Model, u.Usage); {
		case cost.Known():
			s.Amount += cost.USD
			s.Priced += u.Turns
			s.Estimate = s.Estimate || cost.Estimate()
			if today {
				s.Today += u.Turns
			}
		case u.Model != config.Recall:
			s.Unpriced += u.Turns
		}
	}
	return s
}

// Saver writes models into the configuration.
type Saver interface{ SaveModel(config.Model) error }

// Add configures a model of a provider or server and returns its name: the given one, or one made from the model's
// id. A model that is already configured is not added again.
func (c *Catalog) Add(ctx context.Context, to Saver, place, modelID, name string) (string, error) {
	const op = "models.add"
	modelID = strings.TrimSpace(modelID)
	if modelID == "" {
		return "", chat.Errorf(chat.CodeInvalid, op, "There is no model to add.")
	}
	p, ok := c.place(ctx, place)
	if !ok {
		return "", chat.Errorf(chat.CodeNotFound, op, "There is no provider or server %q; nothing was changed.", place).WithHint("contextinfinity models providers lists them")
	}
	if strings.Contains(p.BaseURL, azureResource) {
		return "", chat.Errorf(chat.CodeInvalid, op, "The address of %s depends on your resource; nothing was changed.", p.Name).
			WithHint("add it to config.toml with base_url https://NAME.openai.azure.com/openai/v1")
	}
	all := c.d.Config().Models(c.have)
	taken := map[string]bool{config.Recall: true}
	for _, m := range all {
		if m.ModelID == modelID && m.Provider == p.Protocol && m.BaseURL == p.BaseURL && name == "" {
			return m.Name, nil
		}
		taken[m.Name] = true
	}
	switch {
	case name == "":
		name = freeName(modelID, taken)
	case taken[name]:
		return "", chat.Errorf(chat.CodeInvalid, op, "There is already a model named %q; nothing was changed.", name)
	}
	added := config.Model{Name: name, Provider: p.Protocol, ModelID: modelID, BaseURL: p.BaseURL, Stream: true}
	if p.BaseURL != "" && !p.Local {
		added.APIKeyEnv = p.Env
	}
	// The built-in models of a vendor disappear as soon as one of its models is configured. Sessions may use them, so
	// they are saved too.
	if p.BaseURL == "" {
		for _, m := range all {
			if m.BuiltIn && m.Provider == p.Protocol {
				if err := to.SaveModel(m); err != nil {
					return "", err
				}
			}
		}
	}
	return name, to.SaveModel(added)
}

var notInName = regexp.MustCompile(`[^a-z0-9_-]+`)

// freeName makes a name from a model's id that is valid as the name of a TOML table and not taken.
func freeName(modelID string, taken map[string]bool) string {
	base := modelID[strings.LastIndex(modelID, "/")+1:]
	base = strings.Trim(notInName.ReplaceAllString(strings.ToLower(base), "-"), "-")
	if len(base) > 60 {
		base = strings.Trim(base[:60], "-")
	}
	if base == "" {
		base = "model"
	}
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	return name
}
