import { HyperkubeError } from '../kit/errors.ts'
import { suggestWord, truncateList } from '../kit/text.ts'
import type { Suite } from './suite.ts'

export interface Selection {
  /** Names of the tests to run. */
  readonly chosen: readonly string[]
  readonly leftOut: readonly OmittedTest[]
}

/** A requested test that is not run, and the reason. */
export interface OmittedTest {
  readonly name: string
  readonly why: string
}

export interface TestFilter {
  /** Exact names of the tests to run. If undefined, all tests that match the flags of the suite are run. */
  readonly only?: readonly string[]
  /** Images that are not available. Tests that need one of these images are omitted. */
  readonly withoutImages: readonly string[]
}

export function selectTests({ tests }: Suite, { only, withoutImages }: TestFilter): Selection {
  const names = tests.filter(({ chosen }) => chosen).map(({ name }) => name)
  const known = new Set(tests.map(({ name }) => name))
  const onlyNames = new Set(only)
  requireKnownTests(
    [...onlyNames].filter((name) => !known.has(name)),
    [...known],
  )
  const requested = only === undefined ? names : names.filter((name) => onlyNames.has(name))
  const leftOut = requested.flatMap((name): OmittedTest[] => {
    const image = findNeededImage(name, withoutImages)
    return image === undefined ? [] : [{ name, why: `the image ${image} is not available` }]
  })
  const omittedNames = new Set(leftOut.map(({ name }) => name))
  return { chosen: requested.filter((name) => !omittedNames.has(name)), leftOut }
}

/**
 * Throws if a requested name is not a test of the suite. Otherwise a misspelled name would be ignored
 * silently.
 */
function requireKnownTests(unknown: readonly string[], known: readonly string[]): void {
  const [first] = unknown
  if (first === undefined) return
  const suggestion = suggestWord(first, known)
  throw new HyperkubeError('CONFORMANCE_UNKNOWN_TEST', `the suite has no test ${truncateList(unknown, 3)}`, {
    hint:
      suggestion === undefined
        ? 'list the test names: hyperkube conformance --list'
        : `did you mean ${suggestion}?`,
  })
}

/** Parses a file of test names, one per line. Lines that begin with # are comments. */
export function parseTestNames(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}

/** Labels of tests that must not run in parallel with other tests. */
const serialLabel = /\[(?:Serial|Disruptive)\]/

/**
 * Distributes tests to processes: batches run in sequence, the processes of a batch in parallel. Serial tests
 * come last, in one process.
 */
export function planBatches(
  names: readonly string[],
  parallel: number,
): readonly (readonly (readonly string[])[])[] {
  if (parallel === 1) return [[names]]
  const [serial, others] = [
    names.filter((name) => serialLabel.test(name)),
    names.filter((name) => !serialLabel.test(name)),
  ]
  const shares = Array.from({ length: parallel }, (_, process) =>
    others.filter((_name, index) => index % parallel === process),
  )
  return [shares.filter((share) => share.length > 0), serial.length > 0 ? [serial] : []].filter(
    (batch) => batch.length > 0,
  )
}

/**
 * Conformance tests that need an image, by image name. Each test is given by the start of its name. Taken
 * from the Kubernetes 1.37 sources (uses of imageutils.Nginx and others in test/e2e). Images that nearly all
 * tests need (agnhost, busybox, pause) are not listed.
 */
export const testsByImage: Readonly<Record<string, readonly string[]>> = {
  nginx: [
    '[sig-api-machinery] Garbage collector should delete pods created by rc when not orphaning',
    '[sig-api-machinery] Garbage collector should orphan pods created by rc if delete',
    '[sig-api-machinery] Garbage collector should delete RS created by deployment when not orphaning',
    '[sig-api-machinery] Garbage collector should orphan RS created by deployment when',
    '[sig-api-machinery] Garbage collector should keep the rc around until all its pods are deleted',
    '[sig-api-machinery] Garbage collector should not delete dependents that have both valid owner and owner',
    '[sig-api-machinery] Garbage collector should not be blocked by dependency circle',
    '[sig-apps] ReplicationController should test the lifecycle of a ReplicationController',
    '[sig-network] EndpointsController should create Endpoints for Pods matching a Service',
    '[sig-network] EndpointSlice should create Endpoints and EndpointSlices for Pods matching a Service',
    '[sig-node] Pods Extended (pod generation) Pod Generation pod generation should start at 1 and increment',
  ],
  'glibc-dns-testing': [
    '[sig-network] DNS should provide DNS for the cluster',
    '[sig-network] DNS should provide /etc/hosts entries for the cluster',
    '[sig-network] DNS should provide DNS for services',
    '[sig-network] DNS should resolve DNS of partial qualified names for services',
    '[sig-network] DNS should provide DNS for pods for Hostname',
    '[sig-network] DNS should provide DNS for pods for Subdomain',
    '[sig-network] DNS should provide DNS for ExternalName services',
  ],
  'sample-apiserver': ['[sig-api-machinery] Aggregator Should be able to support the 1.17 Sample API Server'],
  etcd: ['[sig-api-machinery] Aggregator Should be able to support the 1.17 Sample API Server'],
  nautilus: [
    '[sig-cli] Kubectl client Update Demo should create and stop a replication controller',
    '[sig-cli] Kubectl client Update Demo should scale a replication controller',
  ],
  kitten: ['[sig-node] ImageVolume should succeed with pod and pull policy of Always'],
  nonewprivs: [
    '[sig-node] Security Context when creating containers with AllowPrivilegeEscalation should not allow privilege escalation when false',
  ],
}

/** Returns the first of the given images that the test needs. */
export function findNeededImage(test: string, images: readonly string[]): string | undefined {
  return images.find((image) => testsByImage[image]?.some((prefix) => test.startsWith(prefix)))
}
