import { z } from 'zod'
import type { ControllerRow, Scene } from '../../controller.ts'
import { reconciling } from '../../reconciler.ts'
import { type KnownNode, nodes } from '../../watch-specs.ts'
import { type Skew, skewOf } from './skew.ts'

export const versionSkew: ControllerRow = {
  name: 'version-skew',
  aliases: [],
  summary: 'says of nodes when their kubelet is of a version that does not go with the API server’s',
  byDefault: true,
  watches: [nodes],
  rights: [
    { nonResourceURLs: ['/version'], verbs: ['get'] },
    // Events about nodes are in this namespace.
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'], namespace: 'default' },
  ],
  build(scene) {
    const { queue } = scene
    const known = scene.informer(nodes)
    let server = ''
    known.listen(({ key }) => queue.add(key))
    queue.add(apiServer)
    scene.metrics.gauges(
      'hyperkube_nodes_by_version_skew',
      'Nodes, by how their kubelet goes with the API.',
      () =>
        [...known.counts('kubelet')].map(([kubelet, count]) => [
          { kubelet, skew: skewOf(kubelet, server) },
          count,
        ]),
    )
    return reconciling(scene, {
      async reconcile(key) {
        if (key === apiServer) {
          const before = server
          server = await serverVersion(scene)
          if (server !== before) for (const node of known.keys()) queue.add(node)
          return { requeueAfter: 5 * 60_000 }
        }
        const node = known.get(key)
        if (node === undefined) return undefined
        const problem = problems[skewOf(node.kubelet, server)]
        if (problem === undefined) return undefined
        await tell(scene, node, `kubelet ${node.kubelet} ${problem} API server ${server}`)
        // The API forgets events after an hour.
        return { requeueAfter: 60 * 60_000 }
      },
    })
  },
}

/** Stands in the queue for the API server: no node has this name. */
const apiServer = ''

const problems: Readonly<Partial<Record<Skew, string>>> = {
  newer: 'must not be newer than',
  'too-old': 'is more than three minor versions behind',
}

const versionAnswer = z.looseObject({ gitVersion: z.string() })

async function serverVersion({ client }: Scene): Promise<string> {
  return versionAnswer.parse(await client.request({ method: 'GET', path: '/version' })).gitVersion
}

async function tell({ events }: Scene, { name, uid }: KnownNode, note: string): Promise<void> {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid } }
  await events.record(node, { type: 'Warning', reason: 'VersionSkew', action: 'CompareVersions', note })
}
