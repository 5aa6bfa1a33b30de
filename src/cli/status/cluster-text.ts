import { printable } from '../../kit/printable.ts'
import { actionText } from '../../lifecycle/doctor/healing.ts'
import type { ClusterStatus, Share } from '../../lifecycle/status/observed-cluster-status.ts'
import type { Paint } from '../command.ts'
import { megabytes } from '../etcd/progress.ts'
import { listed } from '../format-text.ts'

/** One line for the whole: what stands above the hosts. */
export function clusterLine(name: string, status: ClusterStatus, paint: Paint): string {
  const { kubernetes, hosts, nodes, etcd, api } = status
  const share = ({ well, all }: Share, what: string): string =>
    paint(well === all ? 'green' : 'red', `${well} of ${all} ${what}`)
  const size = etcd.size === undefined ? '' : `, ${megabytes(etcd.size)} MB`
  const leader = etcd.leader === undefined ? '' : ` (${etcd.leader} leads${size})`
  const parts = [
    share(hosts, 'hosts answer'),
    share(nodes, 'nodes ready'),
    share(api, 'API servers ready'),
    `${share(etcd, 'members of etcd well')}${leader}`,
    ...(etcd.quorum ? [] : [paint('red', 'no quorum')]),
    ...etcd.alarms.map((alarm) => paint('red', `alarm ${alarm}`)),
  ]
  return `${paint('bold', name)}: Kubernetes ${kubernetes}; ${parts.join(', ')}\n`
}

/** What else is worth a line, below the hosts. */
export function clusterLines({ expiry, addons, paused, actions }: ClusterStatus): string {
  const lines = [
    ...paused.map(({ host, until, by }) => `healing is paused on ${host} until ${until}, by ${by}`),
    ...(expiry === undefined
      ? []
      : [
          `certificates: the first to expire is ${expiry.file} of ${expiry.host}, on ${expiry.until.slice(0, 10)}`,
        ]),
    ...addonLines(addons),
    ...(actions.length === 0 ? [] : ['what agents did lately:']),
    ...actions.map(
      (action) => `  ${action.at.slice(0, 19)}Z ${action.host}/${action.component}: ${actionText(action)}`,
    ),
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}

function addonLines(addons: ClusterStatus['addons'] = []): string[] {
  const ready = addons.flatMap(({ name, ready: isReady }) => (isReady ? [name] : []))
  return [
    ...(ready.length === 0 ? [] : [`addons: ${listed(ready)} ${ready.length === 1 ? 'is' : 'are'} ready`]),
    ...addons.flatMap(({ name, reason }) =>
      reason === undefined ? [] : [`addon ${name} is not ready: ${reason}`],
    ),
  ]
}
