import { z } from 'zod'
import type { Format } from './versioned.ts'

/** Where something listens: 10.0.0.1:6443, [fd00::1]:6443, cp1.example.org:6443. */
const endpoint = z.string().regex(/^\S+:\d{1,5}$/, 'must be an address and a port')

const configuration = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ApiserverProxyConfiguration'),
  listen: endpoint,
  /** Where it says how it is: /healthz and /metrics. */
  health: endpoint,
  /** The servers that it begins with; they stay candidates whatever it learns. */
  servers: z.array(endpoint).min(1).readonly(),
  /** The one on this host, if there is one. */
  local: endpoint.optional(),
  /** Paths on the host. */
  authority: z.string(),
  credentials: z.strictObject({ certificate: z.string(), privateKey: z.string() }),
  /** Where it keeps the servers that it has learned of. */
  memory: z.string(),
  maxConnections: z.int().min(1).max(100_000).optional(),
})
export type ProxyConfiguration = z.infer<typeof configuration>

/** What apiserver-proxy shall do: written by the plan, read by the program on every node. */
export const proxyConfigurationFormat: Format<ProxyConfiguration> = {
  kind: 'ApiserverProxyConfiguration',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: configuration },
  older: [],
}

const memory = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('ApiserverProxyMemory'),
  servers: z.array(endpoint).readonly(),
})
export type ProxyMemory = z.infer<typeof memory>

/** The servers it has learned of: a node that reboots while the configured ones are gone still finds the cluster. */
export const proxyMemoryFormat: Format<ProxyMemory> = {
  kind: 'ApiserverProxyMemory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: memory },
  older: [],
}
