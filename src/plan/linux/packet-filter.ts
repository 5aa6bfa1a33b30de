import type { LinuxSystemFacts } from '../context.ts'

/** First kernel version on which kube-proxy accepts nftables. */
export const firstNftablesKernel = '5.13'

export function hasNftables({ kernel, programs }: LinuxSystemFacts): boolean {
  return kernel.nftables && programs.includes('nft')
}

export function hasIptables({ kernel, programs }: LinuxSystemFacts): boolean {
  return kernel.iptables && programs.includes('iptables')
}

export function isOldForNftables({ kernel }: LinuxSystemFacts): boolean {
  const [major = 0, minor = 0] = kernel.release.split(/[^\d]/).map(Number)
  const [firstMajor = 0, firstMinor = 0] = firstNftablesKernel.split('.').map(Number)
  return major < firstMajor || (major === firstMajor && minor < firstMinor)
}

/** Selects the mode of kube-proxy for `mode: auto`. */
export function selectProxyMode(system: LinuxSystemFacts): 'nftables' | 'iptables' {
  return hasNftables(system) && !isOldForNftables(system) ? 'nftables' : 'iptables'
}
