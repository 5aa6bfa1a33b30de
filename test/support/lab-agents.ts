import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { type ConnectedAgents, connectAgents } from '../../src/lifecycle/connected-agents.ts'
import { connectBuiltIn } from '../../src/ssh/connect-built-in.ts'
import { resolveSshRoute } from '../../src/ssh/ssh-route.ts'
import { noSshConfig } from '../../src/ssh/ssh-config.ts'

/** Installs the agent of this source tree on lab hosts and opens a session to each, as commands do. */
export async function connectLabAgents(
  hosts: readonly Host[],
  signal: AbortSignal,
): Promise<ConnectedAgents> {
  const directory = await mkdtemp(join(tmpdir(), 'agents-'))
  try {
    const file = inject('executable')
    const sha256 = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
    const keyFiles = new Map(hosts.map(({ name, ssh }) => [name, ssh.keyFile]))
    const agents = await connectAgents(
      hosts.map(({ name, address }) => ({
        name,
        address,
        os: 'linux',
        local: false,
        roles: ['worker'],
        labels: {},
        files: [],
      })),
      {
        connect: async ({ name, address }, connectSignal) => {
          const ssh = { user: 'root', key: keyFiles.get(name) }
          const operator = { user: 'root', home: directory, directory }
          const route = resolveSshRoute({ name, address, ssh }, {}, noSshConfig, operator)
          return connectBuiltIn(route, { signal: connectSignal, verify: () => 'first-use' })
        },
        release: async () => ({ version: `0.0.0-${sha256.slice(0, 8)}`, file, sha256 }),
        emit: () => undefined,
        signal,
      },
    )
    for (const error of agents.unreachable.values()) throw error
    return agents
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
