"""What surrounds the window in its tests: a panel with a tray, a notification server, a window to drag from and one
to drop on. For tests only. Reports events on stdout, one JSON document per line; ends with its stdin.

    desk.py panel                       a StatusNotifierWatcher with a host
    desk.py notices                     org.freedesktop.Notifications; stdin: "click ID"
    desk.py item                        prints the only registered item: icon, tooltip and menu
    desk.py click LABEL                 clicks an item of its menu
    desk.py tap                         clicks the icon
    desk.py source X Y uris|text DATA   a small window at a position, from which DATA can be dragged
    desk.py target X Y FOLDER           one that copies the files dropped on it, like a file manager
    desk.py picture                     owns the clipboard, with a picture, until it ends
    desk.py files URI...                owns the clipboard, with these files, like a file manager, until it ends
    desk.py pasted                      prints the text in the clipboard
    desk.py red X Y WIDTH HEIGHT        prints the number of red pixels in that part of the screen
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


def say(**what):
    print(json.dumps(what), flush=True)


def heed_stdin(on_line=lambda line: None):
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
    Gio.bus_own_name_on_connection(bus, name, Gio.BusNameOwnerFlags.NONE, lambda *_: say(ready=name), lambda *_: os._exit(1))


def panel():
    items = []

    def call(conn, sender, path, interface, method, args, invocation):
        if method == "RegisterStatusNotifierItem":
            service = args[0]
            items.append(sender + service if service.startswith("/") else service + "/StatusNotifierItem")
            say(registered=items[-1])
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


def notices():
    name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
    count = 0

    def call(conn, sender, path, interface, method, args, invocation):
        nonlocal count
        if method == "Notify":
            if args[1] == 0:
                count += 1
            number = args[1] or count
            say(notice=number, title=args[3], text=args[4], actions=args[5])
            invocation.return_value(GLib.Variant("(u)", (number,)))
        else:
            invocation.return_value(GLib.Variant("(as)", (["actions", "body"],)))

    def line(words):
        bus.emit_signal(None, path, name, "ActionInvoked", GLib.Variant("(us)", (int(words[1]), "default")))

    export(name, path, f"""<node><interface name="{name}">
        <method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
        <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/><arg type="a{{sv}}" direction="in"/>
        <arg type="i" direction="in"/><arg type="u" direction="out"/></method>
        <method name="GetCapabilities"><arg type="as" direction="out"/></method>
        <signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal></interface></node>""", call)
    return line


def ask(name, path, interface, method, args=None):
    return bus.call_sync(name, path, interface, method, args, None, Gio.DBusCallFlags.NONE, 20_000, None).unpack()


def place():
    items = ask(WATCHER, "/StatusNotifierWatcher", "org.freedesktop.DBus.Properties", "Get",
                GLib.Variant("(ss)", (WATCHER, "RegisteredStatusNotifierItems")))[0]
    name, path = items[-1].split("/", 1)
    return name, "/" + path


def menu_of(name, path):
    layout = ask(name, path + "/menu", MENU, "GetLayout", GLib.Variant("(iias)", (0, -1, [])))[1]
    lines = []
    for number, properties, _ in layout[2]:
        if properties.get("type") != "separator":
            lines.append({"id": number, "label": properties.get("label", "").replace("__", "_"),
                          "enabled": properties.get("enabled", True), "checked": properties.get("toggle-state", 0) == 1})
    return lines


def item():
    name, path = place()
    get = lambda what: ask(name, path, "org.freedesktop.DBus.Properties", "Get", GLib.Variant("(ss)", (ITEM, what)))[0]
    width, height, pixels = get("IconPixmap")[0]
    say(title=get("Title"), tooltip=get("ToolTip")[2], width=width, height=height,
        icon=hashlib.sha256(bytes(pixels)).hexdigest(), blank=not any(pixels), menu=menu_of(name, path))


def click(label):
    name, path = place()
    line = next(line for line in menu_of(name, path) if line["label"] == label)
    ask(name, path + "/menu", MENU, "Event", GLib.Variant("(isvu)", (line["id"], "clicked", GLib.Variant("i", 0), 0)))


def tap():
    name, path = place()
    ask(name, path, ITEM, "Activate", GLib.Variant("(ii)", (0, 0)))


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

    def give(widget, context, selection, info, time):
        selection.set_uris(list(data)) if kind == "uris" else selection.set_text(" ".join(data), -1)

    box.connect("drag-data-get", give)
    box.connect("drag-failed", lambda widget, context, result: say(failed=int(result)) or True)
    box.connect("drag-end", lambda *_: say(ended=True))
    window.connect("map-event", lambda *_: say(ready="source"))
    window.show_all()


def target(x, y, folder):
    window, box = small_window("drop here", x, y)
    box.drag_dest_set(Gtk.DestDefaults.ALL, URIS, Gdk.DragAction.COPY)

    def take(widget, context, x, y, selection, info, time):
        for uri in selection.get_uris():
            path = GLib.filename_from_uri(uri)[0]
            say(dropped=shutil.copy(path, folder))

    box.connect("drag-motion", lambda *_: say(over=True))
    box.connect("drag-data-received", take)
    window.show_all()
    at, tries = (int(x), int(y)), [0]

    def placed():
        """GDK finds the target of a drag by its own record of the window's position. Sometimes it recorded the
        position before the window manager placed the window, so the window is moved until the record is right."""
        if window.get_window().get_position() == at:
            say(ready="target")
            return False
        tries[0] += 1
        window.move(at[0] + tries[0] % 2, at[1])
        return True

    GLib.timeout_add(30, placed)


def picture():
    image = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, False, 8, 40, 30)
    image.fill(0x3366CCFF)
    clipboard = Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD)
    clipboard.set_image(image)
    say(ready="picture")


def text(words):
    clipboard = Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD)
    clipboard.set_text(words, -1)
    say(ready="text")


def files(*uris):
    forms = {
        "text/uri-list": "".join(uri + "\r\n" for uri in uris),
        "x-special/gnome-copied-files": "\n".join(("copy",) + uris),
        "UTF8_STRING": "\n".join(GLib.filename_from_uri(uri)[0] for uri in uris),
    }
    owner = Gtk.Invisible()
    for name in forms:
        Gtk.selection_add_target(owner, Gdk.SELECTION_CLIPBOARD, Gdk.Atom.intern(name, False), 0)
    owner.connect("selection-get", lambda widget, selection, info, time: selection.set(selection.get_target(), 8, forms[selection.get_target().name()].encode()))
    if not Gtk.selection_owner_set(owner, Gdk.SELECTION_CLIPBOARD, Gdk.CURRENT_TIME):
        os._exit(1)
    say(ready="files")
    return lambda words, owner=owner: None  # keeps the owner


def pasted():
    say(text=Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).wait_for_text() or "")


def red(x, y, width, height):
    part = Gdk.pixbuf_get_from_window(Gdk.get_default_root_window(), int(x), int(y), int(width), int(height))
    data, step, row = part.get_pixels(), part.get_n_channels(), part.get_rowstride()
    count = 0
    for top in range(part.get_height()):
        for left in range(part.get_width()):
            r, g, b = data[top * row + left * step:top * row + left * step + 3]
            count += r > 150 and r - g > 60 and r - b > 60
    say(red=count)


role, rest = sys.argv[1], sys.argv[2:]
on_line = {"panel": panel, "notices": notices, "item": item, "click": click, "tap": tap, "source": source, "target": target,
           "picture": picture, "text": text, "files": files, "pasted": pasted, "red": red}[role](*rest)
if role not in ("item", "click", "tap", "pasted", "red"):
    heed_stdin(on_line or (lambda words: None))
    GLib.MainLoop().run()
