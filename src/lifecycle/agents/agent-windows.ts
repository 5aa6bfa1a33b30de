import type { PlannedArtifact } from '../../contract/component-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { buildRevertService, planAgentSetup } from '../../plan/windows/hyperkube-agent.ts'
import type { Remote, UploadedProgram, WindowsRemoteOperations } from '../../ssh/remote.ts'
import { callHost, type HostCallResponseOf, type HostCallTarget } from '../../ssh/windows/call-host.ts'
import {
  type AgentInstallOptions,
  type AgentRelease,
  decideAgent,
  type InstalledAgent,
  type ReadBundledFile,
} from './agent-release.ts'
import { findHostProgram } from './host-program.ts'

/**
 * Uploads hyperkube to a Windows host and lets it install itself as the agent. A compatible agent that
 * already runs is kept.
 */
export async function installOnWindows(
  remote: Remote,
  windows: WindowsRemoteOperations,
  release: AgentRelease,
  refuse: (found: string) => HyperkubeError,
  {
    signal,
    onProgress,
    rollbackAfterMs,
    setup,
    readBundledFile,
  }: AgentInstallOptions & { readonly rollbackAfterMs: number },
): Promise<InstalledAgent> {
  const found = await windows.readCurrentVersion(signal)
  const decision = decideAgent(release.version, found)
  if (decision === 'refuse') throw refuse(found ?? '')
  if (found !== undefined && (decision === 'keep' || found === release.version)) {
    const state = await readAgentState(remote, decision, signal)
    if (state?.running === true) return { version: found, provisional: state.provisional }
    if (decision === 'keep') {
      await callHost(await findHostProgram(remote, signal), { type: 'start' }, 'done', signal)
      return { version: found, provisional: state?.provisional ?? false }
    }
  }
  const { version, file, sha256 } = release
  if (setup === undefined) throw new Error('the setup of the Windows agent is missing')
  const upload = { mode: 0o755, sha256, signal, onProgress }
  const uploaded = await windows.installProgram({ path: file }, `hyperkube-${version}.exe`, upload)
  const planned = planAgentSetup(setup, version)
  const runner = await uploadRunner(windows, planned.artifact, readBundledFile, signal)
  const callee: HostCallTarget = {
    host: remote.host,
    base: windows.base,
    program: uploaded.program,
    open: async (argv, options) => remote.open(argv, options),
  }
  const request = {
    type: 'install',
    version,
    sha256,
    ...planned,
    ...(runner === undefined ? {} : { beside: runner.name }),
    rollback: buildRevertService(setup, found ?? version, rollbackAfterMs),
  } as const
  const { provisional } = await callHost(callee, request, 'installed', signal)
  // The agent has copied the uploaded files to their final paths, so the uploads are removed.
  for (const temporary of [runner, uploaded]) await temporary?.remove(signal).catch(() => undefined)
  return { version, provisional }
}

/** Uploads the service runner if it is in the bundle, so that the host does not download it. */
async function uploadRunner(
  windows: WindowsRemoteOperations,
  artifact: PlannedArtifact,
  carried: ReadBundledFile | undefined,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly remove: UploadedProgram['remove'] } | undefined> {
  if (artifact.from !== 'url') return undefined
  const { name: title, version, sha256 } = artifact
  const bytes = await carried?.(sha256)
  if (bytes === undefined) return undefined
  const name = `${title}-${version}`
  const { remove } = await windows.installProgram({ bytes }, name, { mode: 0o600, sha256, signal })
  return { name, remove }
}

/**
 * Reads the state of the installed agent. If this agent will be replaced anyway and cannot report its state,
 * returns undefined.
 */
async function readAgentState(
  remote: Remote,
  decision: 'keep' | 'install',
  signal: AbortSignal,
): Promise<HostCallResponseOf<'status'> | undefined> {
  try {
    return await callHost(await findHostProgram(remote, signal), { type: 'status' }, 'status', signal)
  } catch (error) {
    if (decision === 'keep' || !(error instanceof HyperkubeError) || error.code !== 'HOST_CALL_FAILED')
      throw error
    return undefined
  }
}

export async function confirmOnWindows(remote: Remote, signal: AbortSignal): Promise<void> {
  await callHost(await findHostProgram(remote, signal), { type: 'keep' }, 'done', signal)
}
