/* Preloaded into the unmodified production program, so that WebKitWebDriver can drive it: its web view is created with
   automation allowed, and is given to the driver when it asks for one. The page's console is written to the program's
   output, where the tests look for errors. For tests only; not part of the program. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <webkit2/webkit2.h>

static GtkWidget *view;

/* Children (the web process, the browser that a link opens) must not be automated. */
__attribute__((constructor)) static void unset_preload(void) { unsetenv("LD_PRELOAD"); }

static WebKitWebView *return_view(WebKitAutomationSession *session, gpointer data) {
  (void)session, (void)data;
  return WEBKIT_WEB_VIEW(view);
}

static void describe_program(WebKitWebContext *context, WebKitAutomationSession *session, gpointer data) {
  (void)context, (void)data;
  WebKitApplicationInfo *info = webkit_application_info_new();
  webkit_application_info_set_name(info, "contextinfinity");
  webkit_automation_session_set_application_info(session, info);
  webkit_application_info_unref(info);
  g_signal_connect(session, "create-web-view", G_CALLBACK(return_view), NULL);
}

/* Replaces WebKit's own function, which the program calls once. */
GtkWidget *webkit_web_view_new_with_user_content_manager(WebKitUserContentManager *manager) {
  WebKitWebContext *context = webkit_web_context_get_default();
  webkit_web_context_set_automation_allowed(context, TRUE);
  g_signal_connect(context, "automation-started", G_CALLBACK(describe_program), NULL);
  view = g_object_new(WEBKIT_TYPE_WEB_VIEW, "user-content-manager", manager, "is-controlled-by-automation", TRUE, NULL);
  webkit_settings_set_enable_write_console_messages_to_stdout(webkit_web_view_get_settings(WEBKIT_WEB_VIEW(view)), TRUE);
  return view;
}
