package models

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
)

// Configured finds a model by name.
func (c *Catalog) Configured(name string) (config.Model, bool) {
	return c.d.Config().Model(name, c.hasKey)
}

// Spent is the total cost of a number of turns, or of background work.
type Spent struct {
	Amount   float64
	Priced   int  // turns whose price is known
	Unpriced int  // turns of models without a known price; turns of recall cost nothing and are not counted
	Estimate bool // at least one price is not a configured one
	Today    int  // those of Priced without a stored price, whose cost is by today's price
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

// SpentInBackground adds up what background work cost. Its usage names models by their ids.
func (c *Catalog) SpentInBackground(usage []chat.ModelUsage) Spent {
	all := c.d.Config().Models(c.hasKey)
	return c.Spent(lists.Map(usage, func(u chat.ModelUsage) chat.ModelUsage {
		if i := slices.IndexFunc(all, func(m config.Model) bool { return m.ModelID == u.Model }); i >= 0 {
			u.Model = all[i].Name
		}
		return u
	}))
}

// Plus returns the sum of two totals.
func (s Spent) Plus(other Spent) Spent {
	return Spent{
		Amount: s.Amount + other.Amount, Priced: s.Priced + other.Priced, Unpriced: s.Unpriced + other.Unpriced,
		Estimate: s.Estimate || other.Estimate, Today: s.Today + other.Today,
	}
}

// RequireKey sets whether the models of a server need its key, after one was stored or removed: a key that was kept
// only for a run of the program must not be missing unnoticed in the next one. name is the name of the key.
func (c *Catalog) RequireKey(saver *config.Store, name string, required bool) error {
	for _, m := range c.d.Config().Configured {
		if m.BaseURL == "" || m.KeyName() != name || m.KeyRequired == required {
			continue
		}
		m.KeyRequired = required
		if err := saver.SaveModel(m); err != nil {
			return err
		}
	}
	return nil
}

// HasStoredKey reports whether a model's server has a key that is not from the environment.
func (c *Catalog) HasStoredKey(m config.Model) bool {
	return m.BaseURL != "" && c.hasKey(m.KeyName(), "")
}

// Add configures a model of a provider or server and returns its name: name, or one derived from the model's id if name
// is empty. A model that is already configured is not added again.
func (c *Catalog) Add(ctx context.Context, saver *config.Store, place, modelID, name string) (string, error) {
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
	all := c.d.Config().Models(c.hasKey)
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
	added = c.like(added)
	added.KeyRequired = c.HasStoredKey(added)
	// The built-in models of a vendor disappear as soon as one of its models is configured. Sessions may use them, so
	// they are saved too.
	if p.BaseURL == "" {
		for _, m := range all {
			if m.BuiltIn && m.Provider == p.Protocol {
				if err := saver.SaveModel(m); err != nil {
					return "", err
				}
			}
		}
	}
	return name, saver.SaveModel(added)
}

var notInName = regexp.MustCompile(`[^a-z0-9._-]+`)

// freeName derives a name from a model's id that is not taken. A dot stays: the file quotes such a name.
func freeName(modelID string, taken map[string]bool) string {
	base := modelID[strings.LastIndex(modelID, "/")+1:]
	base = strings.Trim(notInName.ReplaceAllString(strings.ToLower(base), "-"), "-.")
	if len(base) > 60 {
		base = strings.Trim(base[:60], "-.")
	}
	base = cmp.Or(base, "model")
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	return name
}
