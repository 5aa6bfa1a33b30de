import { join } from 'node:path'

/**
 * Every name that the lab uses on the machine. Everything a lab creates can be found by name alone, so `down`
 * can clean up after an interrupted run.
 */
export const labsDirectory = '/var/lib/hyperkube-lab'

export function labDirectory(lab: string): string {
  return join(labsDirectory, lab)
}

/** Claims of network numbers: one link per number, pointing to the name of the lab that owns it. */
export const networksDirectory = join(labsDirectory, '.networks')

/** Name of a lab's bridge and nft table on the machine; also the prefix of all names of its hosts. */
export function networkName(network: number): string {
  return `hk${network}`
}

/** Name of a host's network namespace, veth device and cgroups on the machine. */
export function formatHostId(network: number, host: string): string {
  return `${networkName(network)}-${host}`
}

/** An interface name has at most 15 characters, and `hk255-` takes six. */
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

/** Hosts are numbered from 1; addresses below .11 are reserved for the lab itself. */
export function hostAddress(network: number, index: number): string {
  return `10.210.${network}.${10 + index}`
}
