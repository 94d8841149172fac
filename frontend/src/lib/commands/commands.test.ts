import { describe, expect, it } from 'vitest';
import { commands, findState, parse, suggest, unescaped } from './commands';

describe('the meaning of a text', () => {
  it.each([
    ['Hello', 'text'], ['/usr/bin is full', 'text'], [' /pin x', 'text'], ['/', 'text'], ['/ pin', 'text'], ['/12', 'text'], ['//pin x', 'text'], ['// a comment', 'text'],
    ['/commit', 'command'], ['/COMMIT ', 'command'], ['/fork', 'command'], ['/pin', 'incomplete'], ['/model  ', 'incomplete'], ['/nope', 'unknown'], ['/exprt x', 'unknown'], ['/export', 'command'], ['/export all', 'command'],
  ])('%s is %s', (text, kind) => expect(parse(text).kind).toBe(kind));

  it('keeps the text after the name, over several lines', () => {
    expect(parse('/pin Never on\na Friday. ')).toMatchObject({ kind: 'command', argument: 'Never on\na Friday.' });
    expect(parse('/fork second try')).toMatchObject({ argument: 'second try' });
  });

  it.each([['//pin x', '/pin x'], ['// a comment', '// a comment'], ['/pin', '/pin'], ['///x', '///x'], ['a //b', 'a //b']])('%s is sent as %s', (text, sent) => expect(unescaped(text)).toBe(sent));
});

describe('the list', () => {
  const models = [{ name: 'sonnet', detail: '' }, { name: 'local', detail: '' }];
  it('narrows while typing, and closes when an argument follows', () => {
    expect(suggest('/', models)).toHaveLength(commands.length);
    expect(suggest('/co', models).map((line) => line.label)).toEqual(['/commit', '/compare [branch]', '/context']);
    for (const typed of ['', 'x', '/pin ', '/zz', '//', '/co\n', 'a /co']) expect(suggest(typed, models)).toEqual([]);
  });

  it('names the models', () => {
    expect(suggest('/model ', models).map((line) => line.text)).toEqual(['/model sonnet', '/model local']);
    expect(suggest('/model LO', models)).toMatchObject([{ text: '/model local', complete: true }]);
  });

  it('shows the missing argument', () => expect(suggest('/fo', models)).toMatchObject([{ text: '/fork ', complete: false }]));
});

it('finds the named state', () => {
  const history = [{ turnSeq: 148, shortId: '9K4T' }, { turnSeq: 146, shortId: '0146' }];
  expect(['#148', '146', '9k4t', '#9K4T', '12', ''].map((argument) => findState(history, argument)?.turnSeq)).toEqual([148, 146, 148, 148, undefined, undefined]);
});
