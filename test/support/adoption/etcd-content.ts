import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type Credentials, KubeApi } from '../../../lab/cluster/kube-api.ts'
import type { Host } from '../../../lab/hosts/host.ts'
import { namespace } from './workload-objects.ts'

const rangeResponse = z.object({
  kvs: z.array(z.object({ key: z.base64(), value: z.base64().default('') })).default([]),
})
const memberResponse = z.object({
  header: z.object({ cluster_id: z.string() }),
  members: z.array(z.object({ ID: z.string(), name: z.string(), peerURLs: z.array(z.string()) })),
})

/** Content of etcd. */
export interface EtcdContent {
  /** Id of the cluster, and ids, names and peer addresses of the members. */
  readonly members: string
  /** Digests of the values, by key. */
  readonly digests: ReadonlyMap<string, string>
  /** Keys of the workload's Secrets whose values are not encrypted. */
  readonly plainSecrets: readonly string[]
}

/** Reads all keys through the JSON gateway of one member. */
export async function readEtcdContent(
  { address }: Pick<Host, 'address'>,
  credentials: Credentials,
): Promise<EtcdContent> {
  const member = new KubeApi(`https://${address}:2379`, credentials)
  try {
    // A range from the zero byte to the zero byte is the whole key space.
    const wholeKeySpace = { key: 'AA==', range_end: 'AA==' }
    const { kvs } = rangeResponse.parse(await member.createAndRead('/v3/kv/range', wholeKeySpace))
    const { header, members } = memberResponse.parse(
      await member.createAndRead('/v3/cluster/member/list', {}),
    )
    const decoded = kvs.map(({ key, value }) => ({
      key: Buffer.from(key, 'base64').toString(),
      value: Buffer.from(value, 'base64'),
    }))
    return {
      members: [header.cluster_id, ...members.map((one) => JSON.stringify(one)).toSorted()].join('\n'),
      digests: new Map(
        decoded.map(({ key, value }) => [key, createHash('sha256').update(value).digest('hex')]),
      ),
      plainSecrets: decoded.flatMap(({ key, value }) =>
        key.startsWith(`/registry/secrets/${namespace}/`) && !value.toString('latin1').startsWith('k8s:enc:')
          ? [key]
          : [],
      ),
    }
  } finally {
    member.close()
  }
}

/** Keys that a running cluster creates and deletes, and keys that hyperkube leaves behind. */
const changingKeys =
  /^\/registry\/(?:events|leases|masterleases|pods|minions|csinodes|services\/endpoints|endpointslices|certificatesigningrequests|controllerrevisions)\/|^\/registry\/configmaps\/(?:default|workload)\/(?:load|counted)-|hyperkube|bootstrap-token-|kubeadm-certs|^compact_rev_key$|^\/registry\/(?:apiregistration\.k8s\.io|health)/

/** Kinds without a status, whose values do not change unless a client changes them. */
const staticValues =
  /^\/registry\/(?:secrets|configmaps|serviceaccounts|clusterroles|clusterrolebindings|roles|rolebindings|storageclasses|priorityclasses|[^/]+\.example\.com)\//

/**
 * ConfigMaps that the control plane changes. Each controller manager publishes the CA with the bytes of its own file.
 * The dump of objects shows that the values after a rollback are those before.
 */
const changingValues =
  /\/kube-root-ca\.crt$|\/kube-public\/cluster-info$|\/extension-apiserver-authentication$|\/leader-election/

/** Describes what differs in etcd, apart from what `etcdComparison` names. */
export function compareEtcd(before: EtcdContent, after: EtcdContent): readonly string[] {
  const list = (
    sign: string,
    keys: ReadonlyMap<string, string>,
    others: ReadonlyMap<string, string>,
  ): string[] =>
    [...keys.keys()]
      .filter((key) => !others.has(key) && !changingKeys.test(key))
      .map((key) => `${sign} ${key}`)
  const changed = [...before.digests]
    .filter(
      ([key, digest]) =>
        staticValues.test(key) &&
        !changingKeys.test(key) &&
        !changingValues.test(key) &&
        (after.digests.get(key) ?? digest) !== digest,
    )
    .map(([key]) => `changed ${key}`)
  return [
    ...(before.members === after.members ? [] : [`members: ${before.members} became ${after.members}`]),
    ...list('-', before.digests, after.digests),
    ...list('+', after.digests, before.digests),
    ...changed,
  ]
}

export const etcdComparison = `the ids of etcd and its members; all keys; and the values of Secrets, ConfigMaps, service accounts, RBAC rules and custom resources.
Not compared: keys of events, leases, pods, nodes, endpoints, certificate signing requests, revisions, bootstrap tokens, APIServices and of the
load; the ConfigMaps kube-root-ca.crt; keys with "hyperkube" in their names, which stay; and values of kinds with a status`
