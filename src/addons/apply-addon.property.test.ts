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
import { createTestCa, type TestCa } from '../kit/testing/test-ca.ts'
import type { KubeClient } from '../kube/client.ts'
import { kubeObject, type Manifest, satisfies } from '../kube/object.ts'
import type { FakeKubeApi } from '../kube/testing/fake-kube-api.ts'
import { createKubeTestBench } from '../kube/testing/kube-test-bench.ts'
import type { Addon } from './addon.ts'
import { applyAddon, type ApplyAddonOptions } from './apply-addon.ts'
import { readInventories } from './inventory-store.ts'
import { formatReferenceKey, toReference } from './reference.ts'
import { createAddonApi } from './testing/addon-test-bench.ts'
import { parseJsonFields } from '../kube/testing/field-set.ts'
import {
  buildConfigMap,
  buildDeployment,
  buildNamespace,
  buildWidget,
  widgetCrd,
} from './testing/manifests.ts'

let ca: TestCa
const { serve, createClient } = createKubeTestBench(() => ca)

beforeAll(async () => {
  ca = await createTestCa()
})

/**
 * Functions that build the manifests of each test object from a number. Prerequisites, such as a namespace,
 * come first.
 */
const manifestsByName: Readonly<Record<string, (value: number) => Manifest[]>> = {
  a: (value) => [buildConfigMap('a', `v${value}`)],
  b: (value) => [buildConfigMap('b', `v${value}`)],
  d: (value) => [buildDeployment('d', value)],
  n: (value) => [buildNamespace('n'), buildConfigMap('in', `v${value}`, 'n')],
  w: (value) => [widgetCrd, buildWidget('w', value)],
}
const names = Object.keys(manifestsByName)

const desiredObjects = uniqueArray(
  record({ name: constantFrom(...names), value: integer({ min: 1, max: 2 }) }),
  {
    selector: ({ name }) => name,
  },
)
const interruption = record({ at: nat({ max: 30 }), isDone: boolean() })
const scripts = record({
  previous: desiredObjects,
  /**
   * `previousInterruption` is the point at which the first run is interrupted. `later` are the desired
   * objects of the next run.
   */
  previousInterruption: option(interruption),
  later: desiredObjects,
  /**
   * Objects that a user created before the first run (`userObjects`) and again between runs (`recreated`).
   */
  userObjects: uniqueArray(constantFrom('a', 'b', 'd')),
  recreated: uniqueArray(constantFrom('a', 'b', 'd')),
  widget: boolean(),
  interruptions: array(interruption, { maxLength: 3 }),
})
type Script = typeof scripts extends { generate(...args: never[]): { value: infer T } } ? T : never

function buildAddon(desired: readonly { readonly name: string; readonly value: number }[]): Addon {
  // Conflicts are not tested here, so the addon takes over fields of users.
  return {
    name: 'it',
    force: true,
    manifests: desired.flatMap(({ name, value }) => manifestsByName[name]?.(value) ?? []),
  }
}

/** Builds an object of a user. It has the addon label too, although hyperkube did not create it. */
function buildUserObject(name: string): Manifest {
  const [made] = manifestsByName[name]?.(3) ?? []
  if (made === undefined) throw new Error(name)
  return { ...made, metadata: { ...made.metadata, labels: { 'hyperkube.dev/addon': 'it', theirs: 'yes' } } }
}

/**
 * A client and its user name. The two phases of the test use different clients, so late requests of the first
 * phase are recognized and rejected.
 */
interface Runner {
  readonly client: KubeClient
  readonly user: string
}

/** Applies the addon once per attempt. An attempt may be interrupted at a request. */
async function applyWithInterruptions(
  api: FakeKubeApi,
  { client, user }: Runner,
  addon: Addon,
  attempts: readonly (Script['previousInterruption'] | undefined)[],
): Promise<void> {
  for (const attempt of attempts) {
    const stop = new AbortController()
    let requestsLeft = attempt?.at ?? Infinity
    api.onRequest = (request, done) => {
      if (request.user !== user) return { cut: 'before' }
      if (requestsLeft-- > 0) return undefined
      if (requestsLeft === -1 && attempt?.isDone === true) done()
      stop.abort(new Error('cut'))
      return { cut: 'before' }
    }
    const options: ApplyAddonOptions = {
      others: [],
      emit: () => undefined,
      now: () => new Date(),
      deadline: Date.now() + 20_000,
      signal: stop.signal,
      intervalMs: 1,
    }
    await applyAddon(client, addon, options).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error
    })
  }
}

function readUid(api: FakeKubeApi, manifest: Manifest): unknown {
  const object = api.get(toReference(manifest))
  return object === undefined ? undefined : parseJsonFields(object['metadata'])['uid']
}

