import { isDefinition } from '../../addons/waves.ts'
import { unready } from '../../addons/readiness.ts'
import { type Reference, referenceOf } from '../../addons/reference.ts'
import { atOnce } from '../../kit/semaphore.ts'
import { settleAll } from '../../kit/settle-all.ts'
import { until } from '../../kit/poll-until.ts'
import type { KubeClient } from '../../kube/client.ts'
import { hostRights, hosts } from '../../kube/host-resource.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { kindOf, type Manifest } from '../../kube/object.ts'
import { find } from '../../kube/read-objects.ts'
import { apply, remove } from '../../kube/write-objects.ts'
import type { InsideChange } from './changes.ts'

/** How many requests are under way together. */
const most = 16
/** In milliseconds: each API server learns of a definition by itself. */
const patience = 60_000

/** Fields that others have changed are taken back: rights must be what we say. */
export async function putObjects(api: KubeClient, changes: readonly InsideChange[]): Promise<void> {
  const wished = changes.flatMap((change) => (change.kind === 'object' ? [change.manifest] : []))
  const [defined, others] = apart(wished, ({ kind }) => kind === hosts.kind)
  await each(others, async (manifest) => apply(api, manifest, { force: true }))
  await each(
    others.filter((manifest) => isDefinition(referenceOf(manifest))),
    async (manifest) => established(api, manifest),
  )
  await each(defined, async (manifest) => applyDefined(api, manifest))
  const strays = changes.flatMap((change) => (change.kind === 'stray' ? [change.object] : []))
  // With a definition go all objects of its kind, so that those are not asked for any more.
  const [definitions, rest] = apart(strays, isDefinition)
  await each(rest, async (object) => take(api, object))
  await each(definitions, async (object) => take(api, object))
}

/** All that there is of a host, which is to leave. */
export async function removeHost(api: KubeClient, node: string): Promise<void> {
  const { apiVersion, kind } = hosts
  const rights = hostRights(node).map(referenceOf)
  await each([{ apiVersion, kind, name: node }, ...rights], async (object) => take(api, object))
}

async function established(api: KubeClient, manifest: Manifest): Promise<void> {
  const { apiVersion, kind, metadata } = manifest
  const look = async (): Promise<boolean> => {
    const found = await find(api, kindOf(apiVersion, kind), metadata)
    // A former one that was still being removed takes what was applied along.
    const object = found ?? (await apply(api, manifest, { force: true }))
    return unready(object) === undefined
  }
  await until(`the API to take up ${metadata.name}`, look, { within: patience, signal: api.signal })
}

/** Another server than the one that has just taken up its definition may not know it yet. */
async function applyDefined(api: KubeClient, manifest: Manifest): Promise<void> {
  const attempt = async (): Promise<{ readonly made: Promise<unknown> } | undefined> => {
    const made = apply(api, manifest, { force: true })
    const isUnknown = await made.then(
      () => false,
      (error: unknown) => isKubeError(error, 'KUBE_NOT_FOUND'),
    )
    return isUnknown ? undefined : { made }
  }
  const what = `the API to know what a ${manifest.kind} is`
  const { made } = await until(what, attempt, { within: patience, signal: api.signal })
  await made
}

async function take(api: KubeClient, { apiVersion, kind, ...place }: Reference): Promise<void> {
  await remove(api, kindOf(apiVersion, kind), place)
}

async function each<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const admitted = atOnce(most)
  await settleAll(all.map(async (one) => admitted(async () => work(one))))
}

function apart<T>(all: readonly T[], is: (one: T) => boolean): readonly [T[], T[]] {
  return [all.filter(is), all.filter((one) => !is(one))]
}
