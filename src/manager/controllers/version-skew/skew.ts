/** Relation of a kubelet's version to the API server's version. */
export type VersionSkew = 'supported' | 'newer' | 'too-old' | 'unknown'

/** Maximum number of minor versions that a kubelet may be older than the API server. */
const maxMinorsBehind = 3

/** Compares two versions such as v1.37.1. */
export function computeSkew(kubelet: string, server: string): VersionSkew {
  const [kubeletMinor, serverMinor] = [parseMinor(kubelet), parseMinor(server)]
  if (kubeletMinor === undefined || serverMinor === undefined) return 'unknown'
  if (kubeletMinor > serverMinor) return 'newer'
  return kubeletMinor < serverMinor - maxMinorsBehind ? 'too-old' : 'supported'
}

function parseMinor(version: string): number | undefined {
  const [, minor] = /^v1\.(\d+)\./.exec(version) ?? []
  return minor === undefined ? undefined : Number(minor)
}
