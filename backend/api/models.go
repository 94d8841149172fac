package api

import (
	"encoding/json"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/models"
)

// Presets returns the services and servers that can be added by name.
func (s *Settings) Presets() []PresetView {
	out := []PresetView{}
	for _, p := range models.Presets() {
		out = append(out, PresetView{ID: p.ID, Name: p.Name, Protocol: p.Protocol, BaseURL: p.BaseURL, Env: p.Env, Local: p.Local, Note: p.Note})
	}
	return out
}

// ModelPlaces returns the providers and servers whose models can be listed now.
func (s *Settings) ModelPlaces() []PlaceView {
	out := []PlaceView{}
	for _, p := range s.c.Models.Places(s.c.ctx()) {
		out = append(out, PlaceView(p))
	}
	return out
}

// OfferedModels asks a place for its models.
func (s *Settings) OfferedModels(place string) ([]OfferView, error) {
	offers, err := s.c.Models.Offers(s.c.ctx(), place)
	out := []OfferView{}
	for _, o := range offers {
		out = append(out, OfferView{
			ModelID: o.ID, Configured: o.Configured, Window: o.Window, MaxOutput: o.MaxOutput, Images: string(o.Images), Tools: string(o.Tools),
			Reasoning: string(o.Reasoning), PriceInput: o.Price.Input, PriceOutput: o.Price.Output, PriceSource: o.Price.Source,
		})
	}
	return out, err
}

// AddOffered configures a model of a place, or returns the model already configured for it.
func (s *Settings) AddOffered(place, modelID string) (AddedModel, error) {
	name, err := s.c.Models.Add(s.c.ctx(), s.c.Config, place, modelID, "")
	if err != nil {
		return AddedModel{Models: s.Models()}, err
	}
	s.changed()
	return AddedModel{Name: name, Models: s.Models()}, nil
}

// SetFavourite adds a model to the favourites, which are listed first, or removes it.
func (s *Settings) SetFavourite(name string, favourite bool) ([]ModelView, error) {
	list := slices.DeleteFunc(slices.Clone(s.c.Config.Config().General.Favourites), func(n string) bool { return n == name })
	if favourite {
		list = append(list, name)
	}
	raw, err := json.Marshal(append([]string{}, list...))
	if err != nil {
		return s.Models(), err
	}
	return s.editModels(s.c.Config.Set("general.favourite_models", string(raw)))
}

// SetWindow stores the context window that the user entered for a model, in tokens.
func (s *Settings) SetWindow(name string, tokens int) ([]ModelView, error) {
	const op = "models.window"
	m, ok := s.c.Models.Configured(name)
	if !ok {
		return s.Models(), chat.Errorf(chat.CodeNotFound, op, "There is no model named %q; nothing was changed.", name)
	}
	if tokens <= 0 {
		return s.Models(), chat.Errorf(chat.CodeInvalid, op, "A context window must be a number of tokens above 0; nothing was changed.")
	}
	m.ContextLimit = tokens
	return s.editModels(s.c.Config.SaveModel(m))
}

// Costs returns the cost of the newest turn of a session, of the session, and of this month so far.
func (s *Settings) Costs(sessionID string) (CostView, error) {
	v := CostView{PricesDate: models.PricesDate}
	if err := s.c.ready(); err != nil {
		return v, err
	}
	month, background, err := s.spent(chat.UsageQuery{Since: monthOf(time.Now())})
	if err != nil {
		return v, err
	}
	v.Month, v.MonthBackground, v.Unpriced = v.amount(month.Plus(background)), v.amount(background), month.Unpriced
	if sessionID != "" {
		session, background, err := s.spent(chat.UsageQuery{Session: chat.SessionID(sessionID)})
		if err != nil {
			return v, err
		}
		v.Session, v.SessionBackground = v.amount(session.Plus(background)), v.amount(background)
		last, err := s.c.Store.Measures(s.c.ctx(), chat.MeasureQuery{Session: chat.SessionID(sessionID), Limit: 1})
		if err != nil {
			return v, err
		}
		for _, l := range last {
			v.Turn = v.amount(s.c.Models.Spent([]chat.ModelUsage{{Model: l.Model, Turns: 1, Usage: l.Usage}}))
		}
	}
	v.Budget, v.State = s.budget(month.Amount + background.Amount)
	return v, nil
}

// spent returns the cost of turns and of background work.
func (s *Settings) spent(q chat.UsageQuery) (turns, background models.Spent, err error) {
	used, err := s.c.Store.UsageByModel(s.c.ctx(), q)
	if err != nil {
		return turns, background, err
	}
	inBackground, err := s.c.Store.BackgroundUsage(s.c.ctx(), q)
	return s.c.Models.Spent(used), s.c.Models.SpentInBackground(inBackground), err
}

// amount returns the amount to show; nil if no price is known. It also sets Estimate and Today.
func (v *CostView) amount(spent models.Spent) *float64 {
	v.Estimate, v.Today = v.Estimate || spent.Estimate, v.Today || spent.Today > 0
	if spent.Priced == 0 {
		return nil
	}
	return &spent.Amount
}

// budget returns the monthly budget, and its state after the amount spent.
func (s *Settings) budget(spent float64) (budget float64, state string) {
	limits := s.c.Config.Config().Cost
	switch {
	case limits.Budget <= 0:
		return 0, ""
	case spent >= limits.Budget:
		return limits.Budget, "over"
	case spent >= limits.Budget*limits.WarnAt:
		return limits.Budget, "near"
	}
	return limits.Budget, "within"
}

// monthOf returns the beginning of a moment's month in local time.
func monthOf(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
}
