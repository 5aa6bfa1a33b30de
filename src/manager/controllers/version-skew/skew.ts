/** How the version of a kubelet relates to that of the API server. */
export type VersionSkew = 'supported' | 'newer' | 'too-old' | 'unknown'

/** Kubernetes supports kubelets that are at most this many minor versions older. */
const maxMinorsBehind = 3

/** Versions look like v1.37.1. */
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
