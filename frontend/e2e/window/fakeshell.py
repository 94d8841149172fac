"""A fake desktop shell for the tests of the window: a panel with a tray, a notification server, owners of the clipboard,
a window to drag from and one to drop on. For tests only. Reports events on stdout, one JSON document per line. The roles
that keep running end when their stdin is closed.

    fakeshell.py panel                       a StatusNotifierWatcher with a host
    fakeshell.py notifications               org.freedesktop.Notifications; stdin: "click ID"
    fakeshell.py item                        prints the last registered item: icon, tooltip and menu
    fakeshell.py click LABEL                 clicks an item of its menu
    fakeshell.py activate                    clicks the icon
    fakeshell.py source X Y uris|text DATA   a small window at a position, from which DATA can be dragged
    fakeshell.py target X Y FOLDER           a small window that copies files dropped on it, like a file manager
    fakeshell.py picture                     owns the clipboard, with a picture, until it ends
    fakeshell.py text WORDS                  owns the clipboard, with this text, until it ends
    fakeshell.py files URI...                owns the clipboard, with these files, like a file manager, until it ends
    fakeshell.py clipboard                   prints the text in the clipboard
    fakeshell.py red X Y WIDTH HEIGHT        prints the number of red pixels in that part of the screen
"""
import hashlib
import json
import os
import shutil
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GdkPixbuf, Gio, GLib, Gtk  # noqa: E402

WATCHER, ITEM, MENU = "org.kde.StatusNotifierWatcher", "org.kde.StatusNotifierItem", "com.canonical.dbusmenu"
bus = Gio.bus_get_sync(Gio.BusType.SESSION)


def report(**event):
    print(json.dumps(event), flush=True)


def watch_stdin(on_line=lambda line: None):
    def ready(source, condition):
        line = sys.stdin.readline()
        if line == "":
            os._exit(0)
        on_line(line.split())
        return True

    GLib.io_add_watch(GLib.IOChannel.unix_new(0), GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, ready)


def export(name, path, xml, call, get=None):
    interface = Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0]
    bus.register_object(path, interface, call, get, None)
    Gio.bus_own_name_on_connection(bus, name, Gio.BusNameOwnerFlags.NONE, lambda *_: report(ready=name), lambda *_: os._exit(1))


def panel():
    items = []

    def call(conn, sender, path, interface, method, args, invocation):
        if method == "RegisterStatusNotifierItem":
            service = args[0]
            items.append(sender + service if service.startswith("/") else service + "/StatusNotifierItem")
            report(registered=items[-1])
        invocation.return_value(None)

    def get(conn, sender, path, interface, name):
        if name == "RegisteredStatusNotifierItems":
            return GLib.Variant("as", items)
        return GLib.Variant("b", True) if name == "IsStatusNotifierHostRegistered" else GLib.Variant("i", 0)

    export(WATCHER, "/StatusNotifierWatcher", f"""<node><interface name="{WATCHER}">
        <method name="RegisterStatusNotifierItem"><arg type="s" direction="in"/></method>
        <method name="RegisterStatusNotifierHost"><arg type="s" direction="in"/></method>
        <property name="RegisteredStatusNotifierItems" type="as" access="read"/>
        <property name="IsStatusNotifierHostRegistered" type="b" access="read"/>
        <property name="ProtocolVersion" type="i" access="read"/>
        <signal name="StatusNotifierHostRegistered"/></interface></node>""", call, get)


def notifications():
    name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
    count = 0

    def call(conn, sender, path, interface, method, args, invocation):
        nonlocal count
        if method == "Notify":
            if args[1] == 0:
                count += 1
            number = args[1] or count
            report(notification=number, title=args[3], text=args[4], actions=args[5])
            invocation.return_value(GLib.Variant("(u)", (number,)))
        else:
            invocation.return_value(GLib.Variant("(as)", (["actions", "body"],)))

    def on_line(words):
        bus.emit_signal(None, path, name, "ActionInvoked", GLib.Variant("(us)", (int(words[1]), "default")))

    export(name, path, f"""<node><interface name="{name}">
        <method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
        <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/><arg type="a{{sv}}" direction="in"/>
        <arg type="i" direction="in"/><arg type="u" direction="out"/></method>
        <method name="GetCapabilities"><arg type="as" direction="out"/></method>
        <signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal></interface></node>""", call)
    return on_line


def call_method(name, path, interface, method, args=None):
    return bus.call_sync(name, path, interface, method, args, None, Gio.DBusCallFlags.NONE, 20_000, None).unpack()


def item_address():
    items = call_method(WATCHER, "/StatusNotifierWatcher", "org.freedesktop.DBus.Properties", "Get",
                        GLib.Variant("(ss)", (WATCHER, "RegisteredStatusNotifierItems")))[0]
    name, path = items[-1].split("/", 1)
    return name, "/" + path


def menu_of(name, path):
    layout = call_method(name, path + "/menu", MENU, "GetLayout", GLib.Variant("(iias)", (0, -1, [])))[1]
    lines = []
    for number, properties, _ in layout[2]:
        if properties.get("type") != "separator":
            lines.append({"id": number, "label": properties.get("label", "").replace("__", "_"),
                          "enabled": properties.get("enabled", True), "checked": properties.get("toggle-state", 0) == 1})
    return lines


