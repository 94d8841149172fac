package api

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/models"
)

// Settings edits the configuration, keys and models.
type Settings struct{ c *Core }

// NewSettings returns the service.
func NewSettings(c *Core) *Settings { return &Settings{c} }

// firstRunDone is the key of the setting that records that the user has completed the first start.
const firstRunDone = "window.first_run_done"

// Startup is the first call from the window. It works even if nothing else does.
func (s *Settings) Startup() Startup {
	cfg := s.c.Config.Config()
	v := Startup{
		Version: s.c.Version, Quick: s.c.Quick, DataDir: s.c.DataDir, Theme: cfg.Appearance.Theme, TextZoom: cfg.Appearance.TextZoom,
		CodeSize: cfg.Appearance.CodeSize, CodeWrap: cfg.Appearance.CodeWrap, CodeNumbers: cfg.Appearance.CodeNums, Previews: cfg.Appearance.Previews,
		MessageWidth: cfg.Appearance.Width, Motion: cfg.Appearance.Motion, Language: cfg.UI.Language,
		Shortcuts: append([]string{}, cfg.Keys.Shortcuts...), Durability: cfg.Stream.Durability, MaxSessions: maxListed, ReadOnly: s.c.ReadOnly,
	}
	if err := s.c.Config.Err(); err != nil {
		v.ConfigError, v.ConfigPath, v.ConfigDefaults = err.Error(), s.c.Config.Path(), s.c.Config.Defaults()
	}
	if s.c.Fatal != nil {
		e := errorView(s.c.Fatal)
		v.Fatal, v.Lost, v.DamagedLog = &e, s.c.Data.Lost(s.c.ctx()), s.c.Data.DamagedLog()
		return v
	}
	ctx := s.c.ctx()
	v.LastSession = s.sessionToOpen(ctx)
	_, done, err := s.c.Store.Setting(ctx, firstRunDone)
	sums, serr := s.c.Sessions.Sessions(ctx, chat.SessionQuery{Limit: 1})
	v.FirstRun = err == nil && serr == nil && !done && len(sums) == 0
	return v
}

// sessionToOpen returns the session that the window opens first: the last open one. An additional window opens the
// requested session, otherwise another one than the last open session.
func (s *Settings) sessionToOpen(ctx context.Context) string {
	last := s.lastSession(ctx)
	if !s.c.Additional {
		return last
	}
	if s.c.Session != "" {
		return s.c.Session
	}
	sums, err := s.c.Sessions.Sessions(ctx, chat.SessionQuery{Limit: 2})
	for _, other := range sums {
		if err == nil && string(other.ID) != last {
			return string(other.ID)
		}
	}
	return last
}

// lastSession returns the session that was open, if it still exists.
func (s *Settings) lastSession(ctx context.Context) string {
	id, ok, err := s.c.Store.Setting(ctx, lastSession)
	if err != nil || !ok {
		return ""
	}
	if sess, err := s.c.Sessions.Session(ctx, chat.SessionID(id)); err != nil || sess.ArchivedAt != nil {
		return ""
	}
	return id
}

// FinishFirstRun records that the first start is completed. model becomes the default unless it is empty.
func (s *Settings) FinishFirstRun(model string) error {
	if err := s.c.ready(); err != nil {
		return err
	}
	if model != "" {
		if err := s.c.Config.Set("general.default_model", model); err != nil {
			return err
		}
	}
	s.changed()
	return s.c.Store.PutSetting(s.c.ctx(), firstRunDone, "yes")
}

func (s *Settings) changed() { s.c.Hub.Change(chat.Change{Kind: chat.ChangeSettings}) }

// Settings returns the configuration with everything the window needs to edit it.
func (s *Settings) Settings() SettingsView {
	v := SettingsView{Path: s.c.Config.Path(), DataDir: s.c.DataDir, Settings: []Setting{}}
	if err := s.c.Config.Err(); err != nil {
		v.Error, v.Defaults = err.Error(), s.c.Config.Defaults()
	}
	for _, in := range s.c.Config.Config().Settings() {
		if in.Reserved { // not used yet
			continue
		}
		v.Settings = append(v.Settings, Setting{
			Key: in.Key, Group: in.Group, Label: in.Label, Help: in.Help, Type: in.Type, Value: in.Value,
			Default: in.Default, Choices: append([]string{}, in.Choices...), Min: in.Min, Max: in.Max, Unit: in.Unit, Origin: in.Origin,
		})
	}
	return v
}

