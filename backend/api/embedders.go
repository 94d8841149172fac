package api

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/models"
)

// Embedders shows which embedder indexes the history and switches to another one. It sends history only after the
// user has switched.
type Embedders struct {
	c       *Core
	options func(context.Context) []models.EmbedderOption
	totals  func(context.Context) (units int, tokens int64, err error)
}

// NewEmbedders returns the service.
func NewEmbedders(c *Core) *Embedders {
	return &Embedders{c: c, options: c.Models.EmbedderOptions, totals: c.Store.UnitTotals}
}

const (
	// embedderAnswered is the key of the setting that records that the user has responded to the offer of an embedding
	// model.
	embedderAnswered = "window.embedder_offer_answered"
	// paceTimeout limits the measurement, because a server may have to load the model first.
	paceTimeout   = 90 * time.Second
	bytesPerToken = 4
)

// Embedders lists the embedders that can be used now. Servers on this machine are asked for the names of their
// models; no text is sent.
func (s *Embedders) Embedders() (EmbeddersView, error) {
	v := EmbeddersView{Options: []EmbedderView{}}
	ctx := s.c.ctx()
	var err error
	if v.Units, v.Tokens, err = s.totals(ctx); err != nil {
		return v, err
	}
	current := s.c.Config.Config().Embedding()
	v.Current = embedderView("", current, 0)
	for _, o := range s.options(ctx) {
		view := embedderView(o.Server, o.Embedding, o.Price)
		if view.ID == v.Current.ID {
			v.Current = view
			continue
		}
		v.Options = append(v.Options, view)
	}
	_, answered, err := s.c.Store.Setting(ctx, embedderAnswered)
	if err == nil && !answered && v.Current.BuiltIn && s.c.ReadOnly == "" && v.Units > 0 && len(v.Options) > 0 {
		v.Offer = v.Options[0].ID
	}
	return v, err
}

func embedderView(server string, e config.Embedding, price float64) EmbedderView {
	host, remote := models.EmbeddingHost(e)
	return EmbedderView{
		ID: e.Embedder + "|" + e.BaseURL + "|" + e.Model, Server: server, Model: e.Model, Host: host, Remote: remote,
		BuiltIn: config.BuiltIn(e.Embedder), Price: price,
	}
}

// Estimate measures an embedder with sample texts and estimates the cost and time for all history. The history itself
// is not sent.
func (s *Embedders) Estimate(id string) (EmbedderEstimate, error) {
	ctx, cancel := context.WithTimeout(s.c.ctx(), paceTimeout)
	defer cancel()
	o, err := s.option(ctx, id)
	if err != nil {
		return EmbedderEstimate{}, err
	}
	out := EmbedderEstimate{}
	if out.Units, out.Tokens, err = s.totals(ctx); err != nil {
		return out, err
	}
	e, err := s.c.Embedder(ctx, o.Embedding)
	if err != nil {
		return out, err
	}
	perUnit, err := embedding.Pace(ctx, e, nil, int(out.Tokens)*bytesPerToken/max(out.Units, 1))
	if err != nil {
		return out, err
	}
	out.Ms = (perUnit * time.Duration(out.Units)).Milliseconds()
	out.Cost = embeddingCost(o, out.Tokens)
	return out, nil
}

// embeddingCost returns the cost in US dollars; -1 if a remote server's price is unknown.
func embeddingCost(o models.EmbedderOption, tokens int64) float64 {
	switch {
	case !o.Remote:
		return 0
	case o.Price == 0:
		return -1
	}
	return float64(tokens) / 1e6 * o.Price
}

// option finds an available embedder by its id. An id from the window is never used as an address.
func (s *Embedders) option(ctx context.Context, id string) (models.EmbedderOption, error) {
	for _, o := range s.options(ctx) {
		if embedderView(o.Server, o.Embedding, o.Price).ID == id {
			return o, nil
		}
	}
	return models.EmbedderOption{}, chat.Errorf(chat.CodeNotFound, "embedders.option", "This embedder cannot be reached any more. Nothing was changed.").
		WithHint("start its server, or save its key, then try again")
}

// Use configures an embedder. All history is then sent to it, redacted, in the background; until all vectors exist,
// searches use those of the previous embedder.
func (s *Embedders) Use(id string) (EmbeddersView, error) {
	if err := s.writable(); err != nil {
		return EmbeddersView{}, err
	}
	o, err := s.option(s.c.ctx(), id)
	if err != nil {
		return EmbeddersView{}, err
	}
	return s.switchTo(o.Embedding)
}

// UseBuiltIn switches back to the built-in embedder, which needs no server.
func (s *Embedders) UseBuiltIn() (EmbeddersView, error) {
	if err := s.writable(); err != nil {
		return EmbeddersView{}, err
	}
	return s.switchTo(config.Embedding{Embedder: config.EmbedderLocal})
}

func (s *Embedders) switchTo(e config.Embedding) (EmbeddersView, error) {
	if err := s.c.Config.SetAll(e.Values()); err != nil {
		return EmbeddersView{}, err
	}
	if err := s.DismissOffer(); err != nil {
		return EmbeddersView{}, err
	}
	s.c.Hub.Change(chat.Change{Kind: chat.ChangeSettings})
	return s.Embedders()
}

// DismissOffer records that the user has responded to the offer, so that it is not shown again.
func (s *Embedders) DismissOffer() error {
	if err := s.writable(); err != nil {
		return err
	}
	return s.c.Store.PutSetting(s.c.ctx(), embedderAnswered, "true")
}

func (s *Embedders) writable() error {
	if s.c.ReadOnly != "" {
		return chat.Errorf(chat.CodeConflict, "embedders.use", "The data is open read-only, so it cannot be indexed again.").WithHint("%s", s.c.ReadOnly)
	}
	return nil
}
