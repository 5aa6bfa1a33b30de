import { type Ask, failed, unknown, well } from './probe-runner.ts'
import type { ProbeEdges } from './probe-deps.ts'

/** Whether a network of Windows is there, and of the right kind. */
export function askHnsNetwork({ networks }: Pick<ProbeEdges, 'networks'>): Ask<'hns-network'> {
  return async ({ name, type }) => {
    if (networks === undefined) return unknown('only Windows has such networks')
    const found = await networks()
    if (found === undefined) return failed('OVERLAY_NETWORK', 'HNS does not answer')
    const there = found.find((network) => network.name === name)
    if (there === undefined) return failed('OVERLAY_NETWORK', `there is no network ${name}`)
    return there.type === type ? well : failed('OVERLAY_NETWORK', `${name} is ${there.type}, and not ${type}`)
  }
}
