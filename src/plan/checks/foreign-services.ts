import { otherNodeServices } from '../../contract/windows-host.ts'
import { isNode } from '../context.ts'
import { canReturnToRke1, replacesUnit } from '../linux/predecessors.ts'
import { listFlooredComponents } from '../reserved-resources.ts'
import { hostError, hostWarning, type LinuxCheck, type WindowsCheck } from './check.ts'

/**
 * Finds foreign services that have the name of a hyperkube service. Only names of services that this host
 * will run are checked. Services that hyperkube replaces on an adopted host are expected.
 */
export const checkForeignServices: LinuxCheck = (subject) => {
  const ownServices: readonly string[] = listFlooredComponents(subject)
  return subject.system.foreignServices.flatMap((service) => {
    const name = service.replace(/\.service$/, '')
    if (!ownServices.includes(name) || replacesUnit(subject, name)) return []
    const message = `the host has a service ${name} that hyperkube did not create`
    const hint = `systemctl disable --now ${name}; then remove its package`
    return [hostError(subject, 'HOST_SERVICE_TAKEN', message, { hint, component: name })]
  })
}

export const checkDocker: LinuxCheck = (subject) => {
  // A host of RKE1 needs Docker for a rollback.
  if (canReturnToRke1(subject) || !isNode(subject) || !subject.system.firewalls.includes('docker')) return []
  const message = 'Docker runs on the host: Kubernetes does not count the resources of its containers'
  return [
    hostWarning(subject, 'HOST_DOCKER', message, { hint: 'systemctl disable --now docker.socket docker' }),
  ]
}

/**
 * Finds foreign services that have the name of a hyperkube service or belong to a node of another cluster.
 */
export const checkWindowsServices: WindowsCheck = (subject) => {
  const ownServices: readonly string[] = listFlooredComponents(subject)
  const nodeServices: readonly string[] = otherNodeServices
  return subject.system.foreignServices.flatMap((name) => {
    const hint = `Stop-Service ${name}; sc.exe delete ${name}; then uninstall its product`
    if (ownServices.includes(name)) {
      const message = `the host has a service ${name} that hyperkube did not create`
      return [hostError(subject, 'HOST_WINDOWS_SERVICE_TAKEN', message, { hint, component: name })]
    }
    if (nodeServices.includes(name)) {
      const message = `the service ${name} makes the host a node of another cluster`
      return [hostError(subject, 'HOST_WINDOWS_OTHER_NODE', message, { hint })]
    }
    return []
  })
}

export const checkWindowsDocker: WindowsCheck = (subject) => {
  if (!subject.system.foreignServices.includes('docker')) return []
  const message = 'Docker runs on the host: Kubernetes does not count the resources of its containers'
  const hint = 'Stop-Service docker; Set-Service docker -StartupType Disabled'
  return [hostWarning(subject, 'HOST_WINDOWS_DOCKER', message, { hint })]
}
