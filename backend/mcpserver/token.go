package mcpserver

import (
	"context"
	"crypto/rand"

	"contextinfinity/backend/chat"
)

// tokenPrefix makes a token recognizable to people and to secret scanners.
const tokenPrefix = "cinf_"

// MakeToken creates a token for a program, which replaces its previous one. Only the hash is stored, so the token can
// be shown only once.
func (d *Gateway) MakeToken(ctx context.Context, client string) (string, error) {
	token := tokenPrefix + rand.Text()
	return token, d.Store.SetClientToken(ctx, client, chat.HashText(token))
}

// RevokeToken ends a program's access over HTTP.
func (d *Gateway) RevokeToken(ctx context.Context, client string) error {
	return d.Store.SetClientToken(ctx, client, "")
}
