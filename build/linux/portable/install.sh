#!/bin/sh
# Installs ContextInfinity into your own menu: into ~/.local, or the directory in $PREFIX. No special permissions are
# needed, and nothing else is changed. The program also runs from this folder: bin/contextinfinity
set -eu
cd "$(dirname "$0")"
prefix="${PREFIX:-$HOME/.local}"
kept="$prefix/lib/contextinfinity"

if command -v ldd >/dev/null 2>&1; then
  missing="$(ldd bin/contextinfinity | sed -n 's/^[[:space:]]*\(.*\) => not found.*/\1/p')"
  if [ -n "$missing" ]; then
    echo "These libraries are missing, so the window could not open:" $missing >&2
    echo "  Debian, Ubuntu:  sudo apt install libgtk-3-0 libwebkit2gtk-4.1-0" >&2
    echo "  Fedora:          sudo dnf install gtk3 webkit2gtk4.1" >&2
    echo "  Arch:            sudo pacman -S gtk3 webkit2gtk-4.1" >&2
    exit 1
  fi
fi

mkdir -p "$kept"
if [ -e "$kept/files" ]; then sh "$kept/uninstall.sh" --quiet; mkdir -p "$kept"; fi # files that only an older version had
find bin share -type f | while read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  echo "$file" >>"$kept/files" # recorded first, so that an interrupted installation can be removed
  cp "$file" "$prefix/$file"
done
chmod 755 "$prefix/bin/contextinfinity"
# Some desktops do not search ~/.local/bin for menu entries, so the entry has the program's absolute path.
entry="$prefix/share/applications/contextinfinity.desktop"
quoted="$(printf '%s' "$prefix/bin/contextinfinity" | sed 's/[\\&|]/\\&/g')"
sed -i "s|^Exec=contextinfinity|Exec=\"$quoted\"|" "$entry"
cp uninstall.sh "$kept/uninstall.sh"

sh "$kept/uninstall.sh" --refresh
echo "ContextInfinity is in your menu. To remove it: sh $kept/uninstall.sh"
case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "For the command line, put $prefix/bin on your PATH." ;; esac
