import { createHash } from 'node:crypto'
import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Machine } from '../../lab/hosts/machine.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { clientOf } from './client-certificate.ts'
import { etcdctl } from './etcdctl.ts'
import type { Operator } from './operator.ts'

/** What a cluster must never lose or change once it has it. */
export interface Known {
  /** Authorities on hosts that are not the operator's: there must never be any. */
  readonly strangers: readonly string[]
  /** The ids of etcd and of its members, when it answers. */
  readonly etcd: string | undefined
  /** The id of the cluster that is in it, when the API answers. */
  readonly cluster: string | undefined
}

export async function known(operator: Operator): Promise<Known> {
  const controlPlanes = operator.hosts.filter(({ name }) => name.startsWith('cp'))
  return {
    strangers: await strangers(operator),
    etcd: await firstOf(controlPlanes, etcdIds),
    cluster: await clusterId(operator, controlPlanes),
  }
}

/** What was known before and is another thing now. */
export function changed(before: Known, after: Known): string[] {
  const lost = (['etcd', 'cluster'] as const).flatMap((name) =>
    before[name] === undefined || before[name] === after[name]
      ? []
      : [`${name} was ${before[name]} and is ${after[name]}`],
  )
  return [...lost, ...after.strangers.map((file) => `not an authority of ours: ${file}`)]
}

async function strangers({ hosts, identity }: Operator): Promise<string[]> {
  const { kubernetes, etcd, frontProxy } = (await identity()).authorities
  const ours = new Set(
    [kubernetes, etcd, frontProxy].map(({ certificate }) =>
      createHash('sha256').update(certificate).digest('hex'),
    ),
  )
  const found = await settleAll(
    hosts.map(async (host) => {
      const { stdout } = await host.script('find /etc/hyperkube -name "*ca.crt" -exec sha256sum {} + || true')
      return stdout
        .split('\n')
        .filter((line) => line !== '' && !ours.has(line.split(' ')[0] ?? ''))
        .map((line) => `${host.name} ${line}`)
    }),
  )
  return found.flat()
}

/** As numbers of 64 bits, which stay text. */
async function etcdIds(host: Machine): Promise<string | undefined> {
  const { code, stdout } = await host.script(`${etcdctl} member list --write-out=fields`, {
    allowFailure: true,
  })
  if (code !== 0) return undefined
  const ids = stdout.split('\n').filter((line) => /^"(ClusterID|ID|PeerURL)" :/.test(line))
  return ids.map((line) => line.replace(/.* : /, '').replaceAll('"', '')).join(' ')
}

const namespace = z.object({ metadata: z.object({ uid: z.string() }) })

async function clusterId(operator: Operator, controlPlanes: readonly Machine[]): Promise<string | undefined> {
  const admin = await clientOf(await operator.identity(), 'kubernetes', 'test', ['system:masters'])
  return firstOf(controlPlanes, async ({ address }) => {
    const api = new KubeApi(`https://${address}:6443`, admin)
    try {
      return namespace.parse(await api.get('/api/v1/namespaces/kube-system')).metadata.uid
    } catch {
      return undefined
    } finally {
      api.close()
    }
  })
}

async function firstOf(
  hosts: readonly Machine[],
  look: (host: Machine) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const host of hosts) {
    const seen = await look(host)
    if (seen !== undefined) return seen
  }
  return undefined
}