def item():
    name, path = item_address()
    get = lambda prop: call_method(name, path, "org.freedesktop.DBus.Properties", "Get", GLib.Variant("(ss)", (ITEM, prop)))[0]
    width, height, pixels = get("IconPixmap")[0]
    report(title=get("Title"), tooltip=get("ToolTip")[2], width=width, height=height,
           icon=hashlib.sha256(bytes(pixels)).hexdigest(), blank=not any(pixels), menu=menu_of(name, path))


def click(label):
    name, path = item_address()
    line = next(line for line in menu_of(name, path) if line["label"] == label)
    call_method(name, path + "/menu", MENU, "Event", GLib.Variant("(isvu)", (line["id"], "clicked", GLib.Variant("i", 0), 0)))


def activate():
    name, path = item_address()
    call_method(name, path, ITEM, "Activate", GLib.Variant("(ii)", (0, 0)))


def small_window(title, x, y):
    window = Gtk.Window(title=title, type=Gtk.WindowType.TOPLEVEL, decorated=False)
    window.set_default_size(120, 80)
    window.set_keep_above(True)
    window.move(int(x), int(y))
    box = Gtk.EventBox()
    box.add(Gtk.Label(label=title))
    window.add(box)
    return window, box


URIS, TEXT = [Gtk.TargetEntry.new("text/uri-list", 0, 0)], [Gtk.TargetEntry.new("text/plain", 0, 1), Gtk.TargetEntry.new("UTF8_STRING", 0, 1)]


def source(x, y, kind, *data):
    window, box = small_window("drag me", x, y)
    box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, URIS if kind == "uris" else TEXT, Gdk.DragAction.COPY)

    def send_data(widget, context, selection, info, time):
        selection.set_uris(list(data)) if kind == "uris" else selection.set_text(" ".join(data), -1)

    box.connect("drag-data-get", send_data)
    box.connect("drag-failed", lambda widget, context, result: report(failed=int(result)) or True)
    box.connect("drag-end", lambda *_: report(ended=True))
    window.connect("map-event", lambda *_: report(ready="source"))
    window.show_all()


def target(x, y, folder):
    window, box = small_window("drop here", x, y)
    box.drag_dest_set(Gtk.DestDefaults.ALL, URIS, Gdk.DragAction.COPY)

    def receive_files(widget, context, x, y, selection, info, time):
        for uri in selection.get_uris():
            path = GLib.filename_from_uri(uri)[0]
            report(dropped=shutil.copy(path, folder))

    box.connect("drag-motion", lambda *_: report(over=True))
    box.connect("drag-data-received", receive_files)
    window.show_all()
    position, tries = (int(x), int(y)), 0

    def check_position():
        """GDK finds the target of a drag by the window position that it recorded. Sometimes it recorded the position
        before the window manager placed the window, so this moves the window until the recorded position is right."""
        nonlocal tries
        if window.get_window().get_position() == position:
            report(ready="target")
            return False
        tries += 1
        window.move(position[0] + tries % 2, position[1])
        return True

    GLib.timeout_add(30, check_position)


def picture():
    image = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, 40, 30)
    image.fill(0x3366CCFF)
    Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).set_image(image)
    report(ready="picture")


def text(words):
    Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).set_text(words, -1)
    report(ready="text")


def files(*uris):
    formats = {
        "text/uri-list": "".join(uri + "\r\n" for uri in uris),
        "x-special/gnome-copied-files": "\n".join(("copy",) + uris),
        "UTF8_STRING": "\n".join(GLib.filename_from_uri(uri)[0] for uri in uris),
    }
    owner = Gtk.Invisible()
    for name in formats:
        Gtk.selection_add_target(owner, Gdk.SELECTION_CLIPBOARD, Gdk.Atom.intern(name, False), 0)
    owner.connect("selection-get", lambda widget, selection, info, time: selection.set(selection.get_target(), 8, formats[selection.get_target().name()].encode()))
    if not Gtk.selection_owner_set(owner, Gdk.SELECTION_CLIPBOARD, Gdk.CURRENT_TIME):
        os._exit(1)
    report(ready="files")
    return lambda words, owner=owner: None  # keeps the owner alive


def clipboard():
    report(text=Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).wait_for_text() or "")


def red(x, y, width, height):
    part = Gdk.pixbuf_get_from_window(Gdk.get_default_root_window(), int(x), int(y), int(width), int(height))
    data, step, row = part.get_pixels(), part.get_n_channels(), part.get_rowstride()
    count = 0
    for top in range(part.get_height()):
        for left in range(part.get_width()):
            r, g, b = data[top * row + left * step:top * row + left * step + 3]
            count += r > 150 and r - g > 60 and r - b > 60
    report(red=count)


role, args = sys.argv[1], sys.argv[2:]
on_line = {"panel": panel, "notifications": notifications, "item": item, "click": click, "activate": activate,
           "source": source, "target": target, "picture": picture, "text": text, "files": files,
           "clipboard": clipboard, "red": red}[role](*args)
if role not in ("item", "click", "activate", "clipboard", "red"):
    watch_stdin(on_line or (lambda words: None))
    GLib.MainLoop().run()
