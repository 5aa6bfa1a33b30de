import type { EtcdClient } from '../../etcd/client.ts'
import { observe } from '../../etcd/observe.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { SecretMask } from '../../kit/mask-secrets.ts'
import type { KubeClient } from '../../kube/client.ts'
import { hosts } from '../../kube/host-resource.ts'
import { kindOf, type KubeObject } from '../../kube/object.ts'
import { list } from '../../kube/read-objects.ts'
import { ready, type Readiness } from '../../kube/readiness.ts'
import { cleaner } from './cleaner.ts'
import { nodeOf, podOf, wholeOf } from './redact-objects.ts'
import { attempt, type Piece } from './support-entry.ts'

export interface ClusterGathering {
  readonly api: KubeClient
  readonly etcd: EtcdClient
  readonly mask: SecretMask
  readonly reasonOf: (error: unknown) => string
  readonly signal: AbortSignal
}

/** What is listed, and what of it is kept. Neither Secrets nor ConfigMaps are ever asked for. */
const lists: readonly (readonly [file: string, apiVersion: string, kind: string, keep: Keep])[] = [
  ['nodes.json', 'v1', 'Node', nodeOf],
  ['pods.json', 'v1', 'Pod', podOf],
  ['events.json', 'events.k8s.io/v1', 'Event', wholeOf],
  ['hosts.json', hosts.apiVersion, hosts.kind, wholeOf],
]
type Keep = (object: KubeObject) => object

/** What a cluster says of itself: its API and its etcd, each as far as it answers. */
export async function* gatherCluster(gathering: ClusterGathering): AsyncGenerator<Piece> {
  const { api, etcd, mask, reasonOf, signal } = gathering
  const clean = cleaner(mask)
  const at = async (file: string, make: () => Promise<unknown>): Promise<Piece> =>
    attempt(file, signal, async () => clean.json(await make()), reasonOf)
  yield at('etcd.json', async () => {
    const { health, statuses, ...rest } = await observe(etcd, { signal })
    return { ...rest, health: Object.fromEntries(health), statuses: Object.fromEntries(statuses) }
  })
  const servers = await Promise.all(
    api.servers.map(async (server) => ({
      server,
      ...(await ready(api, server, { signal, timeout: 5000 }).catch(silent(signal))),
    })),
  )
  yield at('api-servers.json', async () => servers)
  const isUp = servers.some((server) => server.ready)
  for (const [file, apiVersion, kind, keep] of lists) {
    yield at(file, async () => {
      // Each of them would be waited for in vain.
      if (!isUp) throw new HyperkubeError('KUBE_UNREACHABLE', 'no API server is ready')
      const { items } = await list(api, kindOf(apiVersion, kind), { signal })
      return { apiVersion: 'hyperkube.dev/v1', kind: `${kind}List`, items: items.map(keep) }
    })
  }
}

function silent(signal: AbortSignal): (error: unknown) => Readiness {
  return (error) => {
    signal.throwIfAborted()
    return { ready: false, failing: [], reason: error instanceof Error ? error.message : String(error) }
  }
}
