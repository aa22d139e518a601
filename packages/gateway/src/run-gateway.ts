import { pino } from 'pino';
import { openStores } from './config/open-stores.ts';
import { SettingError, type Environment, type GatewaySettings } from './config/settings.ts';
import { summarizingModel } from './config/summarizing-model.ts';
import { warmUp } from './fitting/warm-up.ts';
import { startGateway, type Gateway } from './gateway.ts';
import { isLoopback } from './http/access.ts';
import type { LedgerSum } from '@bobbin/stores';

/** A gateway with the stores that it was started with. */
export interface RunningGateway extends Gateway {
  /** Where threads are kept, without a password. */
  readonly shown: string;
  /** What requests since a time came to. */
  sumSince(at: number): Promise<LedgerSum>;
}

/**
 * Opens the stores of some settings and starts a gateway over them; closing it closes them too.
 *
 * @throws SettingError or TypeError, one line, if a setting is not what it should be.
 */
export async function runGateway(
  settings: GatewaySettings,
  env: Environment,
): Promise<RunningGateway> {
  const { options, summarizer: model } = settings;
  assertGuarded(options);
  const summarizer = model === undefined ? undefined : summarizingModel(model, options, env);
  const stores = await openStores(settings, env);
  const { store, artifacts, ledger, shown } = stores;
  const logger = pino({ level: settings.logLevel }, pino.destination({ dest: 2, sync: false }));
  try {
    await warmUp();
    const gateway = await startGateway({
      ...options,
      ...(summarizer === undefined ? {} : { summarizer }),
      store,
      artifacts,
      ledger,
      logger,
    });
    return {
      url: gateway.url,
      shown,
      recorded: () => gateway.recorded(),
      async sumSince(at) {
        await gateway.recorded();
        return ledger.sum(undefined, undefined, at);
      },
      async close() {
        await gateway.close();
        await stores.close();
      },
    };
  } catch (error) {
    await stores.close();
    throw error;
  }
}

/** `startGateway` demands a token too. This names the option, and comes before a store is made. */
function assertGuarded({ host = '127.0.0.1', token }: GatewaySettings['options']): void {
  if (isLoopback(host) || (token ?? '') !== '') return;
  throw new SettingError(
    `host ${host} can be reached from other machines: give --token (or BOBBIN_TOKEN), which clients must send, or listen on 127.0.0.1`,
  );
}
