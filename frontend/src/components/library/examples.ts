/** Examples that a person can add to an empty library. Once added, they are entries like any other. */
import type { AssistantView, SavedPromptView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';

export function exampleAssistants(): AssistantView[] {
  const example = (name: string, instructions: string): AssistantView => ({ id: '', name, instructions, model: '', temperature: '', effort: '', toolsMode: '' });
  return [
    example(t('library.editorName'), t('library.editorText')),
    example(t('library.teacherName'), t('library.teacherText')),
    example(t('library.criticName'), t('library.criticText')),
  ];
}

export function examplePrompts(): SavedPromptView[] {
  const example = (name: string, text: string): SavedPromptView => ({ id: '', name, text: text.replaceAll('[[', '{{').replaceAll(']]', '}}'), variables: [] }); // braces are values of messages
  return [
    example(t('library.summarizeName'), t('library.summarizeText')),
    example(t('library.translateName'), t('library.translateText')),
    example(t('library.replyName'), t('library.replyText')),
  ];
}
