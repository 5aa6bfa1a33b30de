import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Document, parseDocument, stringify } from 'yaml'
import { z } from 'zod'
import { runProgram } from '../../../src/kit/command.ts'
import { buildTestLock } from '../../../src/plan/testing/fixtures.ts'
import { generateTestKeyPair } from '../../../src/ssh/testing/host-keys.ts'
import { type MeteredRun, runMetered } from './metered-process.ts'

const kubernetes = '1.37.1'
const controlPlanes = 3

/** A cluster of simulated hosts, and the functions with which a test acts as its operator. */
export interface ScaleCluster extends AsyncDisposable {
  /** Runs a command of hyperkube in a process of its own and measures it. */
  hyperkube(...args: readonly string[]): Promise<MeteredRun>
  /** Changes cluster.yml. */
  edit(change: (document: Document) => void): Promise<void>
}

/**
 * Writes cluster.yml, identity and lock for `workers` workers, and starts the process that simulates all
 * hosts.
 */
export async function createScaleCluster(
  program: readonly [string, ...string[]],
  workers: number,
): Promise<ScaleCluster> {
  const stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'operator-scale-'))
  stack.defer(async () => rm(directory, { recursive: true, force: true }))
  const [operatorKey, hostKey] = [generateTestKeyPair('ed25519'), generateTestKeyPair('ed25519')]
  const [keyFile, hostKeyFile] = [join(directory, 'operator.key'), join(directory, 'host.key')]
  await writeFile(keyFile, operatorKey.private, { mode: 0o600 })
  await writeFile(hostKeyFile, hostKey.private, { mode: 0o600 })
  const file = join(directory, 'cluster.yml')
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory, HYPERKUBE_FILE: file }
  // The port is chosen here, because cluster.yml must contain it before the simulator starts and reads this
  // file.
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  const hosts = buildHosts(workers, port)
  await writeFile(file, stringify(buildDocument(hosts, keyFile)))
  await writeFile(join(directory, 'cluster.lock'), stringify(buildTestLock(kubernetes)))
  await mkdir(join(directory, '.ssh'))
  const known = hosts.map(({ address }) => `[${address}]:${port} ${hostKey.public}\n`)
  await writeFile(join(directory, '.ssh/known_hosts'), known.join(''))
  try {
    await runProgram([...program, 'init'], { env })
    const simulator = fork(join(import.meta.dirname, 'simulator.ts'), [directory, hostKeyFile, String(port)])
    stack.defer(async () => stop(simulator))
    const [report] = await once(simulator, 'message', { signal: AbortSignal.timeout(120_000) })
    z.object({ port: z.literal(port) }).parse(report)
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
  return {
    hyperkube: async (...args) => runMetered([...program, ...args], env),
    async edit(change) {
      const document = parseDocument(await readFile(file, 'utf8'))
      change(document)
      await writeFile(file, document.toString())
    },
    [Symbol.asyncDispose]: async () => stack.disposeAsync(),
  }
}

async function stop(simulator: ChildProcess): Promise<void> {
  if (simulator.exitCode !== null) return
  const ended = once(simulator, 'exit')
  simulator.disconnect()
  await ended
}

interface SimulatedHost {
  readonly name: string
  readonly address: string
  readonly internalAddress: string
  readonly roles: readonly string[]
  readonly ssh: { readonly user: string; readonly port: number }
}

/**
 * Builds the hosts. Each has its own loopback address, and one ssh server serves all of them, because all of
 * 127.0.0.0/8 is this machine.
 */
function buildHosts(workers: number, port: number): SimulatedHost[] {
  return Array.from({ length: controlPlanes + workers }, (_, index) => {
    const isControlPlane = index < controlPlanes
    const name = isControlPlane ? `cp${index + 1}` : `w${String(index - controlPlanes + 1).padStart(5, '0')}`
    const end = `${index >> 8}.${index & 255}`
    return {
      ...{ name, address: `127.1.${end}`, internalAddress: `172.16.${end}` },
      roles: [isControlPlane ? 'control-plane' : 'worker'],
      ssh: { user: name, port },
    }
  })
}

function buildDocument(hosts: readonly SimulatedHost[], key: string): object {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'scale' },
    spec: {
      kubernetes,
      // This pod network has room for 8192 nodes.
      network: { pods: '10.32.0.0/11' },
      ...{ dns: 'none', metrics: 'none', ingress: 'none', storage: 'none' },
      rollout: { maxUnavailable: '10%' },
      ssh: { key },
      hosts,
    },
  }
}
