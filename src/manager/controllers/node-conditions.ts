import type { HostStatus } from '../../contract/host-resource.ts'
import { truncateList } from '../../kit/text.ts'
import { applyStatus } from '../../kube/write-objects.ts'
import { addTransitionTimes, areConditionsCurrent, type ConditionSpec } from '../conditions.ts'
import { type ControllerDefinition, createReconciler } from '../controller.ts'
import { Heartbeats, silentAfterMs } from '../heartbeats.ts'
import { hostWatch, isHostChanged, nodeWatch } from '../watch-specs.ts'

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

/** Builds the node conditions from the report of the host's agent. */
export function buildNodeConditions(status: HostStatus, silent: boolean): ConditionSpec[] {
  if (silent) {
    const message = 'the agent of this host does not report'
    return [
      buildCondition('HyperkubeAgentReady', 'Unknown', 'AgentNotReporting', message),
      buildCondition('HyperkubeHealthy', 'Unknown', 'AgentNotReporting', message),
      buildCondition('HyperkubeDiskHealthy', 'Unknown', 'AgentNotReporting', message),
    ]
  }
  const { agent = '', suspended, components = [], failing = [] } = status
  const exhausted = components.filter(({ state }) => state === 'exhausted')
  const unhealthy = components.filter(({ state }) => state !== 'healthy' && state !== 'exhausted')
  const disks = failing.filter(({ code }) => isDiskCode(code))
  const healthy =
    exhausted.length > 0
      ? buildCondition(
          'HyperkubeHealthy',
          'False',
          'NeedsOperator',
          `${formatComponents(exhausted)}: all healing steps failed; for details: hyperkube doctor`,
        )
      : unhealthy.length > 0
        ? buildCondition('HyperkubeHealthy', 'False', 'ComponentsUnhealthy', formatComponents(unhealthy))
        : buildCondition('HyperkubeHealthy', 'True', 'ComponentsHealthy', 'all components are healthy')
  return [
    suspended === undefined
      ? buildCondition('HyperkubeAgentReady', 'True', 'AgentReporting', `agent ${agent} manages this host`)
      : buildCondition(
          'HyperkubeAgentReady',
          'True',
          'HealingSuspended',
          `agent ${agent} has suspended healing: ${suspended}`,
        ),
    healthy,
    disks.length > 0
      ? buildCondition('HyperkubeDiskHealthy', 'False', disks[0]?.code ?? '', formatComponents(disks))
      : buildCondition('HyperkubeDiskHealthy', 'True', 'DisksHealthy', 'no disk probe fails'),
  ]
}

export function isDiskCode(code: string | undefined): boolean {
  return code?.startsWith('DISK_') === true
}

function formatComponents(components: readonly { readonly component: string }[]): string {
  return truncateList([...new Set(components.map(({ component }) => component))].toSorted(), 3)
}

function buildCondition(
  type: string,
  status: ConditionSpec['status'],
  reason: string,
  message: string,
): ConditionSpec {
  return { type, status, reason, message }
}
