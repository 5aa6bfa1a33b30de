import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  integer,
  nat,
  option,
  record,
  uniqueArray,
} from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { testBench } from '../kube/testing/kube-test-bench.ts'
import type { KubeClient } from '../kube/client.ts'
import { kubeObject, type Manifest } from '../kube/object.ts'
import { satisfies } from '../kube/satisfies.ts'
import type { Addon } from './addon.ts'
import { readInventories } from './inventory-store.ts'
import { put, type PutOptions } from './apply-addon.ts'
import { keyOf, referenceOf } from './reference.ts'
import { TestApi } from './testing/fake-addon-api.ts'
import { jsonOf } from './testing/field-set.ts'
import { configMap, deployment, namespace, widget, widgets } from './testing/manifests.ts'

let authority: TestAuthority
const { serve, clientOf } = testBench(() => authority)

beforeAll(async () => {
  authority = await testAuthority()
})

/** By name what it is with one of two values; some need others, which are named before them. */
const things: Readonly<Record<string, (value: number) => Manifest[]>> = {
  a: (value) => [configMap('a', `v${value}`)],
  b: (value) => [configMap('b', `v${value}`)],
  d: (value) => [deployment('d', value)],
  n: (value) => [namespace('n'), configMap('in', `v${value}`, 'n')],
  w: (value) => [widgets, widget('w', value)],
}
const names = Object.keys(things)

const wish = uniqueArray(record({ name: constantFrom(...names), value: integer({ min: 1, max: 2 }) }), {
  selector: ({ name }) => name,
})
const cut = record({ at: nat({ max: 30 }), isDone: boolean() })
const scripts = record({
  former: wish,
  /** The addon may become another one before a run that was cut was done again. */
  formerCut: option(cut),
  later: wish,
  /** What a user has made before the addon, and anew between its runs. */
  theirs: uniqueArray(constantFrom('a', 'b', 'd')),
  anew: uniqueArray(constantFrom('a', 'b', 'd')),
  widget: boolean(),
  cuts: array(cut, { maxLength: 3 }),
})
type Script = typeof scripts extends { generate(...args: never[]): { value: infer T } } ? T : never

function addonOf(wished: readonly { readonly name: string; readonly value: number }[]): Addon {
  // What users have set is taken: what is asked here is not who wins.
  return {
    name: 'it',
    force: true,
    manifests: wished.flatMap(({ name, value }) => things[name]?.(value) ?? []),
  }
}

/** What a user makes bears our label, too. */
function byUser(name: string): Manifest {
  const [made] = things[name]?.(3) ?? []
  if (made === undefined) throw new Error(name)
  return { ...made, metadata: { ...made.metadata, labels: { 'hyperkube.dev/addon': 'it', theirs: 'yes' } } }
}

/** Who runs. What is still on its way of one that was cut must not arrive when the next one runs. */
interface Runner {
  readonly client: KubeClient
  readonly user: string
}

/** Puts it there once for each turn, cut at some request or not. */
async function putThrough(
  api: TestApi,
  { client, user }: Runner,
  addon: Addon,
  turns: readonly (Script['formerCut'] | undefined)[],
): Promise<void> {
  for (const turn of turns) {
    const stop = new AbortController()
    let left = turn?.at ?? Infinity
    api.intercept = (asked, done) => {
      if (asked.user !== user) return { cut: 'before' }
      if (left-- > 0) return undefined
      if (left === -1 && turn?.isDone === true) done()
      stop.abort(new Error('cut'))
      return { cut: 'before' }
    }
    const options: PutOptions = {
      others: [],
      tell: () => undefined,
      now: () => new Date(),
      deadline: Date.now() + 20_000,
      signal: stop.signal,
      every: 1,
    }
    await put(client, addon, options).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error
    })
  }
}

function uidOf(api: TestApi, manifest: Manifest): unknown {
  const object = api.find(referenceOf(manifest))
  return object === undefined ? undefined : jsonOf(object['metadata'])['uid']
}

