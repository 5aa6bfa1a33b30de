import type { Seen } from '../probe-result.ts'

/** Some questions have answers that mean more than that a server is not well: who is asked what, and the code for which. */
const meanings: readonly (readonly [
  component: string,
  probe: string,
  of: readonly string[],
  code: string,
])[] = [
  ['etcd', 'readyz', ['HEALTH_UNWELL'], 'ETCD_NO_QUORUM'],
  ['kube-apiserver', 'readyz', ['HEALTH_UNWELL'], 'API_NOT_READY'],
  ['apiserver-proxy', 'api', ['HEALTH_UNWELL', 'HEALTH_NO_ANSWER'], 'API_NOT_REACHED'],
]

/** What was seen, by the code that says the most about it. */
export function meaningOf(component: string, probe: string, seen: Seen): Seen {
  if (seen.state !== 'failed' || seen.code === undefined) return seen
  const { code } = seen
  const meaning = meanings.find(([who, what, of]) => who === component && what === probe && of.includes(code))
  return meaning === undefined ? seen : { ...seen, code: meaning[3] }
}
