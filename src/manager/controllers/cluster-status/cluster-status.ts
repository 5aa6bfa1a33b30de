import { isDeepStrictEqual } from 'node:util'
import type { ClusterStatus } from '../../../contract/cluster-status.ts'
import { clusterStatusKind, clusterStatusName } from '../../../kube/cluster-status.ts'
import { isKubeError } from '../../../kube/kube-error.ts'
import { WatchSpec } from '../../../kube/informers.ts'
import { createObject, applyStatus } from '../../../kube/write-objects.ts'
import type { ControllerDefinition } from '../../controller.ts'
import { Heartbeats, silentAfterMs } from '../../heartbeats.ts'
import { createReconciler } from '../../reconciler.ts'
import { hostWatch, isHostChanged, nodeWatch } from '../../watch-specs.ts'
import { summarizeCluster } from './summarize.ts'

const statusWatch = new WatchSpec({
  name: 'cluster-statuses',
  kind: clusterStatusKind,
  select: ({ status }): { readonly status: ClusterStatus | undefined } => ({ status }),
})

/** Changes within this many milliseconds are written together. */
const batchMs = 2000

export const clusterStatusController: ControllerDefinition = {
  name: 'cluster-status',
  aliases: ['status'],
  summary: 'writes the status of the whole cluster into one object, only when it changes',
  byDefault: true,
  watches: [nodeWatch, hostWatch, statusWatch],
  rules: [
    { apiGroups: ['hyperkube.dev'], resources: ['clusterstatuses'], verbs: ['create'] },
    {
      ...{ apiGroups: ['hyperkube.dev'], resources: ['clusterstatuses/status'] },
      ...{ resourceNames: [clusterStatusName], verbs: ['patch'] },
    },
  ],
  build(context) {
    const { queue, client, now } = context
    const [known, agents, published] = [
      context.getInformer(nodeWatch),
      context.getInformer(hostWatch),
      context.getInformer(statusWatch),
    ]
    const heartbeats = new Heartbeats(context)
    const enqueue = (): void => queue.addAfter(clusterStatusName, batchMs)
    known.listen(enqueue)
    published.listen(enqueue)
    agents.listen((change) => {
      const wasSilent = heartbeats.isSilent(change.key)
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.observe(change.object)
      if (isHostChanged(change) || wasSilent) enqueue()
    })
    enqueue()
    return createReconciler(context, {
      async reconcile(name) {
        const summary = summarizeCluster({
          nodes: [...known.keys()].flatMap((node) => known.get(node) ?? []),
          hosts: [...agents.keys()].flatMap((host) => {
            const agent = agents.get(host)
            return agent === undefined ? [] : [{ ...agent, silent: heartbeats.isSilent(host) }]
          }),
        })
        const before = published.get(name)?.status
        const { since, ...rest } = before ?? { since: undefined }
        if (!isDeepStrictEqual(rest, summary)) {
          const keptSince = before?.state === summary.state ? since : undefined
          const status: ClusterStatus = { ...summary, since: keptSince ?? now().toISOString() }
          const { apiVersion, kind } = clusterStatusKind
          const manifest = { apiVersion, kind, metadata: { name } }
          if (published.get(name) === undefined) {
            await createObject(client, manifest).catch((error: unknown) => {
              if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
            })
          }
          await applyStatus(
            client,
            { ...manifest, status },
            { force: true, manager: 'hyperkube-cluster-status' },
          )
        }
        return { requeueAfter: silentAfterMs / 2 }
      },
    })
  },
}
