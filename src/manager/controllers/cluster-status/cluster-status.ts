import { isDeepStrictEqual } from 'node:util'
import type { ClusterStatus } from '../../../contract/cluster-status.ts'
import { clusterStatuses, clusterStatusName } from '../../../kube/cluster-status.ts'
import { isKubeError } from '../../../kube/kube-error.ts'
import { Source } from '../../../kube/watch-spec.ts'
import { create, patchStatus } from '../../../kube/write-objects.ts'
import type { ControllerRow } from '../../controller.ts'
import { Heartbeats, silentAfter } from '../../heartbeats.ts'
import { reconciling } from '../../reconciler.ts'
import { hosts, isNews, nodes } from '../../watch-specs.ts'
import { summarize } from './summarize.ts'

const written = new Source({
  name: 'cluster-statuses',
  kind: clusterStatuses,
  select: ({ status }): { readonly status: ClusterStatus | undefined } => ({ status }),
})

/** In milliseconds: what changes together is written together. */
const together = 2000

export const clusterStatusKeeper: ControllerRow = {
  name: 'cluster-status',
  aliases: ['status'],
  summary:
    'keeps one object that says how the whole cluster is, and is written only when something else is the case',
  byDefault: true,
  watches: [nodes, hosts, written],
  rights: [
    { apiGroups: ['hyperkube.dev'], resources: ['clusterstatuses'], verbs: ['create'] },
    {
      ...{ apiGroups: ['hyperkube.dev'], resources: ['clusterstatuses/status'] },
      ...{ resourceNames: [clusterStatusName], verbs: ['patch'] },
    },
  ],
  build(scene) {
    const { queue, client, now } = scene
    const [known, agents, own] = [scene.informer(nodes), scene.informer(hosts), scene.informer(written)]
    const heartbeats = new Heartbeats(scene)
    const soon = (): void => queue.addAfter(clusterStatusName, together)
    known.listen(soon)
    own.listen(soon)
    agents.listen((change) => {
      const wasSilent = heartbeats.isSilent(change.key)
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.hear(change.object)
      if (isNews(change) || wasSilent) soon()
    })
    soon()
    return reconciling(scene, {
      async reconcile(name) {
        const summary = summarize({
          nodes: [...known.keys()].flatMap((node) => known.get(node) ?? []),
          hosts: [...agents.keys()].flatMap((host) => {
            const agent = agents.get(host)
            return agent === undefined ? [] : [{ ...agent, silent: heartbeats.isSilent(host) }]
          }),
        })
        const before = own.get(name)?.status
        const { since, ...rest } = before ?? { since: undefined }
        if (!isDeepStrictEqual(rest, summary)) {
          const kept = before?.state === summary.state ? since : undefined
          const status: ClusterStatus = { ...summary, since: kept ?? now().toISOString() }
          const { apiVersion, kind } = clusterStatuses
          const manifest = { apiVersion, kind, metadata: { name } }
          if (own.get(name) === undefined) {
            await create(client, manifest).catch((error: unknown) => {
              if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
            })
          }
          await patchStatus(
            client,
            { ...manifest, status },
            { force: true, manager: 'hyperkube-cluster-status' },
          )
        }
        return { requeueAfter: silentAfter / 2 }
      },
    })
  },
}
