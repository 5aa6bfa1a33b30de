import { otherNodeServices } from '../../contract/windows-services.ts'
import { listFlooredComponents } from '../reserved-resources.ts'
import { hostError, type WindowsCheck, hostWarning } from './check.ts'

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
