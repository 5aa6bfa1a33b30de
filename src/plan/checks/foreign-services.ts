import { otherNodeServices } from '../../contract/windows-host.ts'
import { isNode } from '../context.ts'
import { listFlooredComponents } from '../reserved-resources.ts'
import { hostError, hostWarning, type LinuxCheck, type WindowsCheck } from './check.ts'

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

/**
 * Finds foreign services that have the name of a hyperkube service or belong to a node of another cluster.
 */
export const checkWindowsServices: WindowsCheck = (subject) => {
  const ownServices: readonly string[] = listFlooredComponents(subject)
  const nodeServices: readonly string[] = otherNodeServices
  return subject.system.foreignServices.flatMap((name) => {
    const hint = `Stop-Service ${name}; sc.exe delete ${name}; then remove what it came with`
    if (ownServices.includes(name)) {
      const message = `there is a service ${name} on the host that hyperkube did not make`
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
  const message = 'Docker runs here too: Kubernetes knows nothing of its containers, nor of what they take'
  const hint = 'Stop-Service docker; Set-Service docker -StartupType Disabled'
  return [hostWarning(subject, 'HOST_WINDOWS_DOCKER', message, { hint })]
}
