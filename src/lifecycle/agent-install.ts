import { posix } from 'node:path'
import type { Arch, Os } from '../catalog/artifact-target.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { agentService } from '../plan/linux/hyperkube-agent.ts'
import { ownProgram, programDirectory } from '../plan/linux/paths.ts'
import type { RunnerScene } from '../plan/windows/runner.ts'
import type { ExecResult, Remote } from '../ssh/remote.ts'
import { decideAgent } from './agent-release.ts'
import { agentUnit, changeAgent, keepNewAgent, lookAtAgent } from './agent-switch.ts'
import { installOnWindows, keepOnWindows } from './agent-windows.ts'

/** hyperkube itself, as it is brought to hosts. */
export interface OwnRelease {
  /** With the beginning of its digest, so that two builds of one version are two. */
  readonly version: string
  readonly file: string
  readonly sha256: string
}

export interface InstallOptions {
  readonly signal: AbortSignal
  readonly onProgress: (sent: number, size: number) => void
  /** How long a new agent may take to answer until the host goes back to the former one, in milliseconds. */
  readonly trial?: number
  /** What a Windows host's agent is planned from. */
  readonly setup?: RunnerScene | undefined
  readonly carried?: Carried | undefined
}

/** A file that we have at hand, by its sha256, for hosts that shall not fetch it; nothing where they fetch for themselves. */
export type Carried = (sha256: string) => Promise<Uint8Array | undefined>

/** Longer than we wait for an answer. */
const usualTrial = 90_000

/** The agent of a host. */
export interface Installed {
  readonly version: string
  /** Whether the host goes back to another one unless it is told to keep this. */
  readonly onTrial: boolean
}

/**
 * Makes sure that a host runs an agent that understands us: that of this release, or one that is a little newer. A new one
 * is put beside the former, and no component is touched; the former goes with the next plan.
 */
export async function installAgent(
  remote: Remote,
  releaseFor: (arch: Arch, os: Os) => Promise<OwnRelease>,
  options: InstallOptions,
): Promise<Installed> {
  const { signal, trial: lasts = usualTrial } = options
  if (remote.windows !== undefined) {
    // There are no programs of a node for any other Windows.
    const brought = await releaseFor('amd64', 'windows')
    const refuse = (there: string): HyperkubeError => tooNew(remote, brought, there)
    return installOnWindows(remote, remote.windows, brought, refuse, { ...options, trial: lasts })
  }
  const seen = await remote.exec(lookAtAgent, { signal, root: true })
  const [machine = '', there = '', active = '', trial = ''] = seen.stdout.split('\n')
  const onTrial = trial !== ''
  const release = await releaseFor(archOf(machine, remote), 'linux')
  const found = versionIn(there)
  const decision = decideAgent(release.version, found)
  if (decision === 'refuse') throw tooNew(remote, release, found ?? '')
  if (decision === 'keep' && found !== undefined) {
    if (active !== 'active') check(remote, await remote.exec(start, { signal, root: true }))
    return { version: found, onTrial }
  }
  const directory = programDirectory('hyperkube', release.version)
  if (there === directory && active === 'active') return { version: release.version, onTrial }
  await bring(remote, release, directory, options)
  await change(remote, directory, there, lasts, signal)
  return { version: release.version, onTrial: onTrial || there !== '' }
}

const arches: Readonly<Record<string, Arch>> = { x86_64: 'amd64', aarch64: 'arm64' }

function archOf(machine: string, { host }: Remote): Arch {
  const arch = arches[machine]
  if (arch !== undefined) return arch
  throw new HyperkubeError('HOST_ARCH', `hyperkube has no programs for ${machine}`, {
    host,
    hint: 'hosts are x86_64 or aarch64',
  })
}

const start = ['systemctl', 'restart', agentUnit] as const

async function bring(
  remote: Remote,
  { file, sha256 }: OwnRelease,
  directory: string,
  { signal, onProgress }: InstallOptions,
): Promise<void> {
  const target = `${directory}/${posix.basename(ownProgram)}`
  await remote.exec(['mkdir', '-p', directory], { signal, root: true })
  await remote.upload({ path: file }, target, { mode: 0o755, sha256, signal, root: true, onProgress })
}

async function change(
  remote: Remote,
  directory: string,
  former: string,
  trial: number,
  signal: AbortSignal,
): Promise<void> {
  const service = agentService()
  const input = service.supervisor === 'systemd' ? service.unit : ''
  const argv = changeAgent(directory, former, trial / 1000)
  check(remote, await remote.exec(argv, { signal, root: true, input }))
}

function check({ host }: Remote, { code, stderr }: ExecResult): void {
  if (code === 0) return
  throw new HyperkubeError('AGENT_NOT_STARTED', `its agent did not start: ${stderr.trim()}`, {
    host,
    hint: `on the host: journalctl -u ${agentUnit}`,
  })
}

function versionIn(directory: string): string | undefined {
  const [, version] = /\/hyperkube-([^/]+)$/.exec(directory) ?? []
  return version
}

function tooNew({ host }: Remote, { version }: OwnRelease, found: string): HyperkubeError {
  return new HyperkubeError('AGENT_TOO_NEW', `its agent is hyperkube ${found}, and this is ${version}`, {
    host,
    hint: `use hyperkube ${found.replace(/-[^-]*$/, '')}, or one minor before it`,
  })
}

/** Somebody has spoken with the new agent: the host need not go back. */
export async function keepAgent(remote: Remote, signal: AbortSignal): Promise<void> {
  if (remote.windows === undefined) await remote.exec(keepNewAgent, { signal, root: true })
  else await keepOnWindows(remote, signal)
}
