import { z } from 'zod'
import { formatHostPort } from '../kit/host-port.ts'
import { httpGet, type ServerAgents } from './server-requests.ts'

const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'

/**
 * Reads the addresses of all API servers from the EndpointSlice `kubernetes`. Each API server publishes its
 * address there while it serves.
 */
export async function discoverServers(agents: ServerAgents, server: string): Promise<readonly string[]> {
  const agent = agents.authenticated ?? agents.anonymous
  const { status, text } = await httpGet({ agent, server, path, timeoutMs: 5000, maxBytes: 1_000_000 })
  if (status !== 200) throw new Error(`answers ${status}`)
  return parseEndpointSlice(JSON.parse(text))
}

const slice = z.looseObject({
  endpoints: z
    .array(
      z.looseObject({
        addresses: z.array(z.union([z.ipv4(), z.ipv6()])),
        conditions: z.looseObject({ ready: z.boolean().nullish() }).optional(),
      }),
    )
    .nullish(),
  ports: z
    .array(z.looseObject({ name: z.string().nullish(), port: z.int().min(1).max(65_535).nullish() }))
    .nullish(),
})

/**
 * Maximum number of servers. A larger EndpointSlice must be a mistake, because real control planes are
 * smaller.
 */
const maxServers = 100

/** Lists the addresses (host:port) of the ready servers in an EndpointSlice. */
export function parseEndpointSlice(value: unknown): readonly string[] {
  const { endpoints, ports } = slice.parse(value)
  const portNumbers = (ports ?? []).flatMap(({ name, port }) => (name === 'https' && port ? [port] : []))
  const hosts = (endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses)
  const servers = hosts.flatMap((host) => portNumbers.map((port) => formatHostPort(host, port)))
  return [...new Set(servers)].toSorted().slice(0, maxServers)
}

/**
 * Lists the servers that may be tried. Discovered servers are added to the configured ones and never replace
 * them.
 */
export function mergeMembers(
  configured: readonly string[],
  discovered: readonly string[],
): readonly string[] {
  return [...new Set([...configured, ...discovered])]
}

export function sameMembers(some: readonly string[], others: readonly string[]): boolean {
  return JSON.stringify([...new Set(some)].toSorted()) === JSON.stringify([...new Set(others)].toSorted())
}
