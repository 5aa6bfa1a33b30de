import { HyperkubeError } from '../kit/errors.ts'
import { agentSetup, revertService } from '../plan/windows/agent-setup.ts'
import type { Remote, WindowsSide } from '../ssh/remote.ts'
import { type AnswerTo, type Callee, callHost } from '../ssh/windows/call-host.ts'
import type { Installed, InstallOptions, OwnRelease } from './agent-install.ts'
import { decideAgent } from './agent-release.ts'
import { calleeOn } from './own-program.ts'

/** Brings our program to a Windows host, and has it make itself the host's agent, where it is not yet. */
export async function installOnWindows(
  remote: Remote,
  windows: WindowsSide,
  release: OwnRelease,
  refuse: (found: string) => HyperkubeError,
  { signal, onProgress, trial, setup }: InstallOptions & { readonly trial: number },
): Promise<Installed> {
  const found = await windows.current(signal)
  const decision = decideAgent(release.version, found)
  if (decision === 'refuse') throw refuse(found ?? '')
  if (found !== undefined && (decision === 'keep' || found === release.version)) {
    const seen = await lookAt(remote, decision, signal)
    if (seen?.running === true) return { version: found, onTrial: seen.onTrial }
    if (decision === 'keep') {
      await callHost(await calleeOn(remote, signal), { type: 'start' }, 'done', signal)
      return { version: found, onTrial: seen?.onTrial ?? false }
    }
  }
  const { version, file, sha256 } = release
  if (setup === undefined) throw new Error('nobody has said what starts an agent on Windows')
  const upload = { mode: 0o755, sha256, signal, onProgress }
  const brought = await windows.bring({ path: file }, `hyperkube-${version}.exe`, upload)
  const callee: Callee = {
    host: remote.host,
    base: windows.base,
    program: brought.program,
    open: async (argv, options) => remote.open(argv, options),
  }
  const ask = {
    type: 'install',
    version,
    sha256,
    ...agentSetup(setup, version),
    revert: revertService(setup, found ?? version, trial),
  } as const
  const { onTrial } = await callHost(callee, ask, 'installed', signal)
  // It has put itself in its place, and is not needed here any more.
  await brought.remove(signal).catch(() => undefined)
  return { version, onTrial }
}

/** One of this very release that cannot even say how it is, is brought anew. */
async function lookAt(
  remote: Remote,
  decision: 'keep' | 'install',
  signal: AbortSignal,
): Promise<AnswerTo<'look'> | undefined> {
  try {
    return await callHost(await calleeOn(remote, signal), { type: 'look' }, 'look', signal)
  } catch (error) {
    if (decision === 'keep' || !(error instanceof HyperkubeError) || error.code !== 'HOST_CALL_FAILED')
      throw error
    return undefined
  }
}

export async function keepOnWindows(remote: Remote, signal: AbortSignal): Promise<void> {
  await callHost(await calleeOn(remote, signal), { type: 'keep' }, 'done', signal)
}
