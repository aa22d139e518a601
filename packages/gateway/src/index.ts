export {
  DEFAULT_LIMITS,
  DEFAULT_UPSTREAMS,
  type GatewayLimits,
  type GatewayOptions,
  type GatewayStores,
  type ModelPolicy,
  type ProviderName,
} from './config/gateway-config.ts';
export { startGateway, type Gateway } from './gateway.ts';
