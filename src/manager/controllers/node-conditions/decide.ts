import type { HostStatus } from '../../../contract/host-resource.ts'
import { truncateList } from '../../../kit/truncate-list.ts'
import type { ConditionSpec } from '../../conditions.ts'

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
          `${formatComponents(exhausted)}: all healing steps failed; hyperkube doctor shows more`,
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
          `agent ${agent} does not heal at present: ${suspended}`,
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
