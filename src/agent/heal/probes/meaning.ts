import type { ProbeResult } from '../probe-result.ts'

/** Probes whose general failure codes have a more specific meaning. */
const specificCodes: readonly (readonly [
  component: string,
  probe: string,
  of: readonly string[],
  code: string,
])[] = [
  ['etcd', 'readyz', ['HEALTH_CHECK_FAILED'], 'ETCD_NO_QUORUM'],
  ['kube-apiserver', 'readyz', ['HEALTH_CHECK_FAILED'], 'API_NOT_READY'],
  ['apiserver-proxy', 'api', ['HEALTH_CHECK_FAILED', 'HEALTH_NO_RESPONSE'], 'API_UNREACHABLE'],
]

/** Replaces the code of a result with the most specific one. */
export function refineCode(component: string, probe: string, result: ProbeResult): ProbeResult {
  if (result.state !== 'unhealthy' || result.code === undefined) return result
  const { code } = result
  const match = specificCodes.find(
    ([ofComponent, ofProbe, codes]) => ofComponent === component && ofProbe === probe && codes.includes(code),
  )
  return match === undefined ? result : { ...result, code: match[3] }
}
