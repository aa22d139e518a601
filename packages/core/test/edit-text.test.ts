import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callsOf, messagesOnly, resultsOf, resultText, singlePrompt } from '@bobbin/core/internal';
import { assistant, round, user, WatchedThread } from '@bobbin/testing';
import { withoutUnchangedLines } from '../src/render/edit-text.ts';

const BODY = [
  'func restore(id string) error {',
  '\tlog.Find(id)',
  '\tfile.Open()',
  '\tfile.Copy()',
];

test('of what an edit puts into a file, lines that were there before are counted, not shown', () => {
  const before = [...BODY, '\treturn nil', '}'].join('\n');
  const after = [...BODY, '\tfile.Close()', '\treturn nil', '}', '', 'func move() {', '}'].join(
    '\n',
  );
  assert.deepEqual(withoutUnchangedLines(before, after).split('\n'), [
    '[… 4 unchanged lines …]',
    '\tfile.Close()',
    '\treturn nil',
    '}',
    '',
    'func move() {',
    '}',
  ]);
});

test('few unchanged lines, and brackets that are also elsewhere, stay', () => {
  const before = 'a = first()\n}\n}\n}\nb = second()\n}\n}\n}';
  const after = 'a = first()\n}\n}\n}\nnew = third()\n}\n}\n}\nb = second()';
  assert.equal(withoutUnchangedLines(before, after), after);
  assert.equal(withoutUnchangedLines('', after), after);
});

test('the order of unchanged lines counts: what moved is shown', () => {
  const [one, two] = [BODY.join('\n'), 'alpha()\nbeta()\ngamma()'];
  assert.equal(
    withoutUnchangedLines(`${one}\n${two}`, `${two}\n${one}`),
    `[… 3 unchanged lines …]\n${one}`,
  );
});

test('a cut edit shows its new lines, and its result only says that it was done', async () => {
  const watched = await WatchedThread.open({
    budget: messagesOnly(700),
    preset: singlePrompt,
    onEvent: () => undefined,
  });
  const lines = Array.from({ length: 40 }, (_, i) => `  print(cells[${i}], widths[${i}]);`);
  const [before, after] = [lines.join('\n'), [...lines, '  print(total());'].join('\n')];
  await watched.append(user('Look.'), assistant('I looked.'), user('Print the cells.'));
  for (let i = 0; i < 3; i++)
    await watched.append(
      ...round(
        'edit',
        { file_path: `src/part_${i}.ts`, old_string: before, new_string: after },
        `The file has been updated.\n${lines.map((line, n) => `${n}→${line}`).join('\n')}`,
      ),
    );
  const { prompt } = await watched.prompt();
  const messages = prompt.messages.map(({ message }) => message);
  const call = messages.flatMap((message) => callsOf(message)).at(-1);
  const cut = JSON.stringify('[… 40 unchanged lines …]\n  print(total());');
  assert.ok(call?.args.includes(`"new_string":${cut}`), call?.args);
  const shown = messages.flatMap((message) => resultsOf(message).map(resultText)).at(-1) ?? '';
  assert.match(shown, /\nThe file has been updated\.\n…$/);
});
