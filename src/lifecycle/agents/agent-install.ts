import { posix } from 'node:path'
import type { Arch, Os } from '../../catalog/artifacts.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { buildLinuxAgentService } from '../../plan/linux/hyperkube-agent.ts'
import { hyperkubeProgram, linuxProgramDirectory } from '../../plan/linux/paths.ts'
import type { ExecResult, Remote } from '../../ssh/remote.ts'
import {
  type AgentInstallOptions,
  type AgentRelease,
  decideAgent,
  type InstalledAgent,
} from './agent-release.ts'
import { agentUnit, buildSwitchCommand, confirmAgentCommand, inspectAgentCommand } from './agent-switch.ts'
import { confirmOnWindows, installOnWindows } from './agent-windows.ts'

/**
 * Milliseconds until a host rolls back to its previous agent. Longer than the handshake timeout, so that a
 * slow agent can still be confirmed.
 */
const defaultRollbackAfterMs = 90_000

/**
 * Makes sure that a host runs a compatible agent: the version of this release or a slightly newer one. A new
 * agent is installed next to the previous one, without touching components. The next plan removes the
 * previous agent.
 */
export async function installAgent(
  remote: Remote,
  releaseFor: (arch: Arch, os: Os) => Promise<AgentRelease>,
  options: AgentInstallOptions,
): Promise<InstalledAgent> {
  const { signal, rollbackAfterMs = defaultRollbackAfterMs } = options
  if (remote.windows !== undefined) {
    // Kubernetes publishes Windows node binaries only for amd64, so Windows hosts need no other architecture.
    const windowsRelease = await releaseFor('amd64', 'windows')
    const refuse = (installed: string): HyperkubeError => buildTooNewError(remote, windowsRelease, installed)
    return installOnWindows(remote, remote.windows, windowsRelease, refuse, {
      ...options,
      rollbackAfterMs: rollbackAfterMs,
    })
  }
  const observed = await inspectAgent(remote, signal)
  const [machine = '', installed = '', active = '', rollback = '', gzip = ''] = observed.stdout.split('\n')
  const provisional = rollback !== ''
  const release = await releaseFor(toArch(machine, remote), 'linux')
  const found = parseVersion(installed)
  const decision = decideAgent(release.version, found)
  if (decision === 'refuse') throw buildTooNewError(remote, release, found ?? '')
  if (decision === 'keep' && found !== undefined) {
    if (active !== 'active') requireStarted(remote, await remote.exec(restartCommand, { signal, root: true }))
    return { version: found, provisional }
  }
  const directory = linuxProgramDirectory('hyperkube', release.version)
  if (installed === directory && active === 'active') return { version: release.version, provisional }
  await uploadRelease(remote, release, directory, gzip !== '', options)
  await switchAgent(remote, directory, installed, rollbackAfterMs, signal)
  return { version: release.version, provisional: provisional || installed !== '' }
}

/** Time to inspect a host, in milliseconds. It is long, because a slow host may need several seconds for sudo. */
const inspectTimeoutMs = 60_000

/**
 * Inspects the agent of a host. A host whose disk hangs may still accept logins, but starts no program. It then
 * counts as unreachable, so that a command for the other hosts does not wait for it.
 */
async function inspectAgent(remote: Remote, signal: AbortSignal): Promise<ExecResult> {
  const { host } = remote
  return remote
    .exec(inspectAgentCommand, { signal, root: true, timeout: inspectTimeoutMs })
    .catch((error: unknown) => {
      if (!hasCode(error, 'TIMED_OUT')) throw error
      const message = `the host accepts ssh logins, but runs no command within ${formatDuration(inspectTimeoutMs)}`
      throw new HyperkubeError('TIMED_OUT', message, {
        host,
        hint: 'check its disk and its load on its console; restart it if its disk hangs',
      })
    })
}

const arches: Readonly<Record<string, Arch>> = { x86_64: 'amd64', aarch64: 'arm64' }

function toArch(machine: string, { host }: Remote): Arch {
  const arch = arches[machine]
  if (arch !== undefined) return arch
  throw new HyperkubeError('HOST_ARCH', `hyperkube has no binaries for the architecture ${machine}`, {
    host,
    hint: 'use a host with x86_64 or aarch64',
  })
}

const restartCommand = ['systemctl', 'restart', agentUnit] as const

async function uploadRelease(
  remote: Remote,
  { file, sha256, compress }: AgentRelease,
  directory: string,
  hasGzip: boolean,
  { signal, onProgress }: AgentInstallOptions,
): Promise<void> {
  const target = `${directory}/${posix.basename(hyperkubeProgram)}`
  await remote.exec(['mkdir', '-p', directory], { signal, root: true })
  const path = hasGzip ? await compress() : file
  const isCompressed = hasGzip
  await remote.upload({ path }, target, { mode: 0o755, sha256, isCompressed, signal, root: true, onProgress })
}

async function switchAgent(
  remote: Remote,
  directory: string,
  previous: string,
  rollback: number,
  signal: AbortSignal,
): Promise<void> {
  const service = buildLinuxAgentService()
  const input = service.supervisor === 'systemd' ? service.unit : ''
  const argv = buildSwitchCommand(directory, previous, rollback / 1000)
  requireStarted(remote, await remote.exec(argv, { signal, root: true, input }))
}

function requireStarted({ host }: Remote, { code, stderr }: ExecResult): void {
  if (code === 0) return
  throw new HyperkubeError('AGENT_NOT_STARTED', `the agent did not start: ${stderr.trim()}`, {
    host,
    hint: `on the host: journalctl -u ${agentUnit}`,
  })
}

function parseVersion(directory: string): string | undefined {
  const [, version] = /\/hyperkube-([^/]+)$/.exec(directory) ?? []
  return version
}

function buildTooNewError({ host }: Remote, { version }: AgentRelease, found: string): HyperkubeError {
  return new HyperkubeError(
    'AGENT_TOO_NEW',
    `the agent is hyperkube ${found}, which is too new for this hyperkube ${version}`,
    {
      host,
      hint: `on this machine use hyperkube ${found.replace(/-[^-]*$/, '')}, or a release of the minor version before it`,
    },
  )
}

/** Confirms a new agent, which cancels its rollback. Called after the agent has answered. */
export async function confirmAgent(remote: Remote, signal: AbortSignal): Promise<void> {
  if (remote.windows === undefined) await remote.exec(confirmAgentCommand, { signal, root: true })
  else await confirmOnWindows(remote, signal)
}
