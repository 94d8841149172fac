package api

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/models"
)

// Embedders shows which embedder indexes the history and switches to another one. It
// sends no history: only the switch does, which the user asks for.
type Embedders struct {
	c       *Core
	config  *config.Store
	options func(context.Context) []models.EmbedderOption
}

// NewEmbedders returns the service. options finds the embedders that could be used.
func NewEmbedders(c *Core, cfg *config.Store, options func(context.Context) []models.EmbedderOption) *Embedders {
	return &Embedders{c: c, config: cfg, options: options}
}

const (
	// embedderAnswered is the setting that the offer of a model embedder was answered.
	embedderAnswered = "window.embedder_offer_answered"
	// paceTimeout bounds the measurement: a server may have to load the model first.
	paceTimeout = 90 * time.Second
	bytesAToken = 4
)

// Embedders finds out which embedders can be used now. Servers on this machine are asked
// for the names of their models; no text is sent to anyone.
func (s *Embedders) Embedders() (EmbeddersView, error) {
	v := EmbeddersView{Options: []EmbedderView{}}
	if err := s.c.ready(); err != nil {
		return v, err
	}
	ctx := s.c.ctx()
	var err error
	if v.Units, v.Tokens, err = s.c.Chunks.UnitTotals(ctx); err != nil {
		return v, err
	}
	current := s.config.Config().Embedding()
	v.Current = embedderView("", current, 0)
	for _, o := range s.options(ctx) {
		view := embedderView(o.Server, o.Embedding, o.Price)
		if view.ID == v.Current.ID {
			v.Current = view
			continue
		}
		v.Options = append(v.Options, view)
	}
	_, answered, err := s.c.Settings.Setting(ctx, embedderAnswered)
	if err == nil && !answered && v.Current.BuiltIn && s.c.ReadOnly == "" && v.Units > 0 && len(v.Options) > 0 {
		v.Offer = v.Options[0].ID
	}
	return v, err
}

func embedderView(server string, e config.Embedding, price float64) EmbedderView {
	host, remote := models.EmbeddingHost(e)
	return EmbedderView{
		ID: e.Embedder + "|" + e.BaseURL + "|" + e.Model, Server: server, Model: e.Model, Host: host, Remote: remote,
		BuiltIn: e.Embedder == config.EmbedderLocal, Price: price,
	}
}

// Estimate measures an embedder with sample texts and says what all history would cost
// and take. The history itself is not sent.
func (s *Embedders) Estimate(id string) (EmbedderEstimate, error) {
	if err := s.c.ready(); err != nil {
		return EmbedderEstimate{}, err
	}
	ctx, cancel := context.WithTimeout(s.c.ctx(), paceTimeout)
	defer cancel()
	o, err := s.option(ctx, id)
	if err != nil {
		return EmbedderEstimate{}, err
	}
	out := EmbedderEstimate{}
	if out.Units, out.Tokens, err = s.c.Chunks.UnitTotals(ctx); err != nil {
		return out, err
	}
	e, err := s.c.Retrieval.Connect(ctx, o.Embedding)
	if err != nil {
		return out, err
	}
	each, err := embedding.Pace(ctx, e, nil, int(out.Tokens)*bytesAToken/max(out.Units, 1))
	if err != nil {
		return out, err
	}
	out.Ms = (each * time.Duration(out.Units)).Milliseconds()
	out.Cost = cost(o, out.Tokens)
	return out, nil
}

// cost in US dollars; -1 where a remote server's price is not known.
func cost(o models.EmbedderOption, tokens int64) float64 {
	switch {
	case !o.Remote:
		return 0
	case o.Price == 0:
		return -1
	}
	return float64(tokens) / 1e6 * o.Price
}

// option is one that can be used now: an id from the window is never an address.
func (s *Embedders) option(ctx context.Context, id string) (models.EmbedderOption, error) {
	for _, o := range s.options(ctx) {
		if embedderView(o.Server, o.Embedding, o.Price).ID == id {
			return o, nil
		}
	}
	return models.EmbedderOption{}, chat.Errorf(chat.CodeNotFound, "embedders.option", "This embedder cannot be reached any more. Nothing was changed.").
		WithHint("start its server, or save its key, and look again")
}

// Use makes an embedder the configured one. All history is then sent to it, redacted, in
// the background; until that is complete the former one's vectors are searched.
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

// UseBuiltIn goes back to the embedder that needs no server.
func (s *Embedders) UseBuiltIn() (EmbeddersView, error) {
	if err := s.writable(); err != nil {
		return EmbeddersView{}, err
	}
	return s.switchTo(config.Embedding{Embedder: config.EmbedderLocal})
}

func (s *Embedders) switchTo(e config.Embedding) (EmbeddersView, error) {
	if err := s.config.SetAll(e.Values()); err != nil {
		return EmbeddersView{}, err
	}
	if err := s.DismissOffer(); err != nil {
		return EmbeddersView{}, err
	}
	s.c.Hub.Change(chat.Change{Kind: chat.ChangeSettings})
	return s.Embedders()
}

// DismissOffer remembers that the offer was answered: it is not made again.
func (s *Embedders) DismissOffer() error {
	if err := s.writable(); err != nil {
		return err
	}
	return s.c.Settings.PutSetting(s.c.ctx(), embedderAnswered, "true")
}

func (s *Embedders) writable() error {
	if err := s.c.ready(); err != nil {
		return err
	}
	if s.c.ReadOnly != "" {
		return chat.Errorf(chat.CodeConflict, "embedders.use", "The data can only be read now, so it cannot be indexed again.").WithHint("%s", s.c.ReadOnly)
	}
	return nil
}
