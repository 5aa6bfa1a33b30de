import { error, type SystemCheck, warning } from './check.ts'

/** Hosts that cannot be told apart. Said of all but the first, which may stay as it is. */
export const twins: SystemCheck = (subject) => [...clones(subject), ...namesakes(subject)]

const clones: SystemCheck = (subject) => {
  const { host, system, firstOfMachine } = subject
  const first = firstOfMachine.get(system.machineId)
  // A host without an id says nothing about whose copy it is.
  if (system.machineId === '' || first === undefined || first === host.name) return []
  const message = `it has the machine id of ${first}: one is a copy of the other`
  const hint =
    system.os === 'linux'
      ? 'on the copy: rm -f /etc/machine-id /var/lib/dbus/machine-id && systemd-machine-id-setup && reboot'
      : 'on the copy: sysprep /generalize /oobe /reboot'
  return [error(subject, 'HOST_CLONED', message, { hint })]
}

const namesakes: SystemCheck = (subject) => {
  const { host, system, firstOfHostname } = subject
  const first = firstOfHostname.get(system.hostname.toLowerCase())
  if (first === undefined || first === host.name) return []
  const message = `it calls itself ${system.hostname}, and so does ${first}`
  const hint =
    system.os === 'linux'
      ? `on the host: hostnamectl set-hostname ${host.name}`
      : `on the host: Rename-Computer -NewName ${host.name} -Restart`
  return [warning(subject, 'HOST_NAME_TWICE', message, { hint })]
}