// Set changes one key. An invalid value changes nothing.
func (s *Settings) Set(key, value string) (SettingsView, error) {
	if err := s.c.Config.Set(key, value); err != nil {
		return s.Settings(), err
	}
	s.changed()
	return s.Settings(), nil
}

// Reset resets a key to its default.
func (s *Settings) Reset(key string) (SettingsView, error) {
	if err := s.c.Config.Reset(key); err != nil {
		return s.Settings(), err
	}
	s.changed()
	return s.Settings(), nil
}

// Models lists every model.
func (s *Settings) Models() []ModelView {
	return lists.Map(s.c.Models.List(), modelView)
}

func modelView(in models.Info) ModelView {
	v := ModelView{
		Name: in.Name, Provider: in.Provider, ModelID: in.ModelID, BaseURL: in.BaseURL, APIKeyEnv: in.APIKeyEnv,
		ContextLimit: in.Limits.ContextLimit, MaxOutput: in.Limits.MaxOutput, LimitSource: in.Source, Ceiling: in.Ceiling,
		Stream: in.Stream, AllowPlainHTTP: in.AllowPlainHTTP, Usable: in.Usable, Reason: in.UnusableReason, Default: in.Default, BuiltIn: in.BuiltIn,
	}
	v.KeyHeader, v.Headers = in.KeyHeader, append([]string{}, in.Headers...)
	v.Images, v.Tools, v.Reasoning = string(in.Abilities.Images), string(in.Abilities.Tools), string(in.Abilities.Reasoning)
	v.PriceInput, v.PriceCached, v.PriceOutput, v.PriceSource = in.Price.Input, in.Price.Cached, in.Price.Output, in.Price.Source
	if own := (OwnPrice{Input: in.PriceInput, Cached: in.PriceCached, Output: in.PriceOutput}); own != (OwnPrice{}) {
		v.OwnPrice = &own
	}
	v.Favourite, v.Local = in.Favourite, in.Local
	if len(in.Options) > 0 {
		if raw, err := json.Marshal(in.Options); err == nil {
			v.Options = string(raw)
		}
	}
	return v
}

// SaveModel adds or changes a configured model. Limits of 0 mean that they are not configured.
func (s *Settings) SaveModel(v ModelView) ([]ModelView, error) {
	m := config.Model{
		Name: strings.TrimSpace(v.Name), Provider: v.Provider, ModelID: strings.TrimSpace(v.ModelID),
		BaseURL: strings.TrimSpace(v.BaseURL), APIKeyEnv: strings.TrimSpace(v.APIKeyEnv),
		ContextLimit: v.ContextLimit, MaxOutput: v.MaxOutput, Stream: v.Stream, AllowPlainHTTP: v.AllowPlainHTTP,
		KeyHeader: strings.TrimSpace(v.KeyHeader), Headers: v.Headers,
		Images: v.Images, Tools: v.Tools, Reasoning: v.Reasoning,
		PriceInput: v.PriceInput, PriceCached: v.PriceCached, PriceOutput: v.PriceOutput,
	}
	m.KeyRequired = s.c.Models.HasStoredKey(m)
	s.restoreConfigured(&m)
	if strings.TrimSpace(v.Options) != "" {
		if err := json.Unmarshal([]byte(v.Options), &m.Options); err != nil {
			return s.Models(), chat.Errorf(chat.CodeInvalid, "models.save", "The provider options are not a JSON object; nothing was changed.")
		}
	}
	err := s.c.Config.SaveModel(m)
	if err == nil {
		s.c.Models.Learn(s.c.ctx(), m.Name) // otherwise the window would ask the user for what the server can report
	}
	return s.editModels(err)
}

