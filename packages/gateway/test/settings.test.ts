import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gatewaySettings, runGateway, type SettingSources } from '@bobbin/gateway';

const LEVELS = 'trace, debug, info, warn, error, fatal, silent';
const WINDOW = 'must be a number of at least 500, not 100';

const MISTAKES: readonly (readonly [name: string, value: string, problem: RegExp])[] = [
  ['log-level', 'loud', new RegExp(`^SOURCE must be one of ${LEVELS}, not "loud"$`)],
  ['preset', 'laddr', /^SOURCE must be one of ladder, .*, not "laddr" \(did you mean ladder\?\)$/],
  ['thrift', 'no', /^SOURCE must be one of gentle, .*, not "no"$/],
  ['window', '100', new RegExp(`^SOURCE ${WINDOW}$`)],
  ['soft-share', '3', /^SOURCE must be a number above 0 and at most 1, not 3$/],
];

/** The three places that can give a setting, and how a message names each. */
function sourcesOf(name: string, value: string): readonly (readonly [string, SettingSources])[] {
  const variable = `BOBBIN_${name.replaceAll('-', '_').toUpperCase()}`;
  const file = { path: 'gateway.json', content: { [name]: value } };
  return [
    [`--${name}`, { flags: { [name]: value }, env: {} }],
    [variable, { flags: {}, env: { [variable]: value } }],
    [`gateway.json: ${name}`, { flags: {}, env: {}, file }],
  ];
}

for (const [name, value, problem] of MISTAKES)
  test(`${name} ${value} is refused in one line that names where it was given`, () => {
    for (const [source, sources] of sourcesOf(name, value))
      assert.throws(() => gatewaySettings(sources), {
        name: 'SettingError',
        message: new RegExp(problem.source.replace('SOURCE', source)),
      });
  });

test('a limit at the top level of the file is refused with the place where it belongs', () => {
  const file = { path: 'gateway.json', content: { ownWorkMs: 100 } };
  assert.throws(() => gatewaySettings({ flags: {}, env: {}, file }), {
    message: 'gateway.json: there is no setting "ownWorkMs"; put it into "limits"',
  });
});

test('without the token that an open address needs, no store is made', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'bobbin-settings-'));
  t.after(() => rmSync(home, { recursive: true }));
  const store = join(home, 'store');
  const settings = gatewaySettings({ flags: { host: '0.0.0.0', store }, env: {} });
  await assert.rejects(runGateway(settings, {}), {
    name: 'SettingError',
    message:
      /^host 0\.0\.0\.0 can be reached from other machines: give --token \(or BOBBIN_TOKEN\)/,
  });
  assert.equal(existsSync(store), false);
});
