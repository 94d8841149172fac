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
	for _, p := range s.catalog.Places(s.c.ctx()) {
		out = append(out, PlaceView{ID: p.ID, Name: p.Name, Protocol: p.Protocol, BaseURL: p.BaseURL, Env: p.Env, Local: p.Local})
	}
	return out
}

// OfferedModels lists the models of a place, by asking it.
func (s *Settings) OfferedModels(place string) ([]OfferView, error) {
	offers, err := s.catalog.Offers(s.c.ctx(), place)
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
	name, err := s.catalog.Add(s.c.ctx(), s.config, place, modelID, "")
	if err != nil {
		return AddedModel{Models: s.Models()}, err
	}
	s.changed()
	return AddedModel{Name: name, Models: s.Models()}, nil
}

// SetFavourite adds a model to the favourites, which are listed first, or removes it.
func (s *Settings) SetFavourite(name string, favourite bool) ([]ModelView, error) {
	list := slices.DeleteFunc(slices.Clone(s.config.Config().General.Favourites), func(n string) bool { return n == name })
	if favourite {
		list = append(list, name)
	}
	raw, err := json.Marshal(append([]string{}, list...))
	if err != nil {
		return s.Models(), err
	}
	return s.editModels(s.config.Set("general.favourite_models", string(raw)))
}

// SetWindow stores the context window that the user entered for a model, in tokens.
func (s *Settings) SetWindow(name string, tokens int) ([]ModelView, error) {
	const op = "models.window"
	m, ok := s.catalog.Configured(name)
	if !ok {
		return s.Models(), chat.Errorf(chat.CodeNotFound, op, "There is no model named %q; nothing was changed.", name)
	}
	if tokens <= 0 {
		return s.Models(), chat.Errorf(chat.CodeInvalid, op, "A window is a number of tokens above 0; nothing was changed.")
	}
	m.ContextLimit = tokens
	return s.editModels(s.config.SaveModel(m))
}

// Costs returns the cost of the newest turn of a session, of the session, and of this month so far.
func (s *Settings) Costs(sessionID string) (CostView, error) {
	if err := s.c.ready(); err != nil {
		return CostView{}, err
	}
	ctx, now := s.c.ctx(), time.Now()
	month, err := s.c.Figures.UsageByModel(ctx, chat.UsageQuery{Since: monthOf(now)})
	if err != nil {
		return CostView{}, err
	}
	var session, newest []chat.ModelUsage
	if sessionID != "" {
		if session, err = s.c.Figures.UsageByModel(ctx, chat.UsageQuery{Session: chat.SessionID(sessionID)}); err != nil {
			return CostView{}, err
		}
		last, err := s.c.Figures.Measures(ctx, chat.MeasureQuery{Session: chat.SessionID(sessionID), Limit: 1})
		if err != nil {
			return CostView{}, err
		}
		for _, l := range last {
			newest = append(newest, chat.ModelUsage{Model: l.Model, Turns: 1, Usage: l.Usage})
		}
	}
	return s.costs(newest, session, month), nil
}

func (s *Settings) costs(newest, session, month []chat.ModelUsage) CostView {
	v := CostView{PricesDate: models.PricesDate}
	sum := func(usage []chat.ModelUsage) (models.Spent, *float64) {
		spent := s.catalog.Spent(usage)
		v.Estimate, v.Today = v.Estimate || spent.Estimate, v.Today || spent.Today > 0
		if spent.Priced == 0 {
			return spent, nil
		}
		return spent, &spent.Amount
	}
	_, v.Turn = sum(newest)
	_, v.Session = sum(session)
	var spent models.Spent
	spent, v.Month = sum(month)
	v.Unpriced = spent.Unpriced
	limits := s.config.Config().Cost
	if limits.Budget <= 0 {
		return v
	}
	v.Budget, v.State = limits.Budget, "within"
	switch {
	case spent.Amount >= limits.Budget:
		v.State = "over"
	case spent.Amount >= limits.Budget*limits.WarnAt:
		v.State = "near"
	}
	return v
}

// monthOf returns the beginning of a moment's month in local time.
func monthOf(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
}
