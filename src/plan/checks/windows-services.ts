import { otherNodeServices } from '../../contract/windows-services.ts'
import { flooredComponents } from '../reserved-resources.ts'
import { error, type WindowsCheck, warning } from './check.ts'

/** Services that bear the name of one of ours, or are another one's node. One that is in nobody's way is left alone. */
export const windowsServices: WindowsCheck = (subject) => {
  const ours: readonly string[] = flooredComponents(subject)
  const others: readonly string[] = otherNodeServices
  return subject.system.foreignServices.flatMap((name) => {
    const hint = `Stop-Service ${name}; sc.exe delete ${name}; then remove what it came with`
    if (ours.includes(name)) {
      const message = `there is a service ${name} on the host that hyperkube did not make`
      return [error(subject, 'HOST_WINDOWS_SERVICE_TAKEN', message, { hint, component: name })]
    }
    if (others.includes(name)) {
      const message = `the service ${name} makes the host a node of another cluster`
      return [error(subject, 'HOST_WINDOWS_OTHER_NODE', message, { hint })]
    }
    return []
  })
}

export const windowsDocker: WindowsCheck = (subject) => {
  if (!subject.system.foreignServices.includes('docker')) return []
  const message = 'Docker runs here too: Kubernetes knows nothing of its containers, nor of what they take'
  const hint = 'Stop-Service docker; Set-Service docker -StartupType Disabled'
  return [warning(subject, 'HOST_WINDOWS_DOCKER', message, { hint })]
}
