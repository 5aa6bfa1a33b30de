import { joinNames, toPrintable } from '../../kit/text.ts'
import { toolNames } from '../../lifecycle/adoption/checks/check.ts'
import { formatHealAction } from '../../lifecycle/doctor/healing.ts'
import type { ClusterStatusReport, HealthyCount } from '../../lifecycle/status/status-report.ts'
import type { Paint } from '../command/command.ts'
import { formatHoldCommands, formatKubernetesVersion } from '../text/held-upgrade-text.ts'
import { formatMegabytes } from '../render/byte-progress.ts'

/** Formats the status of the whole cluster as one line, which is shown above the hosts. */
export function formatClusterLine(name: string, status: ClusterStatusReport, paint: Paint): string {
  const { hosts, controlPlanesUnreachable = false } = status
  const parts = [
    formatCount(hosts, 'hosts reachable', paint),
    ...(controlPlanesUnreachable
      ? [paint('red', 'nodes, API servers and etcd unknown: no control plane is reachable')]
      : listHealthCounts(status, paint)),
  ]
  return `${paint('bold', name)}: ${formatKubernetesVersion(status)}; ${parts.join(', ')}\n`
}

function listHealthCounts(status: ClusterStatusReport, paint: Paint): string[] {
  const { nodes, nodeConditions = [], etcd, api } = status
  const size = etcd.size === undefined ? '' : `, ${formatMegabytes(etcd.size)} MB`
  const leader = etcd.leader === undefined ? '' : ` (leader ${etcd.leader}${size})`
  return [
    formatCount(nodes, 'nodes ready', paint),
    ...nodeConditions.map(({ condition, nodes: { length } }) => paint('red', `${length} with ${condition}`)),
    formatCount(api, 'API servers ready', paint),
    `${formatCount(etcd, 'etcd members healthy', paint)}${leader}`,
    ...(etcd.quorum ? [] : [paint('red', 'no quorum')]),
    ...etcd.alarms.map((alarm) => paint('red', `alarm ${alarm}`)),
  ]
}

function formatCount({ healthy, total }: HealthyCount, label: string, paint: Paint): string {
  return paint(healthy === total ? 'green' : 'red', `${healthy} of ${total} ${label}`)
}

/** Formats further lines about the cluster, which are shown below the hosts. */
export function formatClusterDetails(status: ClusterStatusReport): string {
  const { expiry, addons, paused, actions } = status
  const lines = [
    ...paused.map(({ host, until, by }) => `healing is paused on ${host} until ${until}, by ${by}`),
    ...(expiry === undefined
      ? []
      : [
          `certificates: the first to expire is ${expiry.file} of ${expiry.host}, on ${expiry.until.slice(0, 10)}`,
        ]),
    ...formatAddons(addons),
    ...(actions.length === 0 ? [] : ['recent actions of agents:']),
    ...actions.map(
      (action) =>
        `  ${action.at.slice(0, 19)}Z ${action.host}/${action.component}: ${formatHealAction(action)}`,
    ),
  ]
  return `${formatHoldCommands(status)}${formatAdoptionCommands(status)}${lines.map((line) => `${toPrintable(line)}\n`).join('')}`
}

/** Formats from which tool the hosts come, and the two commands that end the adoption. */
function formatAdoptionCommands({ adoption }: ClusterStatusReport): string {
  if (adoption === undefined) return ''
  const { from, observed } = adoption
  return `adopted from ${toolNames[from]} on ${observed.slice(0, 10)}, not committed: hosts can still return
  → to commit, after which no host can return: hyperkube adopt commit
  → to return all hosts to ${toolNames[from]}: hyperkube adopt rollback
`
}

function formatAddons(addons: ClusterStatusReport['addons'] = []): string[] {
  const ready = addons.flatMap(({ name, ready: isReady }) => (isReady ? [name] : []))
  return [
    ...(ready.length === 0 ? [] : [`addons: ${joinNames(ready)} ${ready.length === 1 ? 'is' : 'are'} ready`]),
    ...addons.flatMap(({ name, reason }) =>
      reason === undefined ? [] : [`addon ${name} is not ready: ${reason}`],
    ),
  ]
}
