/** What a kubelet may say of its own node among the names that belong to Kubernetes. */
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
 * Whether a node may give itself a label. What is not among these is set for it through the API, or a node that was
 * taken over could make itself a control plane.
 */
export function mayLabelItself(key: string): boolean {
  const prefix = key.includes('/') ? key.slice(0, key.indexOf('/')) : ''
  const reserved = /(^|\.)(kubernetes|k8s)\.io$/.test(prefix)
  return (
    !reserved ||
    allowedKeys.has(key) ||
    allowedPrefixes.some((one) => prefix === one || prefix.endsWith(`.${one}`))
  )
}
