import type { Finding } from '../../contract/finding.ts'
import { hostError, type SystemCheck, type SystemSubject, hostWarning } from './check.ts'
import { type RequiredPort, listRequiredPorts } from './ports.ts'

/** Finds required TCP ports on which a foreign process listens. */
export const checkTakenPorts: SystemCheck = (subject) => {
  const needed = new Map(
    listRequiredPorts(subject)
      .filter(({ protocol }) => protocol === 'tcp')
      .map((port) => [port.port, port]),
  )
  // A process that listens on IPv4 and IPv6 has two listeners but gets one finding.
  const reported = new Set<string>()
  return subject.system.listeners.flatMap(({ port: number, process }) => {
    const port = needed.get(number)
    if (port === undefined || isOwnProcess(port.component, process)) return []
    const key = `${number} ${process}`
    if (reported.has(key)) return []
    reported.add(key)
    return [portTaken(subject, port, process)]
  })
}

function portTaken(
  subject: SystemSubject,
  { port, component }: RequiredPort,
  process: string | undefined,
): Finding {
  const inspectCommand =
    subject.system.os === 'linux'
      ? `ss -ltnp 'sport = :${port}'`
      : `Get-NetTCPConnection -State Listen -LocalPort ${port}`
  if (process === undefined) {
    // The unknown process may be the component itself, so this is only a warning: it must not block a running
    // cluster.
    const message = `something listens on port ${port}, which ${component} needs`
    return hostWarning(subject, 'HOST_PORT_TAKEN', message, { hint: inspectCommand, component })
  }
  const message = `${process} listens on port ${port}, which ${component} needs`
  const hint = `on the host: ${inspectCommand} shows which one; stop it${alternatives[component] ?? ''}`
  return hostError(subject, 'HOST_PORT_TAKEN', message, { hint, component })
}

/** Hints how to move a component to another port. */
const alternatives: Readonly<Record<string, string>> = {
  'kube-apiserver': ', or set spec.api.port',
  traefik: ', or set spec.ingress to other ports, or to none',
}

/** Components that run the hyperkube program. */
const hyperkubeComponents: ReadonlySet<string> = new Set(['apiserver-proxy', 'hyperkube-controller-manager'])

/** True if the process is the component itself. On Windows its name ends with .exe. */
function isOwnProcess(component: string, process: string | undefined): boolean {
  const name = process?.replace(/\.exe$/i, '')
  return name === (hyperkubeComponents.has(component) ? 'hyperkube' : component)
}
