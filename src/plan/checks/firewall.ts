import type { Finding } from '../../contract/finding.ts'
import { isNode } from '../context.ts'
import { type LinuxCheck, type SystemSubject, hostWarning } from './check.ts'
import { type RequiredPort, listRequiredPorts } from './ports.ts'

/** Warns about active firewall managers. The hint contains the commands that open the required ports. */
export const checkFirewall: LinuxCheck = (subject) => {
  const ports = listRequiredPorts(subject).filter(({ from }) => from === 'hosts')
  const pods = isNode(subject) ? subject.cluster.spec.network.pods : []
  return subject.system.firewalls.flatMap((name) => {
    const command = name === 'docker' ? undefined : firewallCommands[name](ports, pods)
    return command === undefined ? [] : [activeFirewall(subject, name, command)]
  })
}

type FirewallCommand = (ports: readonly RequiredPort[], pods: readonly string[]) => string

/** Commands for each firewall manager that allow traffic to these ports and traffic of pods. */
export const firewallCommands: Readonly<Record<'firewalld' | 'ufw', FirewallCommand>> = {
  firewalld: (ports, pods) =>
    [
      [
        'firewall-cmd --permanent',
        ...ports.map(({ port, protocol }) => `--add-port=${port}/${protocol}`),
      ].join(' '),
      // Pod traffic is forwarded, so port rules do not allow it.
      ...pods.map((network) => `firewall-cmd --permanent --zone=trusted --add-source=${network}`),
      'firewall-cmd --reload',
    ].join(' && '),
  ufw: (ports, pods) =>
    [
      ...ports.map(({ port, protocol }) => `ufw allow ${port}/${protocol}`),
      ...pods.flatMap((network) => [
        `ufw allow from ${network}`,
        `ufw route allow from ${network}`,
        `ufw route allow to ${network}`,
      ]),
    ].join(' && '),
}

function activeFirewall(subject: SystemSubject, name: string, hint: string): Finding {
  const message = `${name} is active and must let the other hosts in`
  return hostWarning(subject, 'HOST_FIREWALL', message, { hint })
}
