import { flooredComponents } from '../reserved-resources.ts'
import { isNode } from '../context.ts'
import { error, type LinuxCheck, warning } from './check.ts'

/** Services that have the name of one of ours. One that this host shall not run is in nobody's way. */
export const foreignServices: LinuxCheck = (subject) => {
  const ours: readonly string[] = flooredComponents(subject)
  return subject.system.foreignServices.flatMap((service) => {
    const name = service.replace(/\.service$/, '')
    if (!ours.includes(name)) return []
    const message = `there is a service ${name} on the host that hyperkube did not make`
    const hint = `systemctl disable --now ${name}, and remove the package that it came with`
    return [error(subject, 'HOST_SERVICE_TAKEN', message, { hint, component: name })]
  })
}

export const docker: LinuxCheck = (subject) => {
  if (!isNode(subject) || !subject.system.firewalls.includes('docker')) return []
  const message = 'Docker runs here too: Kubernetes knows nothing of its containers, nor of what they take'
  return [warning(subject, 'HOST_DOCKER', message, { hint: 'systemctl disable --now docker.socket docker' })]
}
