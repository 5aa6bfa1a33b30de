import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Address and port: 10.0.0.1:6443, [fd00::1]:6443, cp1.example.org:6443. */
const endpoint = z.string().regex(/^\S+:\d{1,5}$/, 'must be an address and a port')

const configuration = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ApiserverProxyConfiguration'),
  listen: endpoint,
  /** Address of the server for /healthz and /metrics. */
  health: endpoint,
  /** Initial API servers. The proxy keeps trying them even after it has discovered others. */
  servers: z.array(endpoint).min(1).readonly(),
  /** API server on this host; absent on hosts without an API server. */
  local: endpoint.optional(),
  /** Path of the CA certificates on the host. */
  caFile: z.string(),
  credentials: z.strictObject({ certificate: z.string(), privateKey: z.string() }),
  /** Path of the file that stores the discovered API servers. */
  stateFile: z.string(),
  maxConnections: z.int().min(1).max(100_000).optional(),
})
export type ProxyConfiguration = z.infer<typeof configuration>

/** Configuration of apiserver-proxy. It is part of the plan and is read by the proxy on every node. */
export const proxyConfigurationFormat: Format<ProxyConfiguration> = {
  kind: 'ApiserverProxyConfiguration',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: configuration },
  older: [],
}

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ApiserverProxyState'),
  servers: z.array(endpoint).readonly(),
})
export type ProxyState = z.infer<typeof stateSchema>

/**
 * Discovered API servers. With this file a rebooted node finds the cluster even if all configured servers
 * were replaced.
 */
export const proxyStateFormat: Format<ProxyState> = {
  kind: 'ApiserverProxyState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
