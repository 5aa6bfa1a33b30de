import { applyStatus } from '../../../kube/write-objects.ts'
import { areConditionsCurrent, addTransitionTimes } from '../../conditions.ts'
import type { ControllerDefinition } from '../../controller.ts'
import { Heartbeats, silentAfterMs } from '../../heartbeats.ts'
import { createReconciler } from '../../reconciler.ts'
import { hostWatch, isHostChanged, nodeWatch } from '../../watch-specs.ts'
import { buildNodeConditions } from './decide.ts'

export const nodeConditions: ControllerDefinition = {
  name: 'node-conditions',
  aliases: ['nodes'],
  summary:
    'writes node conditions: whether the agent of the host reports, and whether components and disks are healthy',
  byDefault: true,
  watches: [nodeWatch, hostWatch],
  rules: [{ apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] }],
  build(context) {
    const { queue, client, now } = context
    const [known, agents] = [context.getInformer(nodeWatch), context.getInformer(hostWatch)]
    const heartbeats = new Heartbeats(context)
    known.listen(({ key }) => queue.add(key))
    agents.listen((change) => {
      const wasSilent = heartbeats.isSilent(change.key)
      if (change.type === 'deleted') heartbeats.forget(change.key)
      else heartbeats.observe(change.object)
      if (isHostChanged(change) || wasSilent) queue.add(change.key)
    })
    return createReconciler(context, {
      async reconcile(name) {
        const [node, host] = [known.get(name), agents.get(name)]
        if (node === undefined) return undefined
        // A node without a Host object gets no conditions.
        const desired = host === undefined ? [] : buildNodeConditions(host.status, heartbeats.isSilent(name))
        const isCurrent =
          desired.length === node.conditions.length && areConditionsCurrent(desired, node.conditions)
        if (!isCurrent) {
          const status = { conditions: addTransitionTimes(desired, node.conditions, now()) }
          const manifest = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status }
          await applyStatus(client, manifest, { force: true, manager: 'hyperkube-node-conditions' })
        }
        return host === undefined ? undefined : { requeueAfter: silentAfterMs / 2 }
      },
    })
  },
}
