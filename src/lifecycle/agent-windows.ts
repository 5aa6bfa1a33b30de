import type { PlannedArtifact } from '../contract/component-plan.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { agentSetup, revertService } from '../plan/windows/agent-setup.ts'
import type { Brought, Remote, WindowsSide } from '../ssh/remote.ts'
import { type AnswerTo, type Callee, callHost } from '../ssh/windows/call-host.ts'
import type { Carried, Installed, InstallOptions, OwnRelease } from './agent-install.ts'
import { decideAgent } from './agent-release.ts'
import { calleeOn } from './host-program.ts'

/** Brings our program to a Windows host, and has it make itself the host's agent, where it is not yet. */
export async function installOnWindows(
  remote: Remote,
  windows: WindowsSide,
  release: OwnRelease,
  refuse: (found: string) => HyperkubeError,
  { signal, onProgress, trial, setup, carried }: InstallOptions & { readonly trial: number },
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
  const planned = agentSetup(setup, version)
  const beside = await bringBeside(windows, planned.artifact, carried, signal)
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
    ...planned,
    ...(beside === undefined ? {} : { beside: beside.name }),
    revert: revertService(setup, found ?? version, trial),
  } as const
  const { onTrial } = await callHost(callee, ask, 'installed', signal)
  // They are in their places, and not needed here any more.
  for (const one of [beside, brought]) await one?.remove(signal).catch(() => undefined)
  return { version, onTrial }
}

/** What starts an agent, next to the program: a host that fetches nothing has no other way to it. */
async function bringBeside(
  windows: WindowsSide,
  artifact: PlannedArtifact,
  carried: Carried | undefined,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly remove: Brought['remove'] } | undefined> {
  if (artifact.from !== 'url') return undefined
  const { name: title, version, sha256 } = artifact
  const bytes = await carried?.(sha256)
  if (bytes === undefined) return undefined
  const name = `${title}-${version}`
  const { remove } = await windows.bring({ bytes }, name, { mode: 0o600, sha256, signal })
  return { name, remove }
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
