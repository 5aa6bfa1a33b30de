/**
 * Reserved label prefixes that a kubelet may nevertheless set on its own node. `allowedKeys` are single
 * labels of this kind.
 */
const allowedPrefixes = ['kubelet.kubernetes.io', 'node.kubernetes.io']
const allowedKeys = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
])

/**
 * True if a kubelet may set this label on its own node. Other labels are set through the API; otherwise a
 * compromised node could label itself as a control plane.
 */
export function canNodeSetLabel(key: string): boolean {
  const prefix = key.includes('/') ? key.slice(0, key.indexOf('/')) : ''
  const reserved = /(^|\.)(kubernetes|k8s)\.io$/.test(prefix)
  return (
    !reserved ||
    allowedKeys.has(key) ||
    allowedPrefixes.some((one) => prefix === one || prefix.endsWith(`.${one}`))
  )
}
