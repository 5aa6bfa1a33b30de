import type { Predecessor, StaticPodRecord } from '../../contract/predecessor.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { basename, dirname, isAtOrBelow, join } from '../host/host-path.ts'
import type { HostProcess, LinuxHost } from '../host/host.ts'
import { inspectTakenData, notThere, recordData, returnData, takeData } from './predecessor-data.ts'
import {
  type MakeContext,
  type RemoveResult,
  type ResourceObservation,
  wasAbsent,
  wasRemoved,
} from './resource-handler.ts'
import { removeIfEmpty } from './resource-paths.ts'
import { waitFor } from './wait-for.ts'

type StaticPod = Extract<Predecessor, { kind: 'static-pod' }>

/** Time in which the kubelet must end a pod. A pod may use 30 seconds for its own end. */
const endTimeoutMs = 120_000

/** Reads what a host needs to return to a static pod. Throws if the host does not have the pod. */
export async function recordStaticPod(
  { manifest, program, data, kept }: StaticPod,
  { host, component }: MakeContext<LinuxHost>,
): Promise<StaticPodRecord> {
  const keptManifest = buildKeptPath(manifest)
  const { files } = host
  const required = [manifest, ...(data === undefined ? [] : [data.from])]
  for (const path of kept ? required : [])
    if ((await files.stat(path)) === undefined) throw notThere(path, component.name)
  const recorded = await recordData(host, data)
  return {
    kind: 'static-pod',
    manifest,
    program,
    keptManifest,
    ...(recorded === undefined ? {} : { data: recorded }),
  }
}

/**
 * Returns the path of a manifest while its pod does not run. It is beside the directory that the kubelet
 * reads, so a rename moves the file in one step.
 */
function buildKeptPath(manifest: string): string {
  return join(dirname(dirname(manifest)), 'before-hyperkube', basename(manifest))
}

export async function inspectReplacedStaticPod(
  host: LinuxHost,
  { manifest, data }: StaticPodRecord,
): Promise<ResourceObservation> {
  const exists = (await host.files.stat(manifest)) !== undefined
  return exists ? { drift: 'its manifest exists' } : inspectTakenData(host, data)
}

/** Ends a static pod, keeps its manifest and takes over its data. Every part may be repeated. */
export async function replaceStaticPod(
  context: MakeContext<LinuxHost>,
  record: StaticPodRecord,
  isKept: boolean,
): Promise<boolean> {
  const { host } = context
  const { manifest, keptManifest, data } = record
  const { files } = host
  const hadManifest = (await files.stat(manifest)) !== undefined
  if (hadManifest) {
    const directory = dirname(keptManifest)
    if ((await files.stat(directory)) === undefined)
      await files.makeDirectory(directory, { uid: 0, gid: 0, mode: 0o700 })
    await files.rename(manifest, keptManifest)
  }
  await waitUntilEnded(context, record)
  const tookData = await takeData(context, data)
  const isDiscarded = !isKept && (await discardManifest(host, keptManifest))
  return hadManifest || tookData || isDiscarded
}

/** Waits until the kubelet has ended the processes of the pod. */
async function waitUntilEnded(
  { host, component, emit, signal }: MakeContext<LinuxHost>,
  { program }: StaticPodRecord,
): Promise<void> {
  const { clock, processes, layout } = host
  const deadline = clock.now().getTime() + endTimeoutMs
  await waitFor(
    async () => {
      const running = (await processes.list()).filter(isProcessOf(program, layout.exclusiveDirectories))
      if (running.length === 0) return { found: undefined }
      if (clock.now().getTime() >= deadline) throw notEnded(program, component.name)
      return { for: `the static pod of ${program} to end` }
    },
    { clock, signal, emit: (what) => emit(what, component.name) },
  )
}

/**
 * Returns a filter for the processes of a static pod. Pods of users may run the same program, but without
 * files of kubeadm.
 */
function isProcessOf(program: string, ownDirectories: readonly string[]): (one: HostProcess) => boolean {
  return ({ argv: [path = '', ...args] }) =>
    basename(path) === program &&
    !isAtOrBelow(path, ownDirectories) &&
    args.some((argument) => argument.includes('/etc/kubernetes/'))
}

function notEnded(program: string, component: string): HyperkubeError {
  return new HyperkubeError(
    'PREDECESSOR_RUNS',
    `the static pod of ${program} still runs ${endTimeoutMs / 1000} seconds after its manifest was moved`,
    { component, hint: 'on the host: systemctl status kubelet; then run the same command again' },
  )
}

async function discardManifest({ files }: LinuxHost, keptManifest: string): Promise<boolean> {
  const existed = await files.remove(keptManifest)
  await removeIfEmpty({ files }, dirname(keptManifest))
  return existed
}

/** Gives the data back and lets the kubelet start the pod again. The component has already stopped. */
export async function restoreStaticPod(
  host: LinuxHost,
  { manifest, keptManifest, data }: StaticPodRecord,
): Promise<RemoveResult> {
  const { files } = host
  await returnData(host, data)
  const isPending = (await files.stat(keptManifest)) !== undefined
  if (isPending) await files.rename(keptManifest, manifest)
  await removeIfEmpty(host, dirname(keptManifest))
  return isPending ? wasRemoved : wasAbsent
}
