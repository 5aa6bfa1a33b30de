import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Address and port: 10.0.0.1:6443, [fd00::1]:6443, cp1.example.org:6443. */
const endpoint = z.string().regex(/^\S+:\d{1,5}$/, 'must be an address and a port')

const configuration = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ApiserverProxyConfiguration'),
  listen: endpoint,
  /** Serves /healthz and /metrics. */
  health: endpoint,
  /** Initial servers; they stay candidates even after others are discovered. */
  servers: z.array(endpoint).min(1).readonly(),
  /** The server on this host, if there is one. */
  local: endpoint.optional(),
  /** Paths on the host. */
  caFile: z.string(),
  credentials: z.strictObject({ certificate: z.string(), privateKey: z.string() }),
  /** File with the discovered servers. */
  stateFile: z.string(),
  maxConnections: z.int().min(1).max(100_000).optional(),
})
export type ProxyConfiguration = z.infer<typeof configuration>

/** Configuration of apiserver-proxy: written by the plan, read by the program on every node. */
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

/** Discovered servers. A node that reboots while the configured servers are gone still finds the cluster. */
export const proxyStateFormat: Format<ProxyState> = {
  kind: 'ApiserverProxyState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
