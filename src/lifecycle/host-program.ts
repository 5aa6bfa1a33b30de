import { windowsPlaces } from '../contract/windows-paths.ts'
import type { Argv } from '../kit/command.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { ownProgram } from '../plan/linux/paths.ts'
import type { Remote } from '../ssh/remote.ts'
import type { Callee } from '../ssh/windows/call-host.ts'

/** How the hyperkube that a host has is called. On Windows nothing can lead to whichever that is: a file says which. */
export async function ownCommand(
  remote: Remote,
  words: readonly string[],
  signal: AbortSignal,
): Promise<Argv> {
  if (remote.windows === undefined) return [ownProgram, ...words]
  return [(await calleeOn(remote, signal)).program, ...words]
}

/** Our own program on a Windows host, for what is asked without its agent. */
export async function calleeOn(remote: Remote, signal: AbortSignal): Promise<Callee> {
  const { host, windows } = remote
  const version = await windows?.current(signal)
  if (windows === undefined || version === undefined) {
    throw new HyperkubeError('AGENT_NOT_THERE', 'hyperkube is not on the host', {
      host,
      hint: 'hyperkube up',
    })
  }
  const { base } = windows
  const program = windowsPlaces(base).program(version)
  return { host, base, program, open: async (argv, options) => remote.open(argv, options) }
}

/** What a person types there to see how the agent is. */
export function agentHint({ windows }: Remote): string {
  return windows === undefined
    ? 'on the host: systemctl status hyperkube-agent'
    : 'on the host: sc.exe query hyperkube-agent'
}
