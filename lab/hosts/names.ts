import { join } from 'node:path'
import { formatIpv6 } from '../../src/kit/ipv6.ts'

/**
 * Directory of all labs. Everything a lab creates can be found by a name from this file, so `down` can clean
 * up after an interrupted run.
 */
export const labsDirectory = '/var/lib/hyperkube-lab'

export function labDirectory(lab: string): string {
  return join(labsDirectory, lab)
}

/**
 * Directory with one symbolic link per used network number. The link points to the name of the lab that owns
 * the number.
 */
export const networksDirectory = join(labsDirectory, '.networks')

/**
 * Name of a lab's bridge and nft table on the machine that runs the lab, and prefix of the IDs of its hosts.
 */
export function networkName(network: number): string {
  return `hk${network}`
}

/** Name of a host's network namespace, veth device and cgroups on the machine that runs the lab. */
export function formatHostId(network: number, host: string): string {
  return `${networkName(network)}-${host}`
}

/**
 * A host name has at most nine characters: a network interface name has at most 15, and the prefix `hk255-`
 * takes six.
 */
const hostNamePattern = /^[a-z][a-z0-9]{0,8}$/

export function isHostName(name: string): boolean {
  return hostNamePattern.test(name)
}

export function isLabName(name: string): boolean {
  return /^[a-z][a-z0-9-]{0,30}$/.test(name)
}

export function gatewayAddress(network: number): string {
  return `10.210.${network}.1`
}

/** Address of a host. Hosts are numbered from 1, and addresses below .11 are reserved for the lab itself. */
export function hostAddress(network: number, index: number): string {
  return `10.210.${network}.${10 + index}`
}

/** Returns the IPv6 address that belongs to an IPv4 address of a lab: 10.210.3.17 becomes fd00:10:210:3::17. */
export function toIpv6Address(address: string): string {
  const [first = '', second = '', network = '', host = ''] = address.split('.')
  const groups = ['fd00', first, second, network, '0', '0', '0', host]
  return formatIpv6(groups.map((group) => Number.parseInt(group, 16)))
}