async function wrongAfter(
  api: TestApi,
  [first, second]: readonly [Runner, Runner],
  script: Script,
): Promise<string[]> {
  const theirs = new Map<string, { readonly manifest: Manifest; readonly uid: unknown }>()
  const make = (manifest: Manifest): void => {
    api.remove(referenceOf(manifest))
    api.user('kubectl', manifest)
    theirs.set(keyOf(referenceOf(manifest)), { manifest, uid: uidOf(api, manifest) })
  }
  for (const name of script.theirs) make(byUser(name))
  await putThrough(api, first, addonOf(script.former), [script.formerCut])
  for (const name of script.anew) make(byUser(name))
  const isHeld = script.widget && api.find(referenceOf(widgets)) !== undefined
  if (isHeld) make(widget('theirs', 3))
  const addon = addonOf(script.later)
  await putThrough(api, second, addon, [...script.cuts, undefined])
  return [
    ...notAsWished(api, addon),
    ...touched(api, theirs),
    ...(await notEntered(api, second.client, addon, theirs, isHeld)),
    ...leftBehind(api, addon, theirs, isHeld),
  ]
}

function notAsWished(api: TestApi, { manifests }: Addon): string[] {
  return manifests
    .filter((manifest) => !satisfies(api.find(referenceOf(manifest)), manifest))
    .map((manifest) => `${manifest.kind} ${manifest.metadata.name} is not as wished`)
}

function touched(
  api: TestApi,
  theirs: ReadonlyMap<string, { readonly manifest: Manifest; readonly uid: unknown }>,
): string[] {
  return [...theirs]
    .filter(([, { manifest, uid }]) => uidOf(api, manifest) !== uid)
    .map(([key]) => `${key} was a user’s, and is gone`)
}

async function notEntered(
  api: TestApi,
  client: KubeClient,
  addon: Addon,
  theirs: ReadonlyMap<string, unknown>,
  isHeld: boolean,
): Promise<string[]> {
  const [inventory] = await readInventories(client)
  const held = isHeld && !addon.manifests.includes(widgets) ? [widgets] : []
  const wished = [...addon.manifests, ...held].map((one) => {
    const key = keyOf(referenceOf(one))
    return `${key} ${String(uidOf(api, one))} ${theirs.has(key) ? 'found' : 'made'}`
  })
  const entered = inventory?.entries.map(
    (entry) => `${keyOf(entry)} ${entry.uid ?? ''} ${entry.found === true ? 'found' : 'made'}`,
  )
  const [is, should] = [entered?.toSorted().join(', '), wished.toSorted().join(', ')]
  return is === should ? [] : [`entered are ${is} and not ${should}`]
}

/** What is there that neither the cluster had, nor a user, nor the addon wishes. */
function leftBehind(
  api: TestApi,
  addon: Addon,
  theirs: ReadonlyMap<string, unknown>,
  isHeld: boolean,
): string[] {
  const known = new Set([
    ...addon.manifests.map((manifest) => keyOf(referenceOf(manifest))),
    ...theirs.keys(),
    ...[namespace('kube-system'), namespace('default'), configMap('hyperkube-addon-it')].map((one) =>
      keyOf(referenceOf(one)),
    ),
    ...(isHeld ? [keyOf(referenceOf(widgets))] : []),
  ])
  return api
    .all()
    .map((object) => keyOf(referenceOf(kubeObject.parse(object))))
    .filter((key) => !known.has(key))
    .map((key) => `${key} was left behind`)
}

/** Each run takes some hundred requests. */
const numRuns = Math.ceil(Number(process.env['PROPERTY_RUNS'] ?? 100) / 4)

test('wherever it is cut, it ends as wished, with nothing left behind and nothing of others touched', async () => {
  let api = new TestApi()
  // One for all runs: connections take longer than what is asked through them.
  const server = await serve((asked) => api.answer(asked))
  const { client, otherClient } = authority
  const runners = [
    { client: clientOf([server.url], { credentials: otherClient }), user: 'other-client' },
    { client: clientOf([server.url], { credentials: client }), user: 'client' },
  ] as const
  await assert(
    asyncProperty(scripts, async (script) => {
      api = new TestApi()
      expect(await wrongAfter(api, runners, script)).toEqual([])
    }),
    { numRuns, endOnFailure: true },
  )
})
