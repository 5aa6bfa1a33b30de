import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { createIdentity, type Identity } from '../../../src/identity/identity.ts'
import { privateFiles } from '../../../src/identity/private-files.ts'
import { createKeyFile, writeIdentity } from '../../../src/identity/store.ts'
import { buildTestLock } from '../../../src/plan/testing/fixtures.ts'
import { generateTestKeyPair } from '../../../src/ssh/testing/host-keys.ts'
import { type MeteredRun, runMetered } from '../operator-scale/metered-process.ts'

const kubernetes = '1.37.1'

/** A fleet of simulated clusters, and the functions with which a test acts as its operator. */
export interface SimulatedFleet extends AsyncDisposable {
  readonly directory: string
  readonly names: readonly string[]
  /** Path of fleet.yml. */
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  /** Runs a command of hyperkube in a process of its own and measures it. */
  hyperkube(...args: readonly string[]): Promise<MeteredRun>
  /** Makes a cluster fail when it is changed, or repairs it. */
  setBroken(name: string, isBroken: boolean): Promise<void>
  /** Reads the saved state of the last run. */
  readRun(): Promise<unknown>
}

/** Writes a fleet of `count` clusters with one host each, and starts the process that simulates all hosts. */
export async function createSimulatedFleet(
  program: readonly [string, ...string[]],
  count: number,
): Promise<SimulatedFleet> {
  const stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'fleet-'))
  stack.defer(async () => rm(directory, { recursive: true, force: true }))
  const [operatorKey, hostKey] = [generateTestKeyPair('ed25519'), generateTestKeyPair('ed25519')]
  const [keyFile, hostKeyFile] = [join(directory, 'operator.key'), join(directory, 'host.key')]
  await writeFile(keyFile, operatorKey.private, { mode: 0o600 })
  await writeFile(hostKeyFile, hostKey.private, { mode: 0o600 })
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  const names = Array.from({ length: count }, (_, index) => `c${String(index + 1).padStart(3, '0')}`)
  const file = join(directory, 'fleet.yml')
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory }
  await writeFile(file, stringify(buildFleet(keyFile)))
  await mkdir(join(directory, 'hyperkube/keys'), { recursive: true, mode: 0o700 })
  // All clusters have the same keys, because creating keys for 200 clusters takes minutes.
  const identity = await createIdentity('simulated', new Date())
  for (const [index, name] of names.entries())
    await writeCluster(directory, { ...identity, metadata: { ...identity.metadata, name } }, index, port)
  await mkdir(join(directory, '.ssh'))
  await mkdir(join(directory, 'broken'))
  const known = names.map((_, index) => `[127.1.${index >> 8}.${index & 255}]:${port} ${hostKey.public}\n`)
  await writeFile(join(directory, '.ssh/known_hosts'), known.join(''))
  try {
    const simulator = fork(join(import.meta.dirname, 'fleet-simulator.ts'), [
      directory,
      hostKeyFile,
      String(port),
    ])
    stack.defer(async () => stop(simulator))
    await once(simulator, 'message', { signal: AbortSignal.timeout(300_000) })
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
  return {
    ...{ directory, names, file, env },
    hyperkube: async (...args) =>
      runMetered([...program, ...args, ...(args[0] === 'fleet' ? ['-f', file] : [])], env),
    async setBroken(name, isBroken) {
      const marker = join(directory, 'broken', name)
      if (isBroken) await writeFile(marker, '')
      else await rm(marker, { force: true })
    },
    readRun: async () =>
      JSON.parse(await readFile(join(directory, 'hyperkube/fleets/simulated/up.json'), 'utf8')),
    [Symbol.asyncDispose]: async () => stack.disposeAsync(),
  }
}

async function stop(simulator: ChildProcess): Promise<void> {
  if (simulator.exitCode !== null) return
  const ended = once(simulator, 'exit')
  simulator.disconnect()
  await ended
}

/** All clusters inherit how they are reached and which addons they lack. */
function buildFleet(key: string): object {
  return {
    ...{ apiVersion: 'hyperkube.dev/v1', kind: 'Fleet', metadata: { name: 'simulated' } },
    spec: {
      clusters: ['clusters/*/cluster.yml'],
      defaults: [
        { values: { dns: 'none', metrics: 'none', ingress: 'none', storage: 'none', ssh: { key } } },
      ],
      rollout: { waves: [1, '10%', '50%', '100%'] },
    },
  }
}

async function writeCluster(
  directory: string,
  identity: Identity,
  index: number,
  port: number,
): Promise<void> {
  const { name } = identity.metadata
  const end = `${index >> 8}.${index & 255}`
  const own = join(directory, 'clusters', name)
  const host = {
    ...{ name: 'cp1', address: `127.1.${end}`, internalAddress: `172.16.${end}` },
    ...{ roles: ['control-plane', 'worker'], ssh: { user: name, port } },
  }
  const cluster = {
    ...{ apiVersion: 'hyperkube.dev/v1', kind: 'Cluster' },
    metadata: { name, fleet: '../../fleet.yml', labels: { region: index % 2 === 0 ? 'eu' : 'us' } },
    spec: { kubernetes, hosts: [host] },
  }
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'cluster.yml'), stringify(cluster))
  await writeFile(join(own, 'cluster.lock'), stringify(buildTestLock(kubernetes)))
  const keyPath = join(directory, `hyperkube/keys/${name}.key`)
  const key = await createKeyFile(privateFiles(), keyPath)
  await writeIdentity(privateFiles(), join(own, 'cluster.identity'), identity, key)
}
