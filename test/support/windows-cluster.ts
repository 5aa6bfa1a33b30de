import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, inject } from 'vitest'
import { stringify } from 'yaml'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Machine } from '../../lab/hosts/machine.ts'
import { clusterDocument } from '../../lab/hyperkube/cluster-document.ts'
import { user } from '../../lab/windows/paths.ts'
import { layStandIns } from '../../lab/windows/placeholder-artifacts.ts'
import { lookAtWindows, upWindows } from '../../lab/windows/start-hosts.ts'
import { privateFiles } from '../../src/identity/private-files.ts'
import { readIdentity, readKeyFile } from '../../src/identity/store.ts'
import { type CommandResult, run } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { clientOf } from './client-certificate.ts'
import { freshLab } from './lab.ts'
import { labMirror } from './lab-mirror.ts'

/** A cluster of one control plane, one Linux worker and two hosts that are taken for Windows. */
export interface WindowsCluster {
  readonly linux: readonly Host[]
  readonly windows: readonly Host[]
  readonly api: KubeApi
  /** How the Windows hosts were before anything was put on them. */
  readonly before: ReadonlyMap<string, unknown>
  readonly must: (code: number, ...words: readonly string[]) => Promise<CommandResult>
  /** As they are now. */
  readonly look: () => Promise<ReadonlyMap<string, unknown>>
}

/** There from the first test of a suite to its last one; `up` has been said once. */
export function windowsCluster(name: string, versions: readonly [string, ...string[]]): () => WindowsCluster {
  const stack = new AsyncDisposableStack()
  let cluster: WindowsCluster | undefined
  beforeAll(async () => {
    cluster = await begin(name, versions, stack)
    await cluster.must(0, 'up', '--yes')
  }, 1_200_000)
  afterAll(async () => stack.disposeAsync())
  return () => {
    if (cluster === undefined) throw new Error('the cluster is not up yet')
    return cluster
  }
}

async function begin(
  name: string,
  [kubernetes, ...later]: readonly [string, ...string[]],
  stack: AsyncDisposableStack,
): Promise<WindowsCluster> {
  const lab = await freshLab(name)
  stack.defer(async () => lab.down())
  const directory = await mkdtemp(join(tmpdir(), 'windows-'))
  stack.defer(async () => rm(directory, { recursive: true, force: true }))
  const over = join(directory, 'mirror')
  await layStandIns(over, [kubernetes, ...later])
  const mirror = await labMirror(lab, { over })
  stack.defer(async () => mirror.close())
  await layRelease()
  const linux = await lab.up(['cp1', 'w1'])
  const windows = await upWindows(lab, ['win1', 'win2'])
  const look = async (): Promise<ReadonlyMap<string, unknown>> =>
    new Map(await settleAll(windows.map(async (host) => [host.name, await lookAtWindows(host)] as const)))
  const before = await look()
  const file = join(directory, 'cluster.yml')
  await writeFile(file, stringify(documentOf(kubernetes, mirror.address, linux, windows)))
  const env = { XDG_CONFIG_HOME: directory, XDG_STATE_HOME: directory, HOME: directory }
  const must: WindowsCluster['must'] = async (code, ...words) => {
    const result = await run([inject('executable'), ...words, '-f', file], { env, allowFailure: true })
    if (result.code === code) return result
    throw new Error(`${words.join(' ')} ended with ${result.code}: ${result.stderr}${result.stdout}`)
  }
  await must(0, 'init')
  await must(0, 'lock')
  const api = await adminOf(directory, linux)
  stack.defer(() => api.close())
  return { linux, windows, api, before, must, look }
}

/** What Windows hosts get of us is never run there: any file will do, as long as it is always the same. */
async function layRelease(): Promise<void> {
  const file = join(dirname(inject('executable')), 'hyperkube-windows-x64.exe')
  await writeFile(file, 'MZ hyperkube for Windows'.repeat(50_000))
}

function documentOf(
  kubernetes: string,
  mirror: string,
  linux: readonly Machine[],
  windows: readonly Machine[],
): object {
  const all = structuredClone(clusterDocument(kubernetes.replace(/^v/, ''), mirror, linux))
  const hosts = windows.map(({ name, address }) => ({
    name,
    address,
    os: 'windows',
    roles: ['worker'],
    ssh: { user },
  }))
  if (!('spec' in all) || typeof all.spec !== 'object' || all.spec === null) throw new Error('it has no spec')
  const spec = all.spec
  const known: unknown = 'hosts' in spec ? spec.hosts : []
  const merged = [...(Array.isArray(known) ? known : []), ...hosts]
  // The simulated hosts have a route to where a cloud tells them about themselves, which a switch takes away.
  return { ...all, spec: { ...spec, hosts: merged, windows: { cloud: 'gcp' } } }
}

async function adminOf(directory: string, [any]: readonly Machine[]): Promise<KubeApi> {
  const key = await readKeyFile(privateFiles(), join(directory, 'hyperkube/keys/lab.key'))
  const identity = await readIdentity(privateFiles(), join(directory, 'cluster.identity'), key)
  const admin = await clientOf(identity, 'kubernetes', 'test', ['hyperkube:admins'])
  return new KubeApi(`https://${any?.address}:6443`, admin)
}

/** Changes a file of a Windows host, as somebody does who cannot leave things alone. */
export async function spoil(host: Host, path: string): Promise<string> {
  const at = `/${path.replaceAll('\\', '/')}`
  await host.script(`echo '# by hand' >> '${at}'`)
  return at
}

export async function textOn(host: Host, path: string): Promise<string> {
  return (await host.exec(['cat', path])).stdout
}
