import { buildWindowsPaths } from '../../contract/host-paths.ts'
import type { Argv } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { hyperkubeProgram } from '../../plan/linux/paths.ts'
import type { Remote } from '../../ssh/remote.ts'
import type { HostCallTarget } from '../../ssh/windows/call-host.ts'

/**
 * Builds a command line for hyperkube on a host. On Windows the path contains the version, which is read from
 * a file on the host.
 */
export async function buildHostCommand(
  remote: Remote,
  args: readonly string[],
  signal: AbortSignal,
): Promise<Argv> {
  if (remote.windows === undefined) return [hyperkubeProgram, ...args]
  return [(await findHostProgram(remote, signal)).program, ...args]
}

/** Finds the hyperkube program on a Windows host, for calls that do not use the agent. */
export async function findHostProgram(remote: Remote, signal: AbortSignal): Promise<HostCallTarget> {
  const { host, windows } = remote
  const version = await windows?.readCurrentVersion(signal)
  if (windows === undefined || version === undefined) throw buildNotInstalledError(host)
  const { base } = windows
  const program = buildWindowsPaths(base).program(version)
  return { host, base, program, open: async (argv, options) => remote.open(argv, options) }
}

export function buildNotInstalledError(host: string): HyperkubeError {
  return new HyperkubeError('AGENT_NOT_THERE', 'hyperkube is not installed on the host', {
    host,
    hint: 'hyperkube up',
  })
}

/** Returns a hint that tells the operator how to check the agent on the host. */
export function formatAgentHint({ windows }: Remote): string {
  return windows === undefined
    ? 'on the host: systemctl status hyperkube-agent'
    : 'on the host: sc.exe query hyperkube-agent'
}
