import { patchStatus } from '../../../kube/write-objects.ts'
import { areSaid, withTimes } from '../../conditions.ts'
import type { ControllerRow } from '../../controller.ts'
import { Heartbeats, silentAfter } from '../../heartbeats.ts'
import { reconciling } from '../../reconciler.ts'
import { hosts, isNews, nodes } from '../../watch-specs.ts'
import { conditionsOf } from './decide.ts'

export const nodeKeeper: ControllerRow = {
  name: 'node-keeper',
  aliases: ['nodes'],
  summary: 'says at nodes, as conditions, whether the agents of their hosts are heard, and how they are',
  byDefault: true,
  watches: [nodes, hosts],
  rights: [{ apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] }],
  build(scene) {
    const { queue, client, now } = scene
    const [known, agents] = [scene.informer(nodes), scene.informer(hosts)]
    const heartbeats = new Heartbeats(scene)
    known.listen(({ key }) => queue.add(key))
    agents.listen((change) => {
      const wasSilent = heartbeats.isSilent(change.key)
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.hear(change.object)
      if (isNews(change) || wasSilent) queue.add(change.key)
    })
    return reconciling(scene, {
      async reconcile(name) {
        const [node, host] = [known.get(name), agents.get(name)]
        if (node === undefined) return undefined
        // Whose host has no object any more has nothing to say, either.
        const wishes = host === undefined ? [] : conditionsOf(host.status, heartbeats.isSilent(name))
        const isSaid = wishes.length === node.conditions.length && areSaid(wishes, node.conditions)
        if (!isSaid) {
          const status = { conditions: withTimes(wishes, node.conditions, now()) }
          const manifest = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status }
          await patchStatus(client, manifest, { force: true, manager: 'hyperkube-node-keeper' })
        }
        return host === undefined ? undefined : { requeueAfter: silentAfter / 2 }
      },
    })
  },
}
