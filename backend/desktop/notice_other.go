//go:build windows || darwin

package desktop

import (
	"sync"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// ready is whether the system shows this program's notifications; macOS asks the user the first time, and only for
// signed bundles.
var ready struct {
	once sync.Once
	ok   bool
}

const sessionKey = "session"

func (l *Lifecycle) send(n Notice) {
	ready.once.Do(func() {
		if !runtime.IsNotificationAvailable(l.ctx) || runtime.InitializeNotifications(l.ctx) != nil {
			return
		}
		allowed, err := runtime.RequestNotificationAuthorization(l.ctx)
		ready.ok = err == nil && allowed
		runtime.OnNotificationResponse(l.ctx, func(r runtime.NotificationResult) {
			if session, ok := r.Response.UserInfo[sessionKey].(string); ok && r.Error == nil {
				l.openSession(session)
			}
		})
	})
	if ready.ok {
		_ = runtime.SendNotification(l.ctx, runtime.NotificationOptions{
			ID: n.Session, Title: n.Title, Body: n.Text, Data: map[string]any{sessionKey: n.Session},
		})
	}
}
