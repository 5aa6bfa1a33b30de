import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { type Crew, gather } from '../../src/lifecycle/connected-agents.ts'
import { connect } from '../../src/ssh/connect-built-in.ts'
import { resolveReach } from '../../src/ssh/ssh-route.ts'
import { noSshConfig } from '../../src/ssh/ssh-config.ts'

/** Hosts of the lab with the agent of this very tree on them, each in a session as commands have it. */
export async function labCrew(hosts: readonly Host[], signal: AbortSignal): Promise<Crew> {
  const directory = await mkdtemp(join(tmpdir(), 'crew-'))
  try {
    const file = inject('executable')
    const sha256 = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
    const keyFiles = new Map(hosts.map(({ name, ssh }) => [name, ssh.keyFile]))
    const crew = await gather(
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
        connect: async ({ name, address }, either) => {
          const ssh = { user: 'root', key: keyFiles.get(name) }
          const operator = { user: 'root', home: directory, directory }
          const reach = resolveReach({ name, address, ssh }, {}, noSshConfig, operator)
          return connect(reach, { signal: either, verify: () => 'first-use' })
        },
        release: async () => ({ version: `0.0.0-${sha256.slice(0, 8)}`, file, sha256 }),
        tell: () => undefined,
        signal,
      },
    )
    for (const error of crew.missing.values()) throw error
    return crew
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
