import { sleepUnlessAborted } from '../../kit/monotonic-clock.ts'
import { formatError } from '../../kit/errors.ts'
import { clusterStatusName } from '../../kube/cluster-status.ts'
import { Watch } from '../../kube/watch.ts'
import { type ControllerContext, type ControllerDefinition, createReconciler } from '../controller.ts'
import { applyDocument } from '../fleet/apply-document.ts'
import { MemberConnector } from '../fleet/member-access.ts'
import { createMemberStore } from '../fleet/member-store.ts'
import { FleetMember, type MemberTask, memberTasks } from '../fleet/member.ts'
import { managedClusterKind } from '../fleet/resources.ts'
import { statusWatch } from './cluster-status.ts'

/** Milliseconds until the ClusterStatus shows effects of a change: its own batch time, and probes of agents. */
const settleMs = 15_000
const reconnectMs = 60_000
/** Milliseconds for which changes of the Cluster object are collected, so that they cannot keep a cluster busy. */
const batchMs = 1000

/**
 * The managed side of a fleet. Documents contain addons, which may contain any object, so this controller needs
 * all permissions and is off by default.
 */
export const fleetMember: ControllerDefinition = {
  name: 'fleet-member',
  aliases: [],
  summary:
    'pulls documents that the operator signed from a management plane, applies their addons and reports the status; needs all permissions in the cluster',
  byDefault: false,
  watches: [statusWatch],
  rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  build(context) {
    const { client, queue, term, time, now, log } = context
    const statuses = context.getInformer(statusWatch)
    const connector = new MemberConnector(client, () => void term.fence())
    const { signal } = term
    const member = new FleetMember({
      ...{ store: createMemberStore(client), connect: async () => connector.connect(), now, log },
      applyDocument: async (document, options) =>
        applyDocument(client, document, options, { now, signal, log }),
      settle: async () => sleepUnlessAborted(time, settleMs, signal),
      readStatus: () => statuses.get(clusterStatusName)?.status,
      enqueue: (task) => queue.add(task),
    })
    statuses.listen(() => queue.add('report'))
    for (const task of memberTasks) queue.add(task)
    const reconciler = createReconciler(context, {
      workers: memberTasks.length,
      reconcile: async (key) => member.run(toTask(key)),
    })
    return {
      async run(stop) {
        try {
          await Promise.all([reconciler.run(stop), watchOwnCluster(context, connector, stop)])
        } finally {
          connector[Symbol.dispose]()
        }
      },
    }
  },
}

/** Watches the own Cluster object and continues after each loss or change of the connection. */
async function watchOwnCluster(
  { queue, time, log }: Pick<ControllerContext, 'queue' | 'time' | 'log'>,
  connector: MemberConnector,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const link = await connector.connect().catch((error: unknown) => {
      if (!signal.aborted) log(`cannot open the management plane: ${formatError(error)}`)
    })
    if (link === undefined) {
      await sleepUnlessAborted(time, reconnectMs, signal)
      continue
    }
    const watch = new Watch(link.client, managedClusterKind, {
      fields: `metadata.name=${link.name}`,
      select: ({ metadata: { resourceVersion } }) => ({ resourceVersion }),
      onError: () => undefined,
    })
    for await (const { type } of watch.changes(signal)) {
      if (type === 'deleted') continue
      queue.addAfter('pull', batchMs)
      queue.addAfter('report', batchMs)
    }
  }
}

function toTask(key: string): MemberTask {
  const task = memberTasks.find((one) => one === key)
  if (task === undefined) throw new Error(`there is no task ${key}`)
  return task
}