async function findViolations(
  api: FakeKubeApi,
  [first, second]: readonly [Runner, Runner],
  script: Script,
): Promise<string[]> {
  const userObjects = new Map<string, { readonly manifest: Manifest; readonly uid: unknown }>()
  const make = (manifest: Manifest): void => {
    api.remove(toReference(manifest))
    api.user('kubectl', manifest)
    userObjects.set(formatReferenceKey(toReference(manifest)), { manifest, uid: readUid(api, manifest) })
  }
  for (const name of script.userObjects) make(buildUserObject(name))
  await applyWithInterruptions(api, first, buildAddon(script.previous), [script.previousInterruption])
  for (const name of script.recreated) make(buildUserObject(name))
  const isCrdKept = script.widget && api.get(toReference(widgetCrd)) !== undefined
  if (isCrdKept) make(buildWidget('theirs', 3))
  const addon = buildAddon(script.later)
  await applyWithInterruptions(api, second, addon, [...script.interruptions, undefined])
  return [
    ...findNotDesired(api, addon),
    ...findTouched(api, userObjects),
    ...(await findInventoryErrors(api, second.client, addon, userObjects, isCrdKept)),
    ...findLeftBehind(api, addon, userObjects, isCrdKept),
  ]
}

function findNotDesired(api: FakeKubeApi, { manifests }: Addon): string[] {
  return manifests
    .filter((manifest) => !satisfies(api.get(toReference(manifest)), manifest))
    .map((manifest) => `${manifest.kind} ${manifest.metadata.name} is not as desired`)
}

function findTouched(
  api: FakeKubeApi,
  userObjects: ReadonlyMap<string, { readonly manifest: Manifest; readonly uid: unknown }>,
): string[] {
  return [...userObjects]
    .filter(([, { manifest, uid }]) => readUid(api, manifest) !== uid)
    .map(([key]) => `${key} belongs to a user and was removed`)
}

async function findInventoryErrors(
  api: FakeKubeApi,
  client: KubeClient,
  addon: Addon,
  userObjects: ReadonlyMap<string, unknown>,
  isCrdKept: boolean,
): Promise<string[]> {
  const [inventory] = await readInventories(client)
  const keptCrd = isCrdKept && !addon.manifests.includes(widgetCrd) ? [widgetCrd] : []
  const desired = [...addon.manifests, ...keptCrd].map((one) => {
    const key = formatReferenceKey(toReference(one))
    return `${key} ${String(readUid(api, one))} ${userObjects.has(key) ? 'found' : 'made'}`
  })
  const recorded = inventory?.entries.map(
    (entry) =>
      `${formatReferenceKey(entry)} ${entry.uid ?? ''} ${entry.preexisting === true ? 'found' : 'made'}`,
  )
  const [actual, expected] = [recorded?.toSorted().join(', '), desired.toSorted().join(', ')]
  return actual === expected ? [] : [`entered are ${actual} and not ${expected}`]
}

/**
 * Lists leftover objects: those that the addon does not desire and that neither the cluster nor a user
 * created.
 */
function findLeftBehind(
  api: FakeKubeApi,
  addon: Addon,
  userObjects: ReadonlyMap<string, unknown>,
  isCrdKept: boolean,
): string[] {
  const known = new Set([
    ...addon.manifests.map((manifest) => formatReferenceKey(toReference(manifest))),
    ...userObjects.keys(),
    ...[buildNamespace('kube-system'), buildNamespace('default'), buildConfigMap('hyperkube-addon-it')].map(
      (one) => formatReferenceKey(toReference(one)),
    ),
    ...(isCrdKept ? [formatReferenceKey(toReference(widgetCrd))] : []),
  ])
  return api
    .all()
    .map((object) => formatReferenceKey(toReference(kubeObject.parse(object))))
    .filter((key) => !known.has(key))
    .map((key) => `${key} was left behind`)
}

/** Fewer runs than in other property tests, because each run sends some hundred requests. */
const numRuns = Math.ceil(Number(process.env['PROPERTY_RUNS'] ?? 100) / 4)

test('after any interruption, the next run reaches the desired state, leaves no leftovers and touches no user objects', async () => {
  let api = createAddonApi()
  // All runs share one server, because opening connections takes longer than the requests.
  const server = await serve((request) => api.respond(request))
  const { client, otherClient } = ca
  const runners = [
    { client: createClient([server.url], { credentials: otherClient }), user: 'other-client' },
    { client: createClient([server.url], { credentials: client }), user: 'client' },
  ] as const
  await assert(
    asyncProperty(scripts, async (script) => {
      api = createAddonApi()
      expect(await findViolations(api, runners, script)).toEqual([])
    }),
    { numRuns, endOnFailure: true },
  )
})
