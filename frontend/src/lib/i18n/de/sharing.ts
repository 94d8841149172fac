import type en from '../en/sharing';
import type { Translation } from '../i18n.svelte';

export default {
  title: '„{title}“ weitergeben',
  untitled: 'Neue Sitzung',
  menu: 'Weitergeben…',
  pageMore: 'Für alle: eine Datei, die sich in jedem Browser öffnet. Sie führt kein Skript aus und lädt nichts nach.',
  bundleMore: 'Für jemanden mit ContextInfinity: zum Importieren und Fortsetzen.',
  empty: 'Sie hat noch keine abgeschlossene Runde; es gibt nichts weiterzugeben.',
  branch: 'Der Zweig „{branch}“, {turns, plural, one {# Runde} other {# Runden}}.',
  openBranch: 'Der offene Zweig, {turns, plural, one {# Runde} other {# Runden}}.',
  open: '{count, plural, one {# Runde ohne fertige Antwort wird ausgelassen.} other {# Runden ohne fertige Antwort werden ausgelassen.}}',
  contains: 'Enthält',
  inPage: 'Nachrichten und Antworten, Überlegungen, Werkzeugaufrufe mit Argumenten und Ergebnissen, Bilder und die Namen angehängter Dokumente.',
  inBundle: 'Alles, was die Sitzung hat: alle Zweige, Werkzeugaufrufe und Ergebnisse, angehängte Dokumente, Bilder, die gesendeten Anfragen, Zusammenfassungen und angeheftete Tatsachen.',
  leftOut: 'Nicht enthalten',
  notInPage: 'Andere Zweige, der Text angehängter Dokumente, Einstellungen und API-Schlüssel des Programms.',
  notInBundle: 'Andere Sitzungen, Einstellungen und API-Schlüssel des Programms.',
  check: 'Vorher prüfen',
  asItIs: 'Alles steht so da, wie es geschrieben wurde: Passwörter oder Namen in Nachrichten und Ergebnissen werden nicht entfernt, auch keine Antworten und Ergebnisse, die andere Sitzungen zitieren.',
  quoting: '{count, plural, one {# Anfrage, die andere Sitzungen oder Dateien eines Projekts zitiert.} other {# Anfragen, die andere Sitzungen oder Dateien eines Projekts zitieren.}}',
  withQuotes: '{count, plural, one {Die Anfrage aufnehmen, die andere Sitzungen oder Dateien eines Projekts zitiert} other {Die # Anfragen aufnehmen, die andere Sitzungen oder Dateien eines Projekts zitieren}}',
  typePath: 'Stattdessen einen Pfad eingeben…',
  save: 'Speichern…',
} satisfies Translation<typeof en>;
