import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, inject } from 'vitest'
import { stringify } from 'yaml'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Machine } from '../../lab/hosts/machine.ts'
import { buildClusterDocument } from '../../lab/hyperkube/cluster-document.ts'
import { writeKnownHosts } from '../../lab/hyperkube/known-hosts.ts'
import { loginUser } from '../../lab/windows/paths.ts'
import { writePlaceholderArtifacts } from '../../lab/windows/placeholder-artifacts.ts'
import { readMachineSummary, startWindowsHosts } from '../../lab/windows/start-hosts.ts'
import { privateFiles } from '../../src/identity/private-files.ts'
import { readIdentity, readKeyFile } from '../../src/identity/store.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { issueClientCertificate } from './client-certificate.ts'
import { openLabMirror } from './lab-mirror.ts'
import { openFreshLab } from './lab.ts'

/** A cluster with one control plane, one Linux worker and two simulated Windows hosts. */
export interface WindowsCluster {
  readonly linux: readonly Host[]
  readonly windows: readonly Host[]
  readonly api: KubeApi
  /** State of the Windows hosts before any change. */
  readonly before: ReadonlyMap<string, unknown>
  readonly must: (code: number, ...args: readonly string[]) => Promise<CommandResult>
  /** Reads the current state of the Windows hosts. */
  readonly observe: () => Promise<ReadonlyMap<string, unknown>>
}

/**
 * Creates the cluster before the first test of a suite, runs `up`, and removes the cluster after the last
 * test.
 */
export function setUpWindowsCluster(
  name: string,
  versions: readonly [string, ...string[]],
): () => WindowsCluster {
  const stack = new AsyncDisposableStack()
  let cluster: WindowsCluster | undefined
  beforeAll(async () => {
    cluster = await startCluster(name, versions, stack)
    await cluster.must(0, 'up', '--yes')
  }, 1_200_000)
  afterAll(async () => stack.disposeAsync())
  return () => {
    if (cluster === undefined) throw new Error('the cluster is not up yet')
    return cluster
  }
}

async function startCluster(
  name: string,
  [kubernetes, ...laterVersions]: readonly [string, ...string[]],
  stack: AsyncDisposableStack,
): Promise<WindowsCluster> {
  const lab = await openFreshLab(name)
  stack.defer(async () => lab.down())
  const directory = await mkdtemp(join(tmpdir(), 'windows-'))
  stack.defer(async () => rm(directory, { recursive: true, force: true }))
  const overlayDirectory = join(directory, 'mirror')
  await writePlaceholderArtifacts(overlayDirectory, [kubernetes, ...laterVersions])
  const mirror = await openLabMirror(lab, { overrides: overlayDirectory })
  stack.defer(async () => mirror.close())
  await writeFakeRelease()
  const linux = await lab.up(['cp1', 'w1'])
  const windows = await startWindowsHosts(lab, ['win1', 'win2'])
  const observe = async (): Promise<ReadonlyMap<string, unknown>> =>
    new Map(
      await settleAll(windows.map(async (host) => [host.name, await readMachineSummary(host)] as const)),
    )
  const before = await observe()
  const file = join(directory, 'cluster.yml')
  await writeFile(file, stringify(buildWindowsClusterDocument(kubernetes, mirror.address, linux, windows)))
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory, HYPERKUBE_FILE: file }
  const must: WindowsCluster['must'] = async (code, ...args) => {
    const result = await runProgram([inject('executable'), ...args], { env, allowFailure: true })
    if (result.code === code) return result
    throw new Error(`${args.join(' ')} ended with ${result.code}: ${result.stderr}${result.stdout}`)
  }
  await writeKnownHosts(directory, [...linux, ...windows])
  await must(0, 'init')
  await must(0, 'lock')
  const api = await openAdminApi(directory, linux)
  stack.defer(() => api.close())
  return { linux, windows, api, before, must, observe }
}

/** Writes a fake release for Windows. The simulated hosts never run it, so its content does not matter. */
async function writeFakeRelease(): Promise<void> {
  const file = join(dirname(inject('executable')), 'hyperkube-windows-x64.exe')
  await writeFile(file, 'MZ hyperkube for Windows'.repeat(50_000))
}

function buildWindowsClusterDocument(
  kubernetes: string,
  mirror: string,
  linux: readonly Machine[],
  windows: readonly Machine[],
): object {
  const document = structuredClone(buildClusterDocument(kubernetes.replace(/^v/, ''), mirror, linux))
  const hosts = windows.map(({ name, address }) => ({
    name,
    address,
    os: 'windows',
    roles: ['worker'],
    ssh: { user: loginUser },
  }))
  if (!('spec' in document) || typeof document.spec !== 'object' || document.spec === null)
    throw new Error('it has no spec')
  const spec = document.spec
  const existingHosts: unknown = 'hosts' in spec ? spec.hosts : []
  const merged = [...(Array.isArray(existingHosts) ? existingHosts : []), ...hosts]
  // With `cloud: gcp` hyperkube restores the route to cloud metadata that a virtual switch removes. The
  // simulated hosts have such a route.
  return { ...document, spec: { ...spec, hosts: merged, windows: { cloud: 'gcp' } } }
}

async function openAdminApi(directory: string, [anyHost]: readonly Machine[]): Promise<KubeApi> {
  const key = await readKeyFile(privateFiles(), join(directory, 'hyperkube/keys/lab.key'))
  const identity = await readIdentity(privateFiles(), join(directory, 'cluster.identity'), key)
  const admin = await issueClientCertificate(identity, 'kubernetes', 'test', ['hyperkube:admins'])
  return new KubeApi(`https://${anyHost?.address}:6443`, admin)
}

/** Changes a file of a Windows host, to cause drift. Returns its path on the lab host. */
export async function tamperWithFile(host: Host, path: string): Promise<string> {
  const linuxPath = `/${path.replaceAll('\\', '/')}`
  await host.script(`echo '# by hand' >> '${linuxPath}'`)
  return linuxPath
}

export async function readText(host: Host, path: string): Promise<string> {
  return (await host.exec(['cat', path])).stdout
}
