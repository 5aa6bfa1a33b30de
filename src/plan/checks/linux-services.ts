import { listFlooredComponents } from '../reserved-resources.ts'
import { isNode } from '../context.ts'
import { hostError, type LinuxCheck, hostWarning } from './check.ts'

/**
 * Finds foreign services that have the name of a hyperkube service. Only services that this host will run are
 * checked.
 */
export const checkForeignServices: LinuxCheck = (subject) => {
  const ownServices: readonly string[] = listFlooredComponents(subject)
  return subject.system.foreignServices.flatMap((service) => {
    const name = service.replace(/\.service$/, '')
    if (!ownServices.includes(name)) return []
    const message = `there is a service ${name} on the host that hyperkube did not make`
    const hint = `systemctl disable --now ${name}, and remove the package that it came with`
    return [hostError(subject, 'HOST_SERVICE_TAKEN', message, { hint, component: name })]
  })
}

export const checkDocker: LinuxCheck = (subject) => {
  if (!isNode(subject) || !subject.system.firewalls.includes('docker')) return []
  const message = 'Docker runs here too: Kubernetes knows nothing of its containers, nor of what they take'
  return [
    hostWarning(subject, 'HOST_DOCKER', message, { hint: 'systemctl disable --now docker.socket docker' }),
  ]
}
