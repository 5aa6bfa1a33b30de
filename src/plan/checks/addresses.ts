import { isIP } from 'node:net'
import type { Finding } from '../../contract/finding.ts'
import { truncateList } from '../../kit/text.ts'
import { listInterfaceAddresses, resolveInternalAddress } from '../topology.ts'
import { hostError, hostWarning, isLoopback, type SystemCheck, type SystemSubject } from './check.ts'

/**
 * Checks that the address at which other hosts reach this host is known and belongs to one of its interfaces.
 */
export const checkOwnAddress: SystemCheck = (subject) => {
  const { host, facts, system } = subject
  const { interface: interfaceName } = host
  if (interfaceName !== undefined && listInterfaceAddresses(system, interfaceName).length === 0) {
    return [missingInterface(subject, interfaceName)]
  }
  const address = resolveInternalAddress(subject.cluster, host, facts.get(host.name))
  if (address === undefined || isLoopback(address)) return [missingAddress(subject, address)]
  const others = (subject.hostsByAddress.get(address) ?? []).filter((name) => name !== host.name)
  if (others.length > 0) return [duplicateAddress(subject, address, others)]
  if (system.addresses.some((one) => one.address === address)) return []
  const message = `no interface of the host has the address ${address}`
  const path = `spec.hosts[${subject.index}].internalAddress`
  return [hostError(subject, 'HOST_ADDRESS_NOT_THERE', message, { hint: suggestAddress(subject), path })]
}

/**
 * Reports an address that several hosts have. A host reports its own addresses, so a hostile host could
 * otherwise get a certificate for the address of another host.
 */
function duplicateAddress(subject: SystemSubject, address: string, others: readonly string[]): Finding {
  const message = `its address ${address} is also the address of ${truncateList(others, 10)}`
  const hint =
    'set internalAddress of each of these hosts; a host that reports a wrong address may be compromised'
  return hostError(subject, 'HOST_ADDRESS_DUPLICATE', message, { hint, path: `spec.hosts[${subject.index}]` })
}

function missingInterface(subject: SystemSubject, interfaceName: string): Finding {
  const { index, system } = subject
  const names = [...new Set(system.addresses.map((one) => one.interface))].filter((name) => name !== 'lo')
  const message = `the host has no interface ${interfaceName} with an address; it has ${names.join(', ') || 'none'}`
  const hint = `interface: ${system.defaultInterface ?? names[0] ?? 'eth0'}`
  return hostError(subject, 'HOST_NO_INTERFACE', message, { hint, path: `spec.hosts[${index}].interface` })
}

function missingAddress(subject: SystemSubject, loopback: string | undefined): Finding {
  const { host, index, system } = subject
  const name = host.interface ?? system.defaultInterface
  const reason =
    loopback !== undefined
      ? `${loopback} is a loopback address`
      : name === undefined
        ? 'the host has no default route'
        : `${name} has no IPv4 address`
  const message = `${reason}, so the other hosts cannot reach this host`
  return hostError(subject, 'HOST_NO_ADDRESS', message, {
    hint: suggestAddress(subject),
    path: `spec.hosts[${index}]`,
  })
}

/**
 * Suggests a value of `internalAddress` for cluster.yml, preferably an address of the configured or default
 * interface.
 */
function suggestAddress({ host, system }: SystemSubject): string {
  const usable = system.addresses.filter(({ address }) => isIP(address) === 4 && !isLoopback(address))
  const name = host.interface ?? system.defaultInterface
  const likely = usable.find((one) => one.interface === name) ?? usable[0]
  return `internalAddress: ${likely?.address ?? 'an IPv4 address of the host'}`
}

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
  const message = `it has the same machine id as ${first}: one is a clone of the other`
  const hint =
    system.os === 'linux'
      ? 'on the clone: rm -f /etc/machine-id /var/lib/dbus/machine-id && systemd-machine-id-setup && reboot'
      : 'on the clone: sysprep /generalize /oobe /reboot'
  return [hostError(subject, 'HOST_CLONED', message, { hint })]
}

const checkHostname: SystemCheck = (subject) => {
  const { host, system, firstHostByHostname } = subject
  const first = firstHostByHostname.get(system.hostname.toLowerCase())
  if (first === undefined || first === host.name) return []
  const message = `its host name ${system.hostname} is also the host name of ${first}`
  const hint =
    system.os === 'linux'
      ? `on the host: hostnamectl set-hostname ${host.name}`
      : `on the host: Rename-Computer -NewName ${host.name} -Restart`
  return [hostWarning(subject, 'HOST_NAME_DUPLICATE', message, { hint })]
}
