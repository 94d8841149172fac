#!/bin/sh
# Removes what install.sh put into ~/.local, or the directory in $PREFIX. Your conversations stay in
# ~/.local/share/contextinfinity.
set -eu
prefix="${PREFIX:-$HOME/.local}"
kept="$prefix/lib/contextinfinity"

# Updates the caches of menus, file types and icons, if they exist.
refresh() {
  if command -v update-desktop-database >/dev/null 2>&1; then update-desktop-database -q "$prefix/share/applications" || true; fi
  if command -v update-mime-database >/dev/null 2>&1 && [ -d "$prefix/share/mime" ]; then
    mkdir -p "$prefix/share/mime/packages" # without it the caches are not rebuilt
    update-mime-database "$prefix/share/mime" || true
    rmdir "$prefix/share/mime/packages" 2>/dev/null || true
  fi
  if command -v gtk-update-icon-cache >/dev/null 2>&1 && [ -e "$prefix/share/icons/hicolor/icon-theme.cache" ]; then
    gtk-update-icon-cache -q "$prefix/share/icons/hicolor" || true
  fi
}
if [ "${1:-}" = --refresh ]; then refresh; exit; fi

[ -e "$kept/files" ] || { echo "There is no ContextInfinity in $prefix that install.sh put there." >&2; exit 1; }
while read -r file; do
  rm -f "$prefix/$file"
  # Its folders too, from the innermost, if they are empty.
  (cd "$prefix" && rmdir -p "$(dirname "$file")" 2>/dev/null) || true
done <"$kept/files"
rm -f "$kept/files" "$kept/uninstall.sh"
rmdir "$kept" "$prefix/lib" 2>/dev/null || true
if [ "${1:-}" != --quiet ]; then
  refresh
  echo "ContextInfinity is removed. Your conversations are where they were."
fi
