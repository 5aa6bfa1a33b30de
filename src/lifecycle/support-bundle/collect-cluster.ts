import type { EtcdClient } from '../../etcd/client.ts'
import { observeEtcd } from '../../etcd/observe.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import type { KubeClient } from '../../kube/client.ts'
import { hostKind } from '../../kube/host-resource.ts'
import { createUntypedKind, type KubeObject } from '../../kube/object.ts'
import { listObjects } from '../../kube/read-objects.ts'
import { checkReadiness, type Readiness } from '../../kube/readiness.ts'
import { type SupportEntry, tryCollect } from './archive.ts'
import { createCleaner, redactNode, redactObject, redactPod } from './redact.ts'

export interface ClusterCollectOptions {
  readonly api: KubeClient
  readonly etcd: EtcdClient
  readonly mask: SecretMask
  readonly formatReason: (error: unknown) => string
  readonly signal: AbortSignal
}

/**
 * Kinds of objects to list, each with the function that redacts them. Secrets and ConfigMaps are never
 * requested.
 */
const listedKinds: readonly (readonly [file: string, apiVersion: string, kind: string, keep: Redact])[] = [
  ['nodes.json', 'v1', 'Node', redactNode],
  ['pods.json', 'v1', 'Pod', redactPod],
  ['events.json', 'events.k8s.io/v1', 'Event', redactObject],
  ['hosts.json', hostKind.apiVersion, hostKind.kind, redactObject],
]
type Redact = (object: KubeObject) => object

/**
 * Collects what the API and etcd report about the cluster. A file whose source does not answer is omitted
 * with the reason.
 */
export async function* collectClusterFiles(options: ClusterCollectOptions): AsyncGenerator<SupportEntry> {
  const { api, etcd, mask, formatReason, signal } = options
  const cleaner = createCleaner(mask)
  const collect = async (file: string, read: () => Promise<unknown>): Promise<SupportEntry> =>
    tryCollect(file, signal, async () => cleaner.json(await read()), formatReason)
  yield collect('etcd.json', async () => {
    const { health, statuses, ...rest } = await observeEtcd(etcd, { signal })
    return { ...rest, health: Object.fromEntries(health), statuses: Object.fromEntries(statuses) }
  })
  const servers = await Promise.all(
    api.servers.map(async (server) => ({
      server,
      ...(await checkReadiness(api, server, { signal, timeout: 5000 }).catch(toUnready(signal))),
    })),
  )
  yield collect('api-servers.json', async () => servers)
  const isApiReady = servers.some((server) => server.ready)
  for (const [file, apiVersion, kind, redact] of listedKinds) {
    yield collect(file, async () => {
      // Without a ready API server every list request would only time out.
      if (!isApiReady) throw new HyperkubeError('KUBE_UNREACHABLE', 'no API server is ready')
      const { items } = await listObjects(api, createUntypedKind(apiVersion, kind), { signal })
      return { apiVersion: 'hyperkube.dev/v1', kind: `${kind}List`, items: items.map(redact) }
    })
  }
}

function toUnready(signal: AbortSignal): (error: unknown) => Readiness {
  return (error) => {
    signal.throwIfAborted()
    return { ready: false, failing: [], reason: error instanceof Error ? error.message : String(error) }
  }
}
