import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gatewaySettings, runGateway, variableOf } from '@bobbin/gateway';
import { providerServer } from '@bobbin/testing';
import { parse } from 'yaml';
import { bobbin } from '../packages/cli/test/run.ts';
import { startS3 } from '../packages/stores/test/s3-server.ts';

interface Service {
  readonly command?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: readonly string[] | Readonly<Record<string, object>>;
  readonly volumes?: readonly string[];
  readonly configs?: readonly { readonly source: string }[];
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
}

function composeFile(): ComposeFile {
  const path = new URL('../examples/gateway-compose.yaml', import.meta.url);
  return parse(readFileSync(path, 'utf8'), { merge: true }) as ComposeFile;
}

function gatewaysOf({ services }: ComposeFile): readonly (readonly [string, Service])[] {
  return Object.entries(services).filter(([, { command = '' }]) => command.includes('bobbin'));
}

test('the compose file starts gateways with settings that the command knows', async () => {
  const { stdout } = await bobbin(['serve', '--help']);
  const options = [...stdout.matchAll(/^ {2}--([a-z-]+) /gm)].map(([, name = '']) => name);
  const known = new Set(options.map(variableOf));
  const gateways = gatewaysOf(composeFile());
  assert.equal(gateways.length, 3);
  for (const [name, { command = '', environment = {} }] of gateways) {
    const [given, ...flags] = command.split(' ').slice(command.split(' ').indexOf('bobbin') + 1);
    assert.equal(given, 'serve', name);
    for (const flag of flags.filter((each) => each.startsWith('--')))
      assert.ok(options.includes(flag.slice(2)), `${name}: there is no option ${flag}`);
    const own = Object.keys(environment).filter((variable) => variable.startsWith('BOBBIN_'));
    for (const variable of own)
      assert.ok(known.has(variable), `${name}: there is no setting ${variable}`);
    const env = { ...environment, BOBBIN_TOKEN: 'secret' };
    const { options: settings, store, artifacts } = gatewaySettings({ flags: {}, env });
    assert.deepEqual(
      [settings.host, settings.token, store, artifacts],
      ['0.0.0.0', 'secret', 'postgres://bobbin:bobbin@postgres/bobbin', 's3://bobbin'],
    );
  }
});

test('what the compose file names is there', () => {
  const file = composeFile();
  const { services, volumes } = file;
  for (const [name, { depends_on: needed = [], volumes: mounted = [] }] of Object.entries(
    services,
  )) {
    for (const other of Array.isArray(needed) ? (needed as readonly string[]) : Object.keys(needed))
      assert.ok(other in services, `${name} depends on ${other}`);
    for (const volume of mounted) assert.ok((volume.split(':')[0] ?? '') in volumes, volume);
  }
  const source = services['balancer']?.configs?.[0]?.source ?? '';
  const content = file.configs[source]?.content ?? '';
  const balanced = [...content.matchAll(/ ([\w-]+):7077/g)];
  assert.deepEqual(
    balanced.map(([, name]) => name),
    gatewaysOf(file).map(([name]) => name),
  );
  assert.match(content, /^ +health_uri \/healthz$/m);
});

const LINES = Array.from({ length: 600 }, (_, i) => `pump ${i} opens at ${i / 100} bar`);

/** A conversation in which a tool has returned more than the window holds. */
function history(): readonly object[] {
  const call = { id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } };
  return [
    { role: 'user', content: 'Read the list of the pumps.' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: LINES.join('\n') },
    { role: 'assistant', content: 'I have read it.' },
    { role: 'user', content: 'How many pumps are there?' },
  ];
}

test('C15 what a gateway moves out of a prompt is in S3, and is read back from there', async (t) => {
  const s3 = await startS3();
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-deployment-'));
  const provider = await providerServer('openai-chat', { kind: 'answer', text: '600.' });
  const env = {
    AWS_ENDPOINT_URL_S3: s3.options.endpoint,
    AWS_ACCESS_KEY_ID: s3.options.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.options.secretAccessKey,
  };
  const flags = {
    port: '0',
    openai: provider.origin,
    store: folder,
    artifacts: `s3://${s3.options.bucket}`,
    window: '6000',
    'own-work-ms': '60000',
    'log-level': 'silent',
  };
  const gateway = await runGateway(gatewaySettings({ flags, env }), env);
  t.after(async () => {
    await gateway.close();
    await provider.close();
    await s3.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const objects = (): readonly string[] =>
    readdirSync(s3.folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('_object'),
    );
  assert.deepEqual(objects(), []);
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer 1', 'x-bobbin-thread': 'pumps' },
    body: JSON.stringify({ model: 'gpt-5', messages: history() }),
  });
  await response.text();
  assert.equal(response.headers.get('x-bobbin-action'), 'compacted');
  assert.ok(objects().length > 0);
  const api = `${gateway.url}/bobbin/v1/tenants`;
  const [tenant = ''] = (await (await fetch(api)).json()) as string[];
  const plan = await (await fetch(`${api}/${tenant}/threads/pumps/plans/current`)).text();
  const id = /"artifactId":"([^"]+)"/.exec(plan)?.[1] ?? plan;
  const artifact = await fetch(`${api}/${tenant}/artifacts/${id}`);
  assert.equal(await artifact.text(), LINES.join('\n'));
});
