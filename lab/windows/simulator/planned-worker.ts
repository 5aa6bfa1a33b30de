import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { createCertificateRequests } from '../../../src/agent/apply/certificate-requests.ts'
import type { WindowsHost } from '../../../src/agent/host/host.ts'
import { createFakeDownloader } from '../../../src/agent/host/testing/fake-downloader.ts'
import type { PlannedArtifact } from '../../../src/contract/component-plan.ts'
import { type NodePlan, nodePlanFormat } from '../../../src/contract/node-plan.ts'
import { readVersioned } from '../../../src/contract/versioned.ts'
import { fileExists } from '../../../src/kit/files.ts'
import { runProgram } from '../../../src/kit/command.ts'
import { type Ca, createCa } from '../../../src/pki/ca.ts'
import { year } from '../../../src/pki/lifetime.ts'
import { signRequest } from '../../../src/pki/sign.ts'
import { directoryFiles } from './files/directory-files.ts'
import { epoch } from './instant.ts'
import { type SimulatedWindows, simulatedWindows, stateFile } from './simulated-windows.ts'

/** For tests: a simulated host with a complete plan of a Windows worker, its downloads and a CA. */
export interface WindowsWorker extends SimulatedWindows, AsyncDisposable {
  readonly root: string
  readonly plan: NodePlan
  /** Plan of the same worker with another Kubernetes version. */
  readonly upgraded: NodePlan
  sign(host: WindowsHost, plan: NodePlan): Promise<Map<string, string>>
  /** Opens the same host again, as a new process would. */
  reopen(): Promise<SimulatedWindows>
}

const golden = join(import.meta.dirname, '../../../src/plan/testdata/windows/win1.yaml')
const placeholderCertificate = '-----BEGIN CERTIFICATE-----\nkubernetes\n-----END CERTIFICATE-----\n'

/** Setting in the plan of a cloud host: the address of its metadata service. */
const metadata = '"metadata": ["169.254.169.254/32"]'

/** Files in each archive (key: artifact name). */
const archives: Readonly<Record<string, readonly string[]>> = {
  containerd: ['bin/containerd.exe', 'bin/ctr.exe', 'bin/containerd-shim-runhcs-v1.exe'],
  'cni-plugins': ['host-local.exe', 'win-overlay.exe'],
  shawl: ['shawl.exe'],
}

/** Data that is shared by all test hosts, because it is slow to create. */
export interface SharedWindowsFixture {
  readonly ca: Ca
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly plan: NodePlan
  readonly upgraded: NodePlan
}

export async function createSharedFixture(): Promise<SharedWindowsFixture> {
  const ca = await createCa('kubernetes', 10 * year, new Date(epoch))
  const files = new Map<string, Uint8Array>()
  const text = readFileSync(golden, 'utf8')
  const plan = await withArtifacts(planFrom(text, ca), files)
  const upgraded = await withArtifacts(planFrom(text.replaceAll('1.37.1', '1.37.2'), ca), files)
  return { ca, files, plan, upgraded }
}

/** Creates a new host or a copy of `source`. A copy takes a tenth of the time of applying the plan again. */
export async function createWindowsWorker(
  shared: SharedWindowsFixture,
  source?: WindowsWorker,
): Promise<WindowsWorker> {
  const { ca, plan, upgraded } = shared
  const root = await mkdtemp(join((await fileExists('/dev/shm')) ? '/dev/shm' : tmpdir(), 'windows-'))
  if (source !== undefined) await copyHost(source, root)
  const open = async (): Promise<SimulatedWindows> =>
    simulatedWindows({
      root,
      name: 'WIN1',
      address: plan.address,
      gateway: '192.168.1.1',
      fetch: (toLocalPath) => createFakeDownloader(toLocalPath, shared.files),
      version: '0.1.0',
      executable: import.meta.filename,
      time: 'simulated',
    })
  return {
    ...(await open()),
    root,
    plan,
    upgraded,
    reopen: open,
    async sign(host, workerPlan) {
      const plannedCertificates = workerPlan.components.flatMap(({ certificates }) => certificates)
      const requests = Object.entries(await createCertificateRequests(host, workerPlan))
      const signed = requests.map(async ([path, request]) => {
        const planned = plannedCertificates.find(({ certificateFile }) => certificateFile === path)
        if (planned === undefined) throw new Error(`no certificate is planned for ${path}`)
        const { subject, names, usages, lifetime } = planned
        const certificateSpec = { subject, names, usages, lifetime }
        return [path, await signRequest(ca, request, certificateSpec, host.clock.now())] as const
      })
      return new Map(await Promise.all(signed))
    },
    [Symbol.asyncDispose]: async () => rm(root, { recursive: true, force: true }),
  }
}

/** Copies a host. File ids in the saved state are replaced with those of the copied files. */
async function copyHost(source: WindowsWorker, root: string): Promise<void> {
  await source.save()
  await runProgram(['cp', '-a', `${source.root}/.`, root])
  const numbers = (of: string) => directoryFiles(of, new Map()).all()
  const copies = new Map(numbers(root).map(({ path, id }) => [path, id]))
  const ids = new Map(numbers(source.root).map(({ path, id }) => [id, copies.get(path)]))
  const state = join(root, stateFile)
  const text = await readFile(state, 'utf8')
  await writeFile(
    state,
    text.replaceAll(/"(\d+-\d+)"/g, (whole, id: string) => JSON.stringify(ids.get(id) ?? whole.slice(1, -1))),
  )
}

function planFrom(text: string, { certificate }: Ca): NodePlan {
  const plan = readVersioned(nodePlanFormat, parse(text.replace('"metadata": []', metadata)))
  const content = (one: NodePlan['components'][number]['files'][number]) =>
    one.content.kind === 'text' && one.content.text === placeholderCertificate
      ? { ...one, content: { kind: 'text' as const, text: certificate } }
      : one
  const components = plan.components.map((one) => ({ ...one, files: one.files.map(content) }))
  return { ...plan, components }
}

/** Adds the digests of the downloads to a plan. */
async function withArtifacts(plan: NodePlan, shared: Map<string, Uint8Array>): Promise<NodePlan> {
  const withDigest = async (artifact: PlannedArtifact): Promise<PlannedArtifact> => {
    if (artifact.from !== 'url') return artifact
    const bytes = shared.get(artifact.url) ?? (await buildArtifactBytes(artifact))
    shared.set(artifact.url, bytes)
    return { ...artifact, sha256: createHash('sha256').update(bytes).digest('hex') }
  }
  const components: NodePlan['components'] = []
  for (const component of plan.components) {
    const artifacts: PlannedArtifact[] = []
    for (const artifact of component.artifacts) artifacts.push(await withDigest(artifact))
    components.push({ ...component, artifacts })
  }
  return { ...plan, components }
}

async function buildArtifactBytes({ name, version }: PlannedArtifact): Promise<Uint8Array> {
  const files = archives[name]
  if (files === undefined) return Buffer.from(`the program ${name} ${version}`)
  const directory = await mkdtemp(join(tmpdir(), 'archive-'))
  try {
    for (const file of files) {
      await mkdir(dirname(join(directory, file)), { recursive: true })
      await writeFile(join(directory, file), `${file} of ${name} ${version}`)
    }
    const archive = join(directory, 'archive.tgz')
    await runProgram([
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