// restoreConfigured replaces values that the window returned unchanged with the configured ones, because resolved values,
// such as limits from the table, must not be saved as configured.
func (s *Settings) restoreConfigured(m *config.Model) {
	for _, in := range s.c.Models.List() {
		if in.Name != m.Name {
			continue
		}
		if m.ContextLimit == in.Limits.ContextLimit {
			m.ContextLimit = in.Model.ContextLimit
		}
		if m.MaxOutput == in.Limits.MaxOutput {
			m.MaxOutput = in.Model.MaxOutput
		}
		m.KeyRequired = m.KeyRequired || in.Model.KeyRequired && m.KeyName() == in.Model.KeyName()
		restoreAbilities(m, in)
		if (models.Price{Input: m.PriceInput, Cached: m.PriceCached, Output: m.PriceOutput, Source: in.Price.Source}) == in.Price {
			m.PriceInput, m.PriceCached, m.PriceOutput = in.Model.PriceInput, in.Model.PriceCached, in.Model.PriceOutput
		}
	}
}

func restoreAbilities(m *config.Model, in models.Info) {
	for _, a := range []struct {
		value      *string
		configured string
		resolved   llm.Ability
	}{{&m.Images, in.Model.Images, in.Abilities.Images}, {&m.Tools, in.Model.Tools, in.Abilities.Tools}, {&m.Reasoning, in.Model.Reasoning, in.Abilities.Reasoning}} {
		if *a.value == string(a.resolved) {
			*a.value = a.configured
		}
	}
}

// RemoveModel removes a configured model. Its conversations are kept.
func (s *Settings) RemoveModel(name string) ([]ModelView, error) {
	return s.editModels(s.c.Config.RemoveModel(name))
}

// SetDefaultModel sets the model for new messages.
func (s *Settings) SetDefaultModel(name string) ([]ModelView, error) {
	return s.editModels(s.c.Config.Set("general.default_model", name))
}

func (s *Settings) editModels(err error) ([]ModelView, error) {
	if err == nil {
		s.changed()
	}
	return s.Models(), err
}

// Keys returns where each key is stored, but never a key itself.
func (s *Settings) Keys() []KeyView {
	out := []KeyView{}
	for _, p := range s.c.Models.KeySources() {
		out = append(out, KeyView{
			Provider: p.Name, Env: p.Env, BaseURL: p.BaseURL, Models: append([]string{}, p.Models...),
			Source: s.c.Keys.Where(p.Name, p.Env), Needed: p.Needed, KeyringOK: s.c.Keys.KeyringOK(),
		})
	}
	return out
}

// SetKey stores a key in the system's keyring, or for this run if there is none.
func (s *Settings) SetKey(provider, key string) ([]KeyView, error) {
	if problem := models.Misplaced(provider, key); !problem.IsZero() {
		return s.Keys(), chat.Errorf(chat.CodeInvalid, "keys.set", "%s", problem)
	}
	_, err := s.c.StoreKey(provider, strings.TrimSpace(key))
	s.changed()
	return s.Keys(), err
}

// RemoveKey removes a stored key. A key in the environment is not affected.
func (s *Settings) RemoveKey(provider string) ([]KeyView, error) {
	err := s.c.RemoveKey(provider)
	s.changed()
	return s.Keys(), err
}

// TestKey tests a key or server by listing its models. An empty provider is derived from the key's form, and an empty
// key means the stored one.
func (s *Settings) TestKey(provider, key, baseURL string) KeyTest {
	r := s.c.Models.Test(s.c.ctx(), provider, key, baseURL)
	return KeyTest{
		OK: r.OK, Ms: r.Elapsed.Milliseconds(), Message: r.Message,
		Models: append([]string{}, r.Models...), Provider: r.Provider, Vendor: r.Vendor, Server: r.Server,
	}
}

// LocalServers lists the model servers on this machine.
func (s *Settings) LocalServers() []LocalServer {
	out := []LocalServer{}
	for _, l := range s.c.Models.LocalServers(s.c.ctx()) {
		out = append(out, LocalServer(l))
	}
	return out
}

// OpenExternal shows a link in the system's browser: http and https only.
func (s *Settings) OpenExternal(link string) error {
	u, err := url.Parse(link)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return chat.Errorf(chat.CodeInvalid, "open", "Only http and https links are opened.")
	}
	s.c.Shell.OpenURL(u.String())
	return nil
}

// Version returns the version of this program.
func (s *Settings) Version() string { return s.c.Version }
