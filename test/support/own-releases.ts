import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Host } from '../../lab/hosts/host.ts'
import { buildExecutable } from '../../scripts/executable.ts'
import { currentTarget } from '../../scripts/executable/runtime.ts'
import { readRelease } from '../../src/lifecycle/agents/release-file.ts'
import type { AgentRelease } from '../../src/lifecycle/agents/agent-release.ts'
import {
  type ConnectedAgents,
  type ConnectAgentsOptions,
  connectAgents,
} from '../../src/lifecycle/agents/connected-agents.ts'
import { connectBuiltIn } from '../../src/ssh/built-in-ssh.ts'
import { resolveSshRoute } from '../../src/ssh/ssh-route.ts'
import { noSshConfig } from '../../src/ssh/ssh-config.ts'

/** Builds hyperkube with the given version number. */
export async function buildRelease(version: string, directory: string): Promise<AgentRelease> {
  const releaseDirectory = join(directory, version)
  await mkdir(releaseDirectory)
  const file = await buildExecutable(currentTarget(), releaseDirectory, version)
  return readRelease(file, version, () => directory)
}

/** Creates a script that is installed as if it were hyperkube. */
export async function createFakeRelease(
  version: string,
  directory: string,
  script: string,
): Promise<AgentRelease> {
  const file = join(directory, `imposter-${version}`)
  await writeFile(file, script)
  return readRelease(file, version, () => directory)
}

/** Connects to a host and installs an agent, as every command does. */
export async function connectHost(
  host: Host,
  release: AgentRelease,
  options: Pick<ConnectAgentsOptions, 'signal' | 'rollbackAfterMs'>,
): Promise<ConnectedAgents> {
  const { name, address } = host
  const ssh = { user: 'root', key: host.ssh.keyFile }
  const route = resolveSshRoute({ name, address, ssh }, {}, noSshConfig, {
    user: '',
    home: '/',
    directory: '/',
  })
  const hostSpec = { name, address, os: 'linux', local: false, labels: {} } as const
  return connectAgents([{ ...hostSpec, roles: ['control-plane'], files: [] }], {
    connect: async (_, signal) => connectBuiltIn(route, { signal, verify: () => 'first-use' }),
    release: async () => release,
    emit: () => undefined,
    ...options,
  })
}
