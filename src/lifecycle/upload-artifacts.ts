import { posix, win32 } from 'node:path'
import { Readable } from 'node:stream'
import { type ImageArchive, imageArchive } from '../bundle/image-archive.ts'
import type { Member } from '../bundle/manifest.ts'
import type { OpenBundle } from '../bundle/open.ts'
import { deliveredFile, deliveredImage, deliveries } from '../contract/uploads.ts'
import { parseImage } from '../contract/image-reference.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { windowsPlaces } from '../contract/windows-paths.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { Remote } from '../ssh/remote.ts'
import { callHost } from '../ssh/windows/call-host.ts'
import { byMegabyte } from './throttle-progress.ts'
import { calleeOn } from './host-program.ts'
import type { Session } from './session.ts'
import type { Tell } from './event-stream.ts'

/** How often the way to a host may be lost before any more has arrived there. */
const losses = 5

export interface DeliverOptions {
  readonly tell: Tell
  readonly signal: AbortSignal
}

/** One file that a host needs of a bundle. */
export interface Parcel {
  /** Below where a host finds what was brought to it. */
  readonly path: string
  readonly size: number
  /** Known beforehand of files; what is in an image is looked at while it is read. */
  readonly sha256?: string
  readonly bytes: () => AsyncIterable<Uint8Array>
}

/** Whether there is anything in what hosts have to do that would be fetched. */
export function hostsToDeliver(
  plans: readonly NodePlan[],
  ops: ReadonlyMap<string, readonly Op[]>,
): readonly NodePlan[] {
  return plans.filter(({ host }) => (ops.get(host) ?? []).some(fetches))
}

/** Brings to every host what it would otherwise fetch, side by side. */
export async function deliverAll(
  bundle: OpenBundle,
  plans: readonly NodePlan[],
  ops: ReadonlyMap<string, readonly Op[]>,
  sessions: ReadonlyMap<string, Session>,
  options: DeliverOptions,
): Promise<void> {
  await settleAll(
    hostsToDeliver(plans, ops).flatMap((plan) => {
      const session = sessions.get(plan.host)
      return session === undefined
        ? []
        : [deliver(session, parcelsFor(bundle, plan, ops.get(plan.host) ?? []), options)]
    }),
  )
}

/** All that some ops of a host would fetch, out of a bundle. What the bundle has not is said before anything is sent. */
export function parcelsFor(bundle: OpenBundle, plan: NodePlan, ops: readonly Op[]): readonly Parcel[] {
  const files = new Map(bundle.manifest.members.map((member) => [member.sha256, member]))
  const images = new Map(bundle.manifest.images.map((image) => [image.reference, image]))
  const kind = plan.os === 'windows' ? 'windows' : plan.arch
  const artifacts = plan.components.flatMap((component) => component.artifacts)
  const parcels = ops.filter(fetches).flatMap((op): Parcel[] => {
    if (op.target === 'image') {
      const image = images.get(op.name)
      if (image === undefined) throw lacks(op.name, plan)
      const digest = parseImage(op.name)?.digest ?? ''
      return [imageParcel(deliveredImage(digest), imageArchive(bundle, image, kind))]
    }
    const artifact = artifacts.find(({ name, version }) => `${name}-${version}` === op.name)
    if (artifact?.from !== 'url') return []
    const member = files.get(artifact.sha256)
    if (member === undefined) throw lacks(op.name, plan)
    return [fileParcel(member, bundle)]
  })
  return [...new Map(parcels.map((parcel) => [parcel.path, parcel])).values()]
}

function fetches({ target, action }: Op): boolean {
  return (target === 'artifact' || target === 'image') && (action === 'create' || action === 'change')
}

function fileParcel(member: Member, bundle: OpenBundle): Parcel {
  const { sha256, size } = member
  return { path: deliveredFile(sha256), size, sha256, bytes: () => bundle.content(member) }
}

