import type { Op } from '../../contract/op.ts'

/** Components that other hosts have to reach. */
const reached: ReadonlySet<string> = new Set(['etcd', 'kube-apiserver', 'kubelet', 'flanneld'])

/** The hosts that get one of these for the first time: what they are to reach, and by whom, nobody has tried yet. */
export function freshHosts(ops: ReadonlyMap<string, readonly Op[]>): ReadonlySet<string> {
  const isFirst = ({ target, action, component }: Op): boolean =>
    target === 'service' && action === 'create' && reached.has(component)
  return new Set([...ops].filter(([, own]) => own.some(isFirst)).map(([host]) => host))
}
