import type { Finding } from '../../contract/finding.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { HostSpec } from '../../spec/host.ts'
import { resolveInternalAddress } from '../topology.ts'
import { hostError, type HostCheck, type HostSubject, hostWarning } from './check.ts'
import { describeLostMajority } from './majority.ts'

/** A host without facts, or with another operating system than cluster.yml says. */
export const checkPresence: HostCheck = (subject) => {
  const { host, index, facts } = subject
  const hostFacts = facts.get(host.name)
  if (hostFacts === undefined) return checkAbsence(subject)
  const { os } = hostFacts.system
  if (os === host.os) return []
  const message = `cluster.yml says ${host.os}, but the host runs ${os}`
  return [
    hostError(subject, 'HOST_OTHER_OS', message, { hint: `os: ${os}`, path: `spec.hosts[${index}].os` }),
  ]
}

/**
 * The cluster can work for a while without a worker, and without a minority of control planes or etcd
 * members. The other hosts must still know the address of such a host: otherwise their plans would drop it
 * and change again later.
 */
function checkAbsence(subject: HostSubject): Finding[] {
  const { host, cluster, facts } = subject
  const details = host.local ? {} : { hint: sshCommand(host, cluster.spec.ssh) }
  if (host.roles.every((role) => role === 'worker')) {
    const message = 'nothing is known of the host, so it is left out until it answers'
    return [hostWarning(subject, 'HOST_NO_FACTS', message, details)]
  }
  const message = 'nothing is known of the host, and the cluster cannot be planned without it'
  const needed = hostError(subject, 'HOST_NO_FACTS', message, details)
  const reason = describeLostMajority(subject)
  // If no host is reachable, the cause is not this host.
  if (reason !== undefined && facts.size === 0) return [needed]
  if (reason !== undefined) {
    return [
      needed,
      hostError(subject, 'PLAN_NO_QUORUM', reason, {
        hint: 'once more than half answer: hyperkube up; if they are lost for good: hyperkube etcd recover',
      }),
    ]
  }
  if (resolveInternalAddress(host, undefined) === undefined) return [needed, unknownAddress(subject)]
  const skippedMessage = 'nothing is known of the host, so it stays as it is until it answers'
  return [hostWarning(subject, 'HOST_NO_FACTS', skippedMessage, details)]
}

function unknownAddress(subject: HostSubject): Finding {
  const message =
    'the host does not answer, and cluster.yml alone does not say under which address the others find it'
  const hint = 'internalAddress: the IPv4 address of the host'
  return hostError(subject, 'HOST_NO_ADDRESS', message, { hint, path: `spec.hosts[${subject.index}]` })
}

/** The ssh command with which an operator can see why the host is unreachable. */
function sshCommand(host: HostSpec, cluster: Cluster['spec']['ssh']): string {
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
