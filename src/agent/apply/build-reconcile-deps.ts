import { randomBytes } from 'node:crypto'
import type { DerivedFile } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { unfinishedSuffix } from '../host/files.ts'
import { basename, dirname, isBelow, join } from '../host/host-path.ts'
import type { SourceAddresses, WindowsHost } from '../host/host.ts'
import type { ReconcileDeps } from '../windows-worker/reconcile-deps.ts'
import type { WorkerProgramSpec } from '../windows-worker/worker.ts'
import { resolveDownloadRoute } from '../resources/download-route.ts'
import { downloadArtifact } from '../resources/download.ts'
import { resolveAccess } from '../host/file-access.ts'
import { renderDerived } from '../resources/derived-file.ts'

/** Builds the interfaces with which the Windows worker of a plan is reconciled. */
export function buildReconcileDeps(
  host: WindowsHost,
  plan: NodePlan,
  derive: RenderDerivedFile,
  signal: AbortSignal,
): ReconcileDeps {
  const component = (name: string) => plan.components.find((one) => one.name === name)
  const plugins = plan.components
    .flatMap(({ artifacts }) => artifacts)
    .find(({ name }) => name === 'cni-plugins')
  const { services, operations } = host
  // `host.services` counts every restart that it did not request as unexpected. Starts and stops must
  // therefore go through it.
  const countedServices = {
    ...operations.services,
    async start({ name }: { readonly name: string }) {
      await services.start(name)
      return undefined
    },
    async stop({ name }: { readonly name: string }) {
      await services.stop(name)
      return undefined
    },
  }
  const allocator = host.worker.addresses(plugins?.directory ?? '')
  return {
    host: { ...operations, services: countedServices },
    clock: host.clock,
    signal,
    async isReady(role) {
      const plannedComponent = component(role)
      return plannedComponent !== undefined && host.worker.isReady(plannedComponent, signal)
    },
    subnet: async () => host.worker.subnet(plan, signal),
    addresses: publishSourceAddresses(host, plan, allocator, derive),
    fetch: async (program, to) => fetchProgram(host, plan, program, to, signal),
  }
}

/** Writes a program from the artifacts of a plan to the path `to`. */
async function fetchProgram(
  host: WindowsHost,
  plan: NodePlan,
  { path }: WorkerProgramSpec,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const { files, release } = host
  const access = await resolveAccess(host, { owner: 'root', mode: '0755' })
  const match = plan.components
    .flatMap(({ name, artifacts }) => artifacts.map((artifact) => ({ component: name, artifact })))
    .find(({ artifact }) => isBelow(path, artifact.directory))
  if (match === undefined)
    throw new HyperkubeError('APPLY_OP_FAILED', `the plan has no artifact that contains ${path}`)
  const { artifact, component } = match
  if (artifact.from === 'this-release') {
    await files.copyIn(release.executable, to, access)
    return
  }
  await files.remove(to)
  const fetched = await downloadArtifact(artifact, {
    host,
    component,
    route: await resolveDownloadRoute({ host, plan, secrets: new Map() }),
    emit: () => undefined,
    signal,
  })
  if (artifact.unpack.kind === 'program') {
    await files.rename(fetched, to)
    return
  }
  const directory = dirname(artifact.directory)
  const unpacked = join(
    directory,
    `.${basename(artifact.directory)}.${randomBytes(8).toString('hex')}${unfinishedSuffix}`,
  )
  try {
    await files.makeDirectory(unpacked, access)
    await host.tar.unpack({ path: fetched, into: unpacked, strip: artifact.unpack.strip }, signal)
    await files.rename(join(unpacked, path.slice(artifact.directory.length + 1)), to)
  } finally {
    await files.removeTree(unpacked)
  }
  await files.remove(fetched)
}

/** Renders a derived file of a plan again from its source file. */
type RenderDerivedFile = (derived: DerivedFile) => Promise<void>

/**
 * Wraps `allocator` and also publishes the source address to kube-proxy. An address counts as reserved only
 * after its file and all files derived from it are written.
 */
function publishSourceAddresses(
  host: WindowsHost,
  plan: NodePlan,
  allocator: SourceAddresses,
  derive: RenderDerivedFile,
): SourceAddresses {
  const { files, layout } = host
  const derived = plan.components
    .flatMap(({ derivedFiles }) => derivedFiles)
    .filter(({ from }) => from === layout.sourceVip)
  const isPublished = async (address: string): Promise<boolean> => {
    const text = formatSourceVip(address)
    if ((await files.read(layout.sourceVip))?.toString('utf8') !== text) return false
    for (const { path, template } of derived) {
      if ((await files.read(path))?.toString('utf8') !== renderDerived(template, text)) return false
    }
    return true
  }
  return {
    async findReserved(network) {
      const address = await allocator.findReserved(network)
      return address !== undefined && (await isPublished(address)) ? address : undefined
    },
    async reserve(network, subnet) {
      const known = await allocator.findReserved(network)
      // An existing address is published even if it belongs to another subnet. The next round of
      // reconciliation releases it.
      const address = known ?? (await allocator.reserve(network, subnet))
      const access = await resolveAccess(host, { owner: 'root', mode: '0600' })
      await files.write(layout.sourceVip, Buffer.from(formatSourceVip(address)), access)
      for (const one of derived) await derive(one)
      return address
    },
    release: async (network) => allocator.release(network),
  }
}

/** Formats the source address like an environment file of flannel. */
function formatSourceVip(address: string): string {
  return `SOURCE_VIP=${address}\n`
}
