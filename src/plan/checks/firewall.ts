import type { Finding } from '../../contract/finding.ts'
import { isNode } from '../context.ts'
import { type LinuxCheck, type SystemSubject, warning } from './check.ts'
import { type Port, portsOf } from './ports.ts'

/** Managers of packets that know nothing of the cluster: what to tell them, ready to paste. */
export const firewall: LinuxCheck = (subject) => {
  const ports = portsOf(subject).filter(({ from }) => from === 'hosts')
  const pods = isNode(subject) ? subject.cluster.spec.network.pods : []
  return subject.system.firewalls.flatMap((name) => {
    const command = name === 'docker' ? undefined : opens[name](ports, pods)
    return command === undefined ? [] : [active(subject, name, command)]
  })
}

type Command = (ports: readonly Port[], pods: readonly string[]) => string

/** How to let in what comes to these ports, and the packets of pods. */
export const opens: Readonly<Record<'firewalld' | 'ufw', Command>> = {
  firewalld: (ports, pods) =>
    [
      [
        'firewall-cmd --permanent',
        ...ports.map(({ port, protocol }) => `--add-port=${port}/${protocol}`),
      ].join(' '),
      // Packets of pods pass through the host; no rule for a port lets them.
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

function active(subject: SystemSubject, name: string, hint: string): Finding {
  const message = `${name} is active and must let the other hosts in`
  return warning(subject, 'HOST_FIREWALL', message, { hint })
}
