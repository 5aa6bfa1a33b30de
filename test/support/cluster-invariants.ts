import { createHash } from 'node:crypto'
import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Machine } from '../../lab/hosts/machine.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { issueClientCertificate } from './client-certificate.ts'
import { etcdctl } from './etcdctl.ts'
import type { Operator } from './operator.ts'

/** Data of a cluster that must never change. */
export interface ClusterInvariants {
  /** CA files on hosts that differ from the operator's identity. The list must be empty. */
  readonly foreignCas: readonly string[]
  /** Ids of the etcd cluster and its members; undefined if etcd does not respond. */
  readonly etcd: string | undefined
  /** Id of the cluster; undefined if the API does not respond. */
  readonly cluster: string | undefined
}

export async function readInvariants(operator: Operator): Promise<ClusterInvariants> {
  const controlPlanes = operator.hosts.filter(({ name }) => name.startsWith('cp'))
  return {
    foreignCas: await listForeignCas(operator),
    etcd: await readFirst(controlPlanes, readEtcdIds),
    cluster: await readClusterId(operator, controlPlanes),
  }
}

/** Lists the invariants that changed, and all foreign CAs. */
export function findChangedInvariants(before: ClusterInvariants, after: ClusterInvariants): string[] {
  const changes = (['etcd', 'cluster'] as const).flatMap((name) =>
    before[name] === undefined || before[name] === after[name]
      ? []
      : [`${name} was ${before[name]} and is ${after[name]}`],
  )
  return [...changes, ...after.foreignCas.map((file) => `a foreign CA: ${file}`)]
}

async function listForeignCas({ hosts, identity }: Operator): Promise<string[]> {
  const { kubernetes, etcd, frontProxy } = (await identity()).cas
  const ownDigests = new Set(
    [kubernetes, etcd, frontProxy].map(({ certificate }) =>
      createHash('sha256').update(certificate).digest('hex'),
    ),
  )
  const found = await settleAll(
    hosts.map(async (host) => {
      const { stdout } = await host.script('find /etc/hyperkube -name "*ca.crt" -exec sha256sum {} + || true')
      return stdout
        .split('\n')
        .filter((line) => line !== '' && !ownDigests.has(line.split(' ')[0] ?? ''))
        .map((line) => `${host.name} ${line}`)
    }),
  )
  return found.flat()
}

/** Reads the ids of the etcd cluster and its members as text, because they are 64-bit numbers. */
async function readEtcdIds(host: Machine): Promise<string | undefined> {
  const { code, stdout } = await host.script(`${etcdctl} member list --write-out=fields`, {
    allowFailure: true,
  })
  if (code !== 0) return undefined
  const ids = stdout.split('\n').filter((line) => /^"(ClusterID|ID|PeerURL)" :/.test(line))
  return ids.map((line) => line.replace(/.* : /, '').replaceAll('"', '')).join(' ')
}

const namespaceSchema = z.object({ metadata: z.object({ uid: z.string() }) })

async function readClusterId(
  operator: Operator,
  controlPlanes: readonly Machine[],
): Promise<string | undefined> {
  const admin = await issueClientCertificate(await operator.identity(), 'kubernetes', 'test', [
    'system:masters',
  ])
  return readFirst(controlPlanes, async ({ address }) => {
    const api = new KubeApi(`https://${address}:6443`, admin)
    try {
      return namespaceSchema.parse(await api.get('/api/v1/namespaces/kube-system')).metadata.uid
    } catch {
      return undefined
    } finally {
      api.close()
    }
  })
}

async function readFirst(
  hosts: readonly Machine[],
  read: (host: Machine) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const host of hosts) {
    const value = await read(host)
    if (value !== undefined) return value
  }
  return undefined
}
