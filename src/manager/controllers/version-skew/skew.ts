/** How a kubelet's version goes with that of the API server. */
export type Skew = 'supported' | 'newer' | 'too-old' | 'unknown'

/** So many minor versions a kubelet may be behind, says Kubernetes. */
const behind = 3

/** Versions as both say it: v1.37.1. */
export function skewOf(kubelet: string, server: string): Skew {
  const [theirs, ours] = [minorOf(kubelet), minorOf(server)]
  if (theirs === undefined || ours === undefined) return 'unknown'
  if (theirs > ours) return 'newer'
  return theirs < ours - behind ? 'too-old' : 'supported'
}

function minorOf(version: string): number | undefined {
  const [, minor] = /^v1\.(\d+)\./.exec(version) ?? []
  return minor === undefined ? undefined : Number(minor)
}
