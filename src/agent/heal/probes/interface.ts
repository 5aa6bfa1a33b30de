import type { ProbeResult } from '../probe-result.ts'
import { type ProbeRunner, failedResult, healthyResult } from './probe-runner.ts'
import type { ProbeDeps } from './probe-deps.ts'

type InterfaceDeps = Pick<ProbeDeps, 'files' | 'addresses'>

/** Checks whether a network interface exists and is up. */
export function createInterfaceProbe(network: InterfaceDeps): ProbeRunner<'interface'> {
  return async ({ name }) => checkInterface(network, name)
}

/**
 * Checks whether an interface exists and is up. Does not use /sys, which may show another network namespace
 * in a container.
 */
export async function checkInterface(
  { files, addresses }: InterfaceDeps,
  name: string,
): Promise<ProbeResult> {
  if (addresses(name).length > 0) return healthyResult
  const lines = (await files.read('/proc/net/dev'))?.toString('utf8').split('\n') ?? []
  return lines.some((line) => line.trimStart().startsWith(`${name}:`))
    ? failedResult('OVERLAY_INTERFACE', `the interface ${name} is down, or has no address`)
    : failedResult('OVERLAY_INTERFACE', `there is no interface ${name}`)
}