function imageParcel(path: string, archive: ImageArchive): Parcel {
  return { path, size: archive.size, bytes: () => archive.bytes() }
}

function lacks(what: string, { host, os, arch }: NodePlan): HyperkubeError {
  return new HyperkubeError('BUNDLE_LACKS', `the bundle has no ${what} for ${os}/${arch}`, {
    host,
    hint: 'make it anew from the same cluster.lock, where there is a way out: hyperkube bundle create',
  })
}

/** Brings to a host what is not there yet. When the way to it is lost, it goes on by another one with what is left. */
export async function deliver(
  session: Session,
  parcels: readonly Parcel[],
  options: DeliverOptions,
): Promise<void> {
  for (let lost = 0; ; lost++) {
    // Found anew where it was lost.
    if (session.remote === undefined || lost > 0) await session.ask({ type: 'hello' }, 'hello')
    const { remote } = session
    try {
      if (remote === undefined)
        throw new HyperkubeError('SSH_LOST', 'the way to it was lost', { host: session.host })
      await send(remote, parcels, options)
      return
    } catch (error) {
      options.signal.throwIfAborted()
      if (!hasCode(error, 'SSH_LOST') || lost === losses) throw error
    }
  }
}

async function send(
  remote: Remote,
  parcels: readonly Parcel[],
  { tell, signal }: DeliverOptions,
): Promise<void> {
  const there = await delivered(remote, parcels, signal)
  const missing = parcels.filter(({ path, size }) => there.get(path) !== size)
  const total = missing.reduce((sum, { size }) => sum + size, 0)
  const about = { host: remote.host }
  const progress = byMegabyte((done, all) => tell({ type: 'progress', done, total: all, unit: 'MB' }, about))
  let before = 0
  for (const { path, size, sha256, bytes } of missing) {
    signal.throwIfAborted()
    await remote.upload(
      { stream: Readable.from(bytes(), { objectMode: false }), size },
      placeOf(remote, path),
      {
        mode: 0o600,
        ...(sha256 === undefined ? {} : { sha256 }),
        signal,
        root: true,
        onProgress: (sent) => progress(before + sent, total),
      },
    )
    before += size
  }
}

function placeOf({ windows }: Remote, path: string): string {
  return windows === undefined
    ? `${deliveries}/${path}`
    : win32.join(windowsPlaces(windows.base).delivered, ...path.split('/'))
}

/** Makes the places for parcels, and says what is in them: a name and a size in each line. */
export const lookAtDeliveries = [
  'sh',
  '-c',
  `set -eu
umask 077
cd /
for directory; do mkdir -p "$directory"; done
cd "$1/.."
find . -type f ! -name '.*' -printf '%s %P\\n'`,
] as const

/** By path, with the size of each. What has its name is whole: it got it at the end. */
async function delivered(
  remote: Remote,
  parcels: readonly Parcel[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  if (parcels.length === 0) return new Map()
  const folders = [...new Set(parcels.map(({ path }) => posix.dirname(path)))]
  if (remote.windows !== undefined) {
    const { files } = await callHost(
      await calleeOn(remote, signal),
      { type: 'deliveries', folders },
      'deliveries',
      signal,
    )
    return new Map(files.map(({ path, size }) => [path, size]))
  }
  const argv = [...lookAtDeliveries, 'sh', ...folders.map((folder) => `${deliveries}/${folder}`)] as const
  const { code, stdout, stderr } = await remote.exec(argv, { signal, root: true })
  if (code !== 0) {
    throw new HyperkubeError('BUNDLE_NOT_DELIVERED', `${deliveries} cannot be used: ${stderr.trim()}`, {
      host: remote.host,
      hint: `on the host: ls -ld ${deliveries}; df -h ${posix.dirname(deliveries)}`,
    })
  }
  return new Map(
    stdout.split('\n').flatMap((line) => {
      const [, size, path] = /^(\d+) (.+)$/.exec(line) ?? []
      return path === undefined ? [] : [[path, Number(size)] as const]
    }),
  )
}
