import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Host } from '../../lab/hosts/host.ts'
import { buildExecutable, ownTarget } from '../../scripts/executable.ts'
import type { OwnRelease } from '../../src/lifecycle/agent-install.ts'
import { type Crew, type CrewOptions, gather } from '../../src/lifecycle/connected-agents.ts'
import { connect } from '../../src/ssh/connect-built-in.ts'
import { resolveReach } from '../../src/ssh/ssh-route.ts'
import { noSshConfig } from '../../src/ssh/ssh-config.ts'

/** hyperkube itself, as if it were of a version. */
export async function releaseOf(version: string, directory: string): Promise<OwnRelease> {
  const own = join(directory, version)
  await mkdir(own)
  return described(version, await buildExecutable(ownTarget(), own, version))
}

/** Something that is brought to hosts as if it were hyperkube. */
export async function imposter(version: string, directory: string, script: string): Promise<OwnRelease> {
  const file = join(directory, `imposter-${version}`)
  await writeFile(file, script)
  return described(version, file)
}

async function described(version: string, file: string): Promise<OwnRelease> {
  const sha256 = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  return { version: `${version}-${sha256.slice(0, 8)}`, file, sha256 }
}

/** As a command begins: reaches a host, and brings it an agent. */
export async function meet(
  host: Host,
  release: OwnRelease,
  options: Pick<CrewOptions, 'signal' | 'trial'>,
): Promise<Crew> {
  const { name, address } = host
  const ssh = { user: 'root', key: host.ssh.keyFile }
  const reach = resolveReach({ name, address, ssh }, {}, noSshConfig, { user: '', home: '/', directory: '/' })
  const wanted = { name, address, os: 'linux', local: false, labels: {} } as const
  return gather([{ ...wanted, roles: ['control-plane'], files: [] }], {
    connect: async (_, signal) => connect(reach, { signal, verify: () => 'first-use' }),
    release: async () => release,
    tell: () => undefined,
    ...options,
  })
}
