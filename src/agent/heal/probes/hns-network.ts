import { type ProbeRunner, failedResult, unknownResult, healthyResult } from './probe-runner.ts'
import type { ProbeDeps } from './probe-deps.ts'

/** Checks whether an HNS network exists and has the expected type. */
export function createHnsNetworkProbe({ networks }: Pick<ProbeDeps, 'networks'>): ProbeRunner<'hns-network'> {
  return async ({ name, type }) => {
    if (networks === undefined) return unknownResult('only Windows has such networks')
    const found = await networks()
    if (found === undefined) return failedResult('OVERLAY_NETWORK', 'HNS does not answer')
    const match = found.find((network) => network.name === name)
    if (match === undefined) return failedResult('OVERLAY_NETWORK', `there is no network ${name}`)
    return match.type === type
      ? healthyResult
      : failedResult('OVERLAY_NETWORK', `${name} is ${match.type}, and not ${type}`)
  }
}
