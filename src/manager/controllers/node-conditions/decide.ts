import type { HostStatus } from '../../../contract/host-resource.ts'
import { firstFew } from '../../../kit/truncate-list.ts'
import type { ConditionWish } from '../../conditions.ts'

/** What the agent of a host says of it, as conditions of its node. */
export function conditionsOf(status: HostStatus, silent: boolean): ConditionWish[] {
  if (silent) {
    const message = 'nothing is heard of the agent of this host'
    return [
      said('HyperkubeAgentReady', 'Unknown', 'AgentSilent', message),
      said('HyperkubeHealthy', 'Unknown', 'AgentSilent', message),
      said('HyperkubeDiskHealthy', 'Unknown', 'AgentSilent', message),
    ]
  }
  const { agent = '', idle, components = [], failing = [] } = status
  const given = components.filter(({ state }) => state === 'given-up')
  const unwell = components.filter(({ state }) => state !== 'well' && state !== 'given-up')
  const disks = failing.filter(({ code }) => isOfDisk(code))
  const healthy =
    given.length > 0
      ? said(
          'HyperkubeHealthy',
          'False',
          'NeedsOperator',
          `${list(given)}: all was tried; hyperkube doctor says more`,
        )
      : unwell.length > 0
        ? said('HyperkubeHealthy', 'False', 'ComponentsUnwell', list(unwell))
        : said('HyperkubeHealthy', 'True', 'ComponentsWell', 'all components are well')
  return [
    idle === undefined
      ? said('HyperkubeAgentReady', 'True', 'AgentReports', `agent ${agent} looks after this host`)
      : said('HyperkubeAgentReady', 'True', 'AgentIdle', `agent ${agent} heals nothing at present: ${idle}`),
    healthy,
    disks.length > 0
      ? said('HyperkubeDiskHealthy', 'False', disks[0]?.code ?? '', list(disks))
      : said('HyperkubeDiskHealthy', 'True', 'DisksWell', 'no probe of a disk fails'),
  ]
}

export function isOfDisk(code: string | undefined): boolean {
  return code?.startsWith('DISK_') === true
}

function list(some: readonly { readonly component: string }[]): string {
  return firstFew([...new Set(some.map(({ component }) => component))].toSorted(), 3)
}

function said(type: string, status: ConditionWish['status'], reason: string, message: string): ConditionWish {
  return { type, status, reason, message }
}
