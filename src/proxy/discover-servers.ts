import { z } from 'zod'
import { addressText } from './address.ts'
import { get } from './http-get.ts'
import type { Trust } from './server-agents.ts'

const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'

/** Asks a server for all there are: each API server enters itself there while it serves. */
export async function learn(trust: Trust, server: string): Promise<readonly string[]> {
  const agent = trust.introduced ?? trust.anonymous
  const { status, text } = await get({ agent, server, path, within: 5000, limit: 1_000_000 })
  if (status !== 200) throw new Error(`answers ${status}`)
  return serversOf(JSON.parse(text))
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

/** More than that are no control plane, but a mistake. */
const most = 100

/** The servers in an EndpointSlice. */
export function serversOf(value: unknown): readonly string[] {
  const { endpoints, ports } = slice.parse(value)
  const numbers = (ports ?? []).flatMap(({ name, port }) => (name === 'https' && port ? [port] : []))
  const hosts = (endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses)
  const servers = hosts.flatMap((host) => numbers.map((port) => addressText(host, port)))
  return [...new Set(servers)].toSorted().slice(0, most)
}
