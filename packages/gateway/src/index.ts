// oxlint-disable-next-line import/no-unassigned-import -- it is evaluated before all others
import './node-version.ts';
export {
  DEFAULT_LIMITS,
  DEFAULT_UPSTREAMS,
  type GatewayLimits,
  type GatewayLogger,
  type GatewayOptions,
  type GatewayStores,
  type ModelPolicy,
  type ProviderName,
} from './config/gateway-config.ts';
export { startGateway, type Gateway } from './gateway.ts';
export {
  gatewaySettings,
  SettingError,
  variableOf,
  type GatewaySettings,
  type SettingSources,
} from './config/settings.ts';
export { runGateway, type RunningGateway } from './run-gateway.ts';
