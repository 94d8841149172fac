//go:build linux && (dev || production)

#include <gtk/gtk.h>
#include <webkit2/webkit2.h>

#include "_cgo_export.h"
#include "webkit_gtk.h"

struct languages {
  char **spelling, **preferred;
};

static gboolean set_languages(gpointer data) {
  struct languages *l = data;
  WebKitWebContext *context = webkit_web_context_get_default(); // the context of Wails' view
  webkit_web_context_set_spell_checking_languages(context, (const gchar *const *)l->spelling);
  webkit_web_context_set_spell_checking_enabled(context, TRUE);
  webkit_web_context_set_preferred_languages(context, (const gchar *const *)l->preferred);
  g_strfreev(l->spelling);
  g_strfreev(l->preferred);
  g_free(l);
  return G_SOURCE_REMOVE;
}

void web_languages(char **spelling, char **preferred) {
  struct languages *l = g_new(struct languages, 1);
  l->spelling = g_strdupv(spelling);
  l->preferred = g_strdupv(preferred);
  g_idle_add(set_languages, l);
}

// Only the program's own page may be in the window: Wails gives every page there access to the program. A frame
// without network access, such as a preview, is about:srcdoc. Links are opened in the system's browser.
static gboolean decide_policy(WebKitWebView *view, WebKitPolicyDecision *decision, WebKitPolicyDecisionType type, gpointer data) {
  (void)view;
  (void)data;
  if (type == WEBKIT_POLICY_DECISION_TYPE_RESPONSE) return FALSE;
  WebKitNavigationAction *action = webkit_navigation_policy_decision_get_navigation_action(WEBKIT_NAVIGATION_POLICY_DECISION(decision));
  const gchar *uri = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action));
  if (uri != NULL && (g_str_has_prefix(uri, "wails:") || g_str_has_prefix(uri, "about:"))) return FALSE;
  g_message("The window stays on its page instead of opening another address.");
  webkit_policy_decision_ignore(decision);
  return TRUE;
}

static void guard_views(GtkWidget *widget, gpointer found) {
  if (WEBKIT_IS_WEB_VIEW(widget)) {
    g_signal_connect(widget, "decide-policy", G_CALLBACK(decide_policy), NULL);
    *(gboolean *)found = TRUE;
  } else if (GTK_IS_CONTAINER(widget)) {
    gtk_container_forall(GTK_CONTAINER(widget), guard_views, found);
  }
}

static gboolean stay(gpointer data) {
  (void)data;
  gboolean found = FALSE;
  GList *windows = gtk_window_list_toplevels();
  for (GList *w = windows; w != NULL; w = w->next) guard_views(w->data, &found);
  g_list_free(windows);
  return found ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE; // until the window exists
}

void web_stay(void) { g_timeout_add(20, stay, NULL); }

// An image that is not offered as PNG is converted.
static void got_image(GtkClipboard *clipboard, GdkPixbuf *image, gpointer handle) {
  (void)clipboard;
  gchar *bytes = NULL;
  gsize size = 0;
  if (image != NULL && !gdk_pixbuf_save_to_buffer(image, &bytes, &size, "png", NULL, NULL)) size = 0;
  clipboardAnswered((uintptr_t)handle, bytes, size);
  g_free(bytes);
}

static void got_png(GtkClipboard *clipboard, GtkSelectionData *data, gpointer handle) {
  gint size = gtk_selection_data_get_length(data);
  if (size > 0) clipboardAnswered((uintptr_t)handle, (char *)gtk_selection_data_get_data(data), size);
  else gtk_clipboard_request_image(clipboard, got_image, handle);
}

static gboolean request_picture(gpointer handle) {
  GtkClipboard *clipboard = gtk_clipboard_get(GDK_SELECTION_CLIPBOARD);
  gtk_clipboard_request_contents(clipboard, gdk_atom_intern_static_string("image/png"), got_png, handle);
  return G_SOURCE_REMOVE;
}

void clipboard_picture(uintptr_t handle) { g_idle_add(request_picture, (gpointer)handle); }

// The answer is a text/uri-list; it is empty if the clipboard has none.
static void got_uris(GtkClipboard *clipboard, GtkSelectionData *data, gpointer handle) {
  (void)clipboard;
  gint size = gtk_selection_data_get_length(data); // negative: not offered
  clipboardAnswered((uintptr_t)handle, (char *)gtk_selection_data_get_data(data), size > 0 ? size : 0);
}

static gboolean request_uris(gpointer handle) {
  GtkClipboard *clipboard = gtk_clipboard_get(GDK_SELECTION_CLIPBOARD);
  gtk_clipboard_request_contents(clipboard, gdk_atom_intern_static_string("text/uri-list"), got_uris, handle);
  return G_SOURCE_REMOVE;
}

void clipboard_files(uintptr_t handle) { g_idle_add(request_uris, (gpointer)handle); }
