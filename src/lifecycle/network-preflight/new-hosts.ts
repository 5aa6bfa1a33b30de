import type { Op } from '../../contract/op.ts'

/** Components that accept connections from other hosts. */
const serverComponents: ReadonlySet<string> = new Set(['etcd', 'kube-apiserver', 'kubelet', 'flanneld'])

/** Finds hosts that get a server component for the first time. Their connections have not been tested yet. */
export function findNewHosts(ops: ReadonlyMap<string, readonly Op[]>): ReadonlySet<string> {
  const isFirstInstall = ({ target, action, component }: Op): boolean =>
    target === 'service' && action === 'create' && serverComponents.has(component)
  return new Set([...ops].filter(([, hostOps]) => hostOps.some(isFirstInstall)).map(([host]) => host))
}
