import type en from '../en/session';
import type { Translation } from '../i18n.svelte';

export default {
  settingsOf: 'Einstellungen von „{title}“',
  settingsOfThis: 'Einstellungen dieser Sitzung',
  saved: 'Gespeichert: gilt ab der nächsten Anfrage',
  systemPrompt: 'Anweisungen',
  systemPromptHelp: 'Steht in jeder Anfrage dieser Sitzung am Anfang. Leer lassen für die Standardanweisungen.',
  systemPromptPlaceholder: 'Die Standardanweisungen',
  imported: 'Anweisungen, die mit dem Import kamen',
  importedHelp: 'Sie werden aufbewahrt und nicht gesendet, denn sie stammen vom Verfasser der importierten Datei. Lesen Sie sie zuerst: Als Anweisungen der Sitzung stehen sie in jeder Anfrage am Anfang.',
  importedCut: 'Dies ist nur ihr Anfang. Sie sind zu lang, um gesendet zu werden.',
  useImported: 'Diese Anweisungen verwenden',
  temperatureHelp: '0 ist am gleichmäßigsten, 2 am abwechslungsreichsten. Leer lassen für den Standard des Modells.',
  temperatureFault: 'Eine Zahl von 0 bis 2 oder nichts',
  effortHelp: 'Wie lange ein Modell nachdenken darf, das dies kann. Andere Modelle beachten es nicht.',
  toolsHelp: 'Was geschieht, wenn das Modell ein Werkzeug aufrufen will.',
  modelDefault: 'Standard des Modells',
  effortMinimal: 'Minimal',
  effortLow: 'Niedrig',
} satisfies Translation<typeof en>;
