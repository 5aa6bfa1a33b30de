import { hostError, type SystemCheck, hostWarning } from './check.ts'

/** Finds hosts with the same machine id or hostname. Every such host except the first gets a finding. */
export const checkClonedHosts: SystemCheck = (subject) => [
  ...checkMachineId(subject),
  ...checkHostname(subject),
]

const checkMachineId: SystemCheck = (subject) => {
  const { host, system, firstHostByMachineId } = subject
  const first = firstHostByMachineId.get(system.machineId)
  // A host without a machine id cannot be compared.
  if (system.machineId === '' || first === undefined || first === host.name) return []
  const message = `it has the machine id of ${first}: one is a copy of the other`
  const hint =
    system.os === 'linux'
      ? 'on the copy: rm -f /etc/machine-id /var/lib/dbus/machine-id && systemd-machine-id-setup && reboot'
      : 'on the copy: sysprep /generalize /oobe /reboot'
  return [hostError(subject, 'HOST_CLONED', message, { hint })]
}

const checkHostname: SystemCheck = (subject) => {
  const { host, system, firstHostByHostname } = subject
  const first = firstHostByHostname.get(system.hostname.toLowerCase())
  if (first === undefined || first === host.name) return []
  const message = `it calls itself ${system.hostname}, and so does ${first}`
  const hint =
    system.os === 'linux'
      ? `on the host: hostnamectl set-hostname ${host.name}`
      : `on the host: Rename-Computer -NewName ${host.name} -Restart`
  return [hostWarning(subject, 'HOST_NAME_DUPLICATE', message, { hint })]
}
