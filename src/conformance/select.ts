import { HyperkubeError } from '../kit/errors.ts'
import { truncateList } from '../kit/truncate-list.ts'
import { suggestWord } from '../kit/suggest.ts'
import { findNeededImage } from './images.ts'
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
  /** Exact names of the tests to run. If undefined, all tests that match the flags of the suite. */
  readonly only?: readonly string[]
  /** Images that are not available. */
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
    return image === undefined ? [] : [{ name, why: `it needs the image ${image}` }]
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
        ? 'hyperkube conformance --list says their names'
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
