import type { Seen } from '../probe-result.ts'
import { type Ask, failed, well } from './probe-runner.ts'
import type { ProbeEdges } from './probe-deps.ts'

type Network = Pick<ProbeEdges, 'files' | 'addresses'>

/** Whether a network interface is there and up. */
export function askInterface(network: Network): Ask<'interface'> {
  return async ({ name }) => lookAtInterface(network, name)
}

/** Not by /sys, which in a container may be that of another network. */
export async function lookAtInterface({ files, addresses }: Network, name: string): Promise<Seen> {
  if (addresses(name).length > 0) return well
  const lines = (await files.read('/proc/net/dev'))?.toString('utf8').split('\n') ?? []
  return lines.some((line) => line.trimStart().startsWith(`${name}:`))
    ? failed('OVERLAY_INTERFACE', `the interface ${name} is down, or has no address`)
    : failed('OVERLAY_INTERFACE', `there is no interface ${name}`)
}
