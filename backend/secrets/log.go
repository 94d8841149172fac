package secrets

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"contextinfinity/backend/internal/lists"
)

// Handler wraps a log handler so that no secret reaches it: messages, and names and values of attributes of every kind,
// are redacted, and the value of an attribute named after a secret is replaced completely.
func (r *Redactor) Handler(next slog.Handler) slog.Handler { return &handler{next, r} }

type handler struct {
	next slog.Handler
	r    *Redactor
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, h.r.Redact(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.r.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.next.WithAttrs(h.r.attrs(attrs)), h.r}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.next.WithGroup(h.r.Redact(name)), h.r}
}

func (r *Redactor) attrs(attrs []slog.Attr) []slog.Attr {
	return lists.Map(attrs, r.attr)
}

func (r *Redactor) attr(a slog.Attr) slog.Attr {
	if secretName(a.Key) {
		return slog.String(a.Key, Redacted)
	}
	return slog.Attr{Key: r.Redact(a.Key), Value: r.value(a.Value.Resolve())}
}

func secretName(name string) bool {
	return slices.Contains([]string{
		"api_key", "apikey", "api-key", "x-api-key", "authorization", "secret", "token", "password", "bearer",
	}, strings.ToLower(name))
}

func (r *Redactor) value(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(r.Redact(v.String()))
	case slog.KindGroup:
		return slog.GroupValue(r.attrs(v.Group())...)
	case slog.KindAny:
		return r.anyValue(v)
	}
	return v // numbers, times and the like
}

// anyValue converts any other value to its redacted text, because a handler might print it in any form.
func (r *Redactor) anyValue(v slog.Value) slog.Value {
	switch x := v.Any().(type) {
	case nil:
		return v
	case error:
		return slog.StringValue(r.Redact(x.Error()))
	case []byte:
		return slog.StringValue(r.Redact(string(x)))
	default:
		return slog.StringValue(r.Redact(fmt.Sprintf("%+v", x)))
	}
}
