import { listedModels } from './model-server.ts';
import { endpointOf, missingKey, OFFERED, servers } from './models.ts';
import type { Settings } from '../settings.ts';

/** A model that can be chosen, and what a person should know before. */
export interface ListedModel {
  readonly name: string;
  readonly note: string;
}

/** What can be chosen: models of servers that answer, those of the settings, those of providers, and the demonstration. */
export async function modelList(
  settings: Settings,
  env: NodeJS.ProcessEnv,
): Promise<readonly ListedModel[]> {
  const found = await Promise.all(servers(settings).map((name) => ofServer(name, settings, env)));
  const own = Object.keys(settings.models).map((name) => ({ name, note: 'from your settings' }));
  const offered = OFFERED.map((name) => ({ name, note: keyNote(name, env) }));
  const demo = { name: 'scripted/demo', note: 'a script, needs no key' };
  const usable = offered.filter(({ note }) => note === '');
  const others = offered.filter(({ note }) => note !== '');
  const all = [...usable, ...found.flat(), ...own, ...others, demo];
  return all.filter(({ name }, i) => all.findIndex((each) => each.name === name) === i);
}

async function ofServer(
  provider: string,
  settings: Settings,
  env: NodeJS.ProcessEnv,
): Promise<readonly ListedModel[]> {
  try {
    const endpoint = endpointOf(provider, settings, env, provider);
    const ids = (await listedModels(endpoint)) ?? [];
    const { host } = new URL(endpoint.baseURL);
    return ids.map((id) => ({ name: `${provider}/${id}`, note: `on ${host}` }));
  } catch {
    return []; // Its key is not there.
  }
}

function keyNote(name: string, env: NodeJS.ProcessEnv): string {
  const variable = missingKey(name, env);
  return variable === undefined ? '' : `no key · set ${variable}`;
}
