import type { Finding } from '../../contract/finding.ts'
import { quorumSize } from '../../kit/quorum.ts'
import { type Cluster, etcdHosts } from '../../spec/cluster.ts'
import type { HostSpec } from '../../spec/host.ts'
import { readInternalAddress } from '../topology.ts'
import { type HostCheck, hostError, type HostSubject, hostWarning } from './check.ts'

/** Reports a host without facts, or with another operating system than in cluster.yml. */
export const checkPresence: HostCheck = (subject) => {
  const { host, index, facts } = subject
  const hostFacts = facts.get(host.name)
  if (hostFacts === undefined) return checkAbsence(subject)
  const { os } = hostFacts.system
  if (os === host.os) return []
  const message = `os is ${host.os} in cluster.yml, but the host runs ${os}`
  return [
    hostError(subject, 'HOST_OTHER_OS', message, { hint: `os: ${os}`, path: `spec.hosts[${index}].os` }),
  ]
}

/**
 * Reports a host without facts. For a worker the finding is a warning, and the rollout leaves the worker out.
 * For a control plane or etcd member it is a warning only if a majority is reachable and cluster.yml gives
 * the host's address. The plans of other hosts need this address.
 */
function checkAbsence(subject: HostSubject): Finding[] {
  const { host, cluster, facts } = subject
  const details = host.local ? {} : { hint: formatSshCommand(host, cluster.spec.ssh) }
  if (host.roles.every((role) => role === 'worker')) {
    const message = 'the host has no facts, and is skipped until it is reachable'
    return [hostWarning(subject, 'HOST_NO_FACTS', message, details)]
  }
  const message = 'the host has no facts, and the cluster cannot be planned without it'
  const needed = hostError(subject, 'HOST_NO_FACTS', message, details)
  const reason = describeLostMajority(subject)
  // If no host is reachable, a finding about the quorum would hide the real problem.
  if (reason !== undefined && facts.size === 0) return [needed]
  if (reason !== undefined) {
    return [
      needed,
      hostError(subject, 'PLAN_NO_QUORUM', reason, {
        hint: 'when more than half are reachable: hyperkube up; if they are lost permanently: hyperkube etcd recover',
      }),
    ]
  }
  if (readInternalAddress(host) === undefined) return [needed, unknownAddress(subject)]
  const skippedMessage = 'the host has no facts, and stays unchanged until it is reachable'
  return [hostWarning(subject, 'HOST_NO_FACTS', skippedMessage, details)]
}

function unknownAddress(subject: HostSubject): Finding {
  const message = 'the host is unreachable, and cluster.yml does not set the address that other hosts use'
  const hint = 'internalAddress: the IPv4 address of the host'
  return hostError(subject, 'HOST_NO_ADDRESS', message, { hint, path: `spec.hosts[${subject.index}]` })
}

/** Formats an ssh command that shows the operator why the host is unreachable. */
export function formatSshCommand(host: HostSpec, cluster: Cluster['spec']['ssh']): string {
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

/**
 * Describes the majority that is lost, or returns undefined if more than half of the host's peers are
 * reachable.
 */
function describeLostMajority({ host, cluster, facts }: HostSubject): string | undefined {
  const describeMinority = (hosts: readonly HostSpec[]): string | undefined => {
    const reachable = hosts.filter(({ name }) => facts.has(name)).length
    const isMember = hosts.some(({ name }) => name === host.name)
    return isMember && reachable < quorumSize(hosts.length) ? `${reachable} of ${hosts.length}` : undefined
  }
  const members = describeMinority(etcdHosts(cluster))
  if (members !== undefined) {
    return `etcd would have no quorum: ${members} members are reachable, and more than half are needed`
  }
  const servers = describeMinority(cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane')))
  if (servers === undefined) return undefined
  return `${servers} control planes are reachable: the operator lock needs more than half`
}
