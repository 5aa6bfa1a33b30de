import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import type { PlannedArtifact } from '../../../src/contract/component-plan.ts'
import { type NodePlan, nodePlanFormat } from '../../../src/contract/node-plan.ts'
import { readVersioned } from '../../../src/contract/versioned.ts'
import { exists } from '../../../src/kit/files.ts'
import { run } from '../../../src/kit/command.ts'
import { type Authority, makeAuthority } from '../../../src/pki/ca.ts'
import { year } from '../../../src/pki/lifetime.ts'
import { signRequest } from '../../../src/pki/sign.ts'
import { certificateRequests } from '../../../src/agent/apply/certificate-requests.ts'
import type { WindowsHost } from '../../../src/agent/host/host.ts'
import { memoryFetch } from '../../../src/agent/host/testing/fake-downloader.ts'
import { directoryFiles } from './files/directory-files.ts'
import { epoch } from './instant.ts'
import { type SimulatedWindows, simulatedWindows, stateFile } from './simulated-windows.ts'

/** For tests: a simulated host with a whole plan of a Windows worker, all that the plan fetches, and who signs for it. */
export interface WindowsWorker extends SimulatedWindows, AsyncDisposable {
  readonly root: string
  readonly plan: NodePlan
  /** The same worker with another version of Kubernetes. */
  readonly upgraded: NodePlan
  sign(host: WindowsHost, plan: NodePlan): Promise<Map<string, string>>
  /** The same host as the next process finds it. */
  again(): Promise<SimulatedWindows>
}

const golden = join(import.meta.dirname, '../../../src/plan/testdata/windows/win1.yaml')
const former = '-----BEGIN CERTIFICATE-----\nkubernetes\n-----END CERTIFICATE-----\n'

/** As in a cloud. */
const metadata = '"metadata": ["169.254.169.254/32"]'

/** What is in archives, by the name of the artifact. */
const archives: Readonly<Record<string, readonly string[]>> = {
  containerd: ['bin/containerd.exe', 'bin/ctr.exe', 'bin/containerd-shim-runhcs-v1.exe'],
  'cni-plugins': ['host-local.exe', 'win-overlay.exe'],
  shawl: ['shawl.exe'],
}

/** What does not change with a host: it takes longest to make. */
export interface WindowsWorld {
  readonly authority: Authority
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly plan: NodePlan
  readonly upgraded: NodePlan
}

export async function windowsWorld(): Promise<WindowsWorld> {
  const authority = await makeAuthority('kubernetes', 10 * year, new Date(epoch))
  const files = new Map<string, Uint8Array>()
  const text = readFileSync(golden, 'utf8')
  const plan = await withArtifacts(planFrom(text, authority), files)
  const upgraded = await withArtifacts(planFrom(text.replaceAll('1.37.1', '1.37.2'), authority), files)
  return { authority, files, plan, upgraded }
}

/** A new host, or one as another is by now: a copy takes a tenth of the time that bringing it there does. */
export async function windowsWorker(world: WindowsWorld, like?: WindowsWorker): Promise<WindowsWorker> {
  const { authority, plan, upgraded } = world
  const root = await mkdtemp(join((await exists('/dev/shm')) ? '/dev/shm' : tmpdir(), 'windows-'))
  if (like !== undefined) await copyHost(like, root)
  const open = async (): Promise<SimulatedWindows> =>
    simulatedWindows({
      root,
      name: 'WIN1',
      address: plan.address,
      gateway: '192.168.1.1',
      fetch: (place) => memoryFetch(place, world.files),
      version: '0.1.0',
      executable: import.meta.filename,
      time: 'simulated',
    })
  return {
    ...(await open()),
    root,
    plan,
    upgraded,
    again: open,
    async sign(host, wanted) {
      const places = wanted.components.flatMap(({ certificates }) => certificates)
      const requests = Object.entries(await certificateRequests(host, wanted))
      const signed = requests.map(async ([path, request]) => {
        const wish = places.find(({ certificateFile }) => certificateFile === path)
        if (wish === undefined) throw new Error(`nobody has planned ${path}`)
        const { subject, names, usages, lifetime } = wish
        const asked = { subject, names, usages, lifetime }
        return [path, await signRequest(authority, request, asked, host.clock.now())] as const
      })
      return new Map(await Promise.all(signed))
    },
    [Symbol.asyncDispose]: async () => rm(root, { recursive: true, force: true }),
  }
}

/** Who is told apart by the number of a file is so by that of its copy. */
async function copyHost(like: WindowsWorker, root: string): Promise<void> {
  await like.save()
  await run(['cp', '-a', `${like.root}/.`, root])
  const numbers = (of: string) => directoryFiles(of, new Map()).all()
  const copies = new Map(numbers(root).map(({ path, id }) => [path, id]))
  const ids = new Map(numbers(like.root).map(({ path, id }) => [id, copies.get(path)]))
  const state = join(root, stateFile)
  const text = await readFile(state, 'utf8')
  await writeFile(
    state,
    text.replaceAll(/"(\d+-\d+)"/g, (whole, id: string) => JSON.stringify(ids.get(id) ?? whole.slice(1, -1))),
  )
}

function planFrom(text: string, { certificate }: Authority): NodePlan {
  const plan = readVersioned(nodePlanFormat, parse(text.replace('"metadata": []', metadata)))
  const content = (one: NodePlan['components'][number]['files'][number]) =>
    one.content.kind === 'text' && one.content.text === former
      ? { ...one, content: { kind: 'text' as const, text: certificate } }
      : one
  const components = plan.components.map((one) => ({ ...one, files: one.files.map(content) }))
  return { ...plan, components }
}

/** With digests of what can be fetched. */
async function withArtifacts(plan: NodePlan, world: Map<string, Uint8Array>): Promise<NodePlan> {
  const known = async (artifact: PlannedArtifact): Promise<PlannedArtifact> => {
    if (artifact.from !== 'url') return artifact
    const bytes = world.get(artifact.url) ?? (await bytesOf(artifact))
    world.set(artifact.url, bytes)
    return { ...artifact, sha256: createHash('sha256').update(bytes).digest('hex') }
  }
  const components: NodePlan['components'] = []
  for (const component of plan.components) {
    const artifacts: PlannedArtifact[] = []
    for (const artifact of component.artifacts) artifacts.push(await known(artifact))
    components.push({ ...component, artifacts })
  }
  return { ...plan, components }
}

async function bytesOf({ name, version }: PlannedArtifact): Promise<Uint8Array> {
  const files = archives[name]
  if (files === undefined) return Buffer.from(`the program ${name} ${version}`)
  const directory = await mkdtemp(join(tmpdir(), 'archive-'))
  try {
    for (const file of files) {
      await mkdir(dirname(join(directory, file)), { recursive: true })
      await writeFile(join(directory, file), `${file} of ${name} ${version}`)
    }
    const archive = join(directory, 'archive.tgz')
    await run([
      'tar',
      '-czf',
      archive,
      '-C',
      directory,
      ...files.map((file) => file.split('/')[0] ?? file).filter(isFirst),
    ])
    return await readFile(archive)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function isFirst(name: string, index: number, all: readonly string[]): boolean {
  return all.indexOf(name) === index
}
