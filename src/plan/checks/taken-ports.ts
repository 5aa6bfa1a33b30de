import type { Finding } from '../../contract/finding.ts'
import { error, type SystemCheck, type SystemSubject, warning } from './check.ts'
import { type Port, portsOf } from './ports.ts'

/** Ports that our components need and that somebody else listens on. */
export const takenPorts: SystemCheck = (subject) => {
  const needed = new Map(
    portsOf(subject)
      .filter(({ protocol }) => protocol === 'tcp')
      .map((port) => [port.port, port]),
  )
  // A program that listens for each family of addresses is in the list more than once.
  const said = new Set<string>()
  return subject.system.listeners.flatMap(({ port: number, process }) => {
    const port = needed.get(number)
    if (port === undefined || isOwn(port.component, process)) return []
    const key = `${number} ${process}`
    if (said.has(key)) return []
    said.add(key)
    return [taken(subject, port, process)]
  })
}

function taken(subject: SystemSubject, { port, component }: Port, process: string | undefined): Finding {
  const look =
    subject.system.os === 'linux'
      ? `ss -ltnp 'sport = :${port}'`
      : `Get-NetTCPConnection -State Listen -LocalPort ${port}`
  if (process === undefined) {
    // It may be our own: a running cluster must not be stopped over what could not be seen.
    const message = `something listens on port ${port}, which ${component} needs`
    return warning(subject, 'HOST_PORT_TAKEN', message, { hint: look, component })
  }
  const message = `${process} listens on port ${port}, which ${component} needs`
  const hint = `on the host: ${look} shows which one; stop it${elsewhere[component] ?? ''}`
  return error(subject, 'HOST_PORT_TAKEN', message, { hint, component })
}

/** What can listen somewhere else. */
const elsewhere: Readonly<Record<string, string>> = {
  'kube-apiserver': ', or set spec.api.port',
  traefik: ', or set spec.ingress to other ports, or to none',
}

/** Components whose program is hyperkube itself. */
const ourPrograms: ReadonlySet<string> = new Set(['apiserver-proxy', 'hyperkube-controller-manager'])

/** By the name of the program; on Windows it has an ending. */
function isOwn(component: string, process: string | undefined): boolean {
  const name = process?.replace(/\.exe$/i, '')
  return name === (ourPrograms.has(component) ? 'hyperkube' : component)
}
