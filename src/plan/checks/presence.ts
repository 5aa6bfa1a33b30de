import type { Finding } from '../../contract/finding.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Host } from '../../spec/host.ts'
import { internalAddress } from '../topology.ts'
import { error, type HostCheck, type HostSubject, warning } from './check.ts'
import { missingMajority } from './majority.ts'

/** A host that nothing is known of, or that is not what cluster.yml says. */
export const presence: HostCheck = (subject) => {
  const { host, index, facts } = subject
  const found = facts.get(host.name)
  if (found === undefined) return absence(subject)
  const { os } = found.system
  if (os === host.os) return []
  const message = `cluster.yml says ${host.os}, but the host runs ${os}`
  return [error(subject, 'HOST_OTHER_OS', message, { hint: `os: ${os}`, path: `spec.hosts[${index}].os` })]
}

/**
 * Others can do without a worker for a while, and without a control plane or a member of etcd as long as most of these are
 * there. But they must know its address: else their plans would forget it, and change once more when it is back.
 */
function absence(subject: HostSubject): Finding[] {
  const { host, cluster, facts } = subject
  const details = host.local ? {} : { hint: sshCommand(host, cluster.spec.ssh) }
  if (host.roles.every((role) => role === 'worker')) {
    const message = 'nothing is known of the host, so it is left out until it answers'
    return [warning(subject, 'HOST_NO_FACTS', message, details)]
  }
  const message = 'nothing is known of the host, and the cluster cannot be planned without it'
  const needed = error(subject, 'HOST_NO_FACTS', message, details)
  const reason = missingMajority(subject)
  // When nobody answers, it is no matter of this host.
  if (reason !== undefined && facts.size === 0) return [needed]
  if (reason !== undefined) {
    return [
      needed,
      error(subject, 'PLAN_NO_QUORUM', reason, {
        hint: 'once more than half answer: hyperkube up; if they are lost for good: hyperkube etcd recover',
      }),
    ]
  }
  if (internalAddress(host, undefined) === undefined) return [needed, noAddress(subject)]
  const left = 'nothing is known of the host, so it stays as it is until it answers'
  return [warning(subject, 'HOST_NO_FACTS', left, details)]
}

function noAddress(subject: HostSubject): Finding {
  const message =
    'the host does not answer, and cluster.yml alone does not say under which address the others find it'
  const hint = 'internalAddress: the IPv4 address of the host'
  return error(subject, 'HOST_NO_ADDRESS', message, { hint, path: `spec.hosts[${subject.index}]` })
}

/** The way to the host by hand, to see why it does not answer. */
function sshCommand(host: Host, cluster: Cluster['spec']['ssh']): string {
  const { user, port, bastion } = { ...cluster, ...host.ssh }
  return [
    'ssh',
    ...(bastion === undefined ? [] : [`-J ${login(bastion)}${suffix(bastion.port)}`]),
    ...(port === undefined ? [] : [`-p ${port}`]),
    login({ address: host.address, user }),
  ].join(' ')
}

function login({ user, address }: { readonly user?: string | undefined; readonly address: string }): string {
  return user === undefined ? address : `${user}@${address}`
}

function suffix(port: number | undefined): string {
  return port === undefined ? '' : `:${port}`
}
