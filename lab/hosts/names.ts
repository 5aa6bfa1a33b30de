import { join } from 'node:path'

/**
 * Every name the lab gives to anything on the machine. All that a lab makes can be found by name alone, so
 * that `down` cleans up after a run of which nothing but the traces is left.
 */
export const labsDirectory = '/var/lib/hyperkube-lab'

export function labDirectory(lab: string): string {
  return join(labsDirectory, lab)
}

/** Claims of network numbers: one file per number, holding the name of the lab that has it. */
export const networksDirectory = join(labsDirectory, '.networks')

/** The machine's name for a lab's bridge and nft table; also the prefix of all that belongs to its hosts. */
export function networkName(network: number): string {
  return `hk${network}`
}

/** The machine's name for a host's network namespace, its veth end and its cgroups. */
export function hostMark(network: number, host: string): string {
  return `${networkName(network)}-${host}`
}

/** An interface name has at most 15 characters, and `hk255-` takes six. */
const hostName = /^[a-z][a-z0-9]{0,8}$/

export function isHostName(name: string): boolean {
  return hostName.test(name)
}

export function isLabName(name: string): boolean {
  return /^[a-z][a-z0-9-]{0,30}$/.test(name)
}

export function gatewayAddress(network: number): string {
  return `10.210.${network}.1`
}

/** Hosts are numbered from 1; the addresses below .11 are left to the lab itself. */
export function hostAddress(network: number, index: number): string {
  return `10.210.${network}.${10 + index}`
}
