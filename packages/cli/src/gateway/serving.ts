import { existsSync, readFileSync } from 'node:fs';
import { gatewaySettings, runGateway, SettingError, type GatewaySettings } from '@bobbin/gateway';
import { EXIT, InputError, writeError, UsageError } from '../failure.ts';
import type { GatewayValues } from '../commands/serve.ts';

/** The default port of a machine's gateway. */
export const USUAL_PORT = 7077;

/** Runs a gateway until it is asked to end. */
export async function serve(values: GatewayValues): Promise<number> {
  const settings = settingsOf(values);
  const gateway = await started(() => runGateway(settings, process.env));
  writeError(`gateway at ${gateway.url}, threads in ${gateway.shown}`);
  await asked(['SIGINT', 'SIGTERM']);
  const again = asked(['SIGINT', 'SIGTERM']).then(() => process.exit(EXIT.failed));
  writeError('ending: streams under way are finished; ask again to cut them off');
  await Promise.race([gateway.close(), again]);
  return EXIT.done;
}

/** What options, the environment and a file say, with the usual port if none says another. */
export function settingsOf(values: GatewayValues): GatewaySettings {
  const { config, ...flags } = values;
  const path = config ?? process.env['BOBBIN_CONFIG'];
  const file = path === undefined ? undefined : { path, content: jsonIn(path) };
  try {
    const settings = gatewaySettings({
      flags,
      env: process.env,
      ...(file === undefined ? {} : { file }),
    });
    return { ...settings, options: { port: USUAL_PORT, ...settings.options } };
  } catch (error) {
    if (error instanceof SettingError) throw new UsageError(error.message);
    throw error;
  }
}

function jsonIn(path: string): unknown {
  if (!existsSync(path)) throw new UsageError(`there is no file ${path} to read settings from`);
  const text = readFileSync(path, 'utf8');
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new InputError(path, undefined, `is not JSON: ${(error as Error).message}`);
  }
}

/** Starts something, and says what is wrong with its settings in one line. */
export async function started<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const isSetting = error instanceof TypeError || error instanceof SettingError;
    if (isSetting) throw new UsageError(error.message);
    throw error;
  }
}

function asked(signals: readonly NodeJS.Signals[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
}
