import type { LinuxFacts } from '../context.ts'

/** The first kernel that kube-proxy takes with nftables. */
export const firstNftablesKernel = '5.13'

export function hasNftables({ kernel, programs }: LinuxFacts): boolean {
  return kernel.nftables && programs.includes('nft')
}

export function hasIptables({ kernel, programs }: LinuxFacts): boolean {
  return kernel.iptables && programs.includes('iptables')
}

export function isOldForNftables({ kernel }: LinuxFacts): boolean {
  const [major = 0, minor = 0] = kernel.release.split(/[^\d]/).map(Number)
  const [firstMajor = 0, firstMinor = 0] = firstNftablesKernel.split('.').map(Number)
  return major < firstMajor || (major === firstMajor && minor < firstMinor)
}

/** How kube-proxy rewrites packets where nobody says. */
export function bestProxyMode(system: LinuxFacts): 'nftables' | 'iptables' {
  return hasNftables(system) && !isOldForNftables(system) ? 'nftables' : 'iptables'
}
