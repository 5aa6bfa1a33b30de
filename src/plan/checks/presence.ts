import type { Finding } from '../../contract/finding.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Host } from '../../spec/host.ts'
import { error, type HostCheck, type HostSubject, warning } from './check.ts'

/** A host that nothing is known of, or that is not what cluster.yml says. */
export const presence: HostCheck = (subject) => {
  const { host, index, facts } = subject
  const found = facts.get(host.name)
  if (found === undefined) return [noFacts(subject)]
  const { os } = found.system
  if (os === host.os) return []
  const message = `cluster.yml says ${host.os}, but the host runs ${os}`
  return [error(subject, 'HOST_OTHER_OS', message, { hint: `os: ${os}`, path: `spec.hosts[${index}].os` })]
}

/** Others can do without a worker for a while; without a control plane or a member of etcd nothing fits together. */
function noFacts(subject: HostSubject): Finding {
  const { host, cluster } = subject
  const details = host.local ? {} : { hint: sshCommand(host, cluster.spec.ssh) }
  if (host.roles.every((role) => role === 'worker')) {
    const message = 'nothing is known of the host, so it is left out until it answers'
    return warning(subject, 'HOST_NO_FACTS', message, details)
  }
  const message = 'nothing is known of the host, and the cluster cannot be planned without it'
  return error(subject, 'HOST_NO_FACTS', message, details)
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
