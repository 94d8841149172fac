#!/usr/bin/env bash
set -euo pipefail

readonly target=${1:?where to}

# Says what happens, and when.
log() {
  printf '%s %s\n' "$(date -Is)" "$*"
}

function copy {
  local from=$1
  for file in "$from"/*; do
    case $file in
      *.tmp) log "left out $file" ;;
      *) cp -- "$file" "$target/" && log "copied $file" ;;
    esac
  done
}

prune() {
  find "$target" -mtime +30 -type f -print -delete
}

copy /var/lib/app
copy /etc/app
prune
log done
