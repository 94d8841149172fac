import type en from '../en/markdown';
import type { Translation } from '../i18n.svelte';

export default {
  cannotDraw: 'Dies kann nicht gezeichnet werden: {error}',
  preview: 'Vorschau',
  code: 'Code',
  showCode: 'Den Code zeigen',
  pageFrame: 'Vorschau der Seite',
  drawnSafe: 'Gezeichnet ohne Skripte, fremde Bilder oder Verbindungen.',
  pictureFrame: 'Vorschau des Bildes',
  diagramFrame: 'Vorschau des Diagramms',
  noSvg: 'es enthält kein SVG.',
  tooLong: 'das Diagramm ist zu lang.',
  jumpTo: 'Zu dieser Runde springen',
  remotePicture: 'Fremde Bilder werden nicht geladen. Öffnet {address} im Browser',
  done: 'Erledigt',
  toDo: 'Zu erledigen',
  text: 'Text',
  wrap: 'Umbrechen',
  wrapLines: 'Lange Zeilen umbrechen',
  saveCode: 'Code als Datei speichern',
  showLines: 'Alle {count} Zeilen anzeigen',
  backToNote: 'Zurück zum Verweis auf Fußnote {note}',
  footnote: 'Fußnote {note}',
  table: 'Tabelle',
  copyTable: 'Die Tabelle als {form} kopieren',
} satisfies Translation<typeof en>;
