export default {
  read: 'Read the document',
  tokensInPart: '{count, plural, one {# token} other {# tokens}}, in part',
  partHelp: 'The message contains part of it. All of it is in memory and can be recalled.',
  longText: 'This text is long. Attach it as a document to keep the conversation readable.',
  attach: 'Attach as document',
  keepAsText: 'Keep as text',
  tokensAndType: '{count, plural, one {# token} other {# tokens}}, {type}',
  copyText: 'Copy the text',
  textOf: 'Text of {name}',
  reading: 'Reading…',
} as const;
